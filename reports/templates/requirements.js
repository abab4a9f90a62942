// The requirements by run: how many programs were judged by each, and how many of those broke it.
const SIGNS = [
  ["bad", "✕", "broken, and no finding says so"],
  ["warn", "~", "broken, and findings say so"],
  ["good", "✓", "held"],
  ["none", "·", "never exercised"],
  ["none", "–", "not checked in this run"],
];
const signs = () =>
  make(
    "p",
    { class: "legend" },
    SIGNS.map(([tone, mark, text]) => make("span", { class: tone }, make("span", { class: "mark" }, mark), text)),
  );

function bar(run) {
  const width = 96 / run.judged;
  return make(
    "svg",
    { class: "bar", viewBox: "0 0 96 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { class: "new", x: 0, width: width * run.new, height: 4 }),
    make("rect", { class: "known", x: width * run.new, width: width * run.known, height: 4 }),
  );
}

// What a cell says in words, for those who hear it.
function told(run) {
  if (run.unchecked) return `not checked: ${run.unchecked}`;
  if (!run.judged) return "never exercised";
  return `of ${many(run.judged, "program")}, ${count(run.new)} break it newly, ${count(run.known)} as findings know`;
}

function requirementCell(run, label) {
  const cell = (...children) =>
    make("td", { class: "cell", "data-label": label, title: told(run), "aria-label": told(run) }, ...children);
  if (run.unchecked) return cell(toned("none", "–", ""), make("small", {}, run.unchecked));
  if (!run.judged) return cell(toned("none", "·", ""), make("small", {}, "never exercised"));
  if (!run.new && !run.known) return cell(toned("good", "✓", count(run.judged)));
  const fresh = run.new ? [toned("bad", "✕", count(run.new)), " "] : null;
  const known = run.known ? toned("warn", "~", count(run.known)) : null;
  return cell(fresh, known, make("span", { class: "count" }, ` of ${count(run.judged)}`), bar(run));
}

// In two words at the most: how a requirement fared in a run, so that runs can be told apart by it.
const fared = (run) => (run.unchecked ? "unchecked" : !run.judged ? "never" : run.new ? "new" : run.known ? "known" : "held");
const sentence = (text) => text.split("`").map((piece, place) => (place % 2 ? make("code", {}, piece) : piece));

// What a reader asks of the requirements, from the narrowest to the widest.
const QUESTIONS = [
  ["New or changed", (row) => row.runs.some((run) => run.new) || new Set(row.runs.map(fared)).size > 1],
  ["Broken", (row) => row.runs.some((run) => run.new || run.known)],
  ["All", () => true],
];

function requirementRow(requirement) {
  const broken = requirement.runs.some((run) => run.new || run.known);
  const id = broken
    ? link(requirement.id, () => showOnly({ rule: requirement.id }), "id")
    : make("span", { class: "mono" }, requirement.id);
  const consumers = requirement.consumers.length
    ? make("span", { class: "count" }, ` Relied on by ${requirement.consumers.join(", ")}.`)
    : null;
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, id),
    make("td", { class: "wide" }, sentence(requirement.sentence), consumers),
    requirement.runs.map((run, place) => requirementCell(run, data.runs[place].label)),
  );
}

const requirementTable = (rows) =>
  table(
    { label: "requirements", class: "stack" },
    ["id", "requirement", ...data.runs.map((run) => run.label)],
    rows.map(requirementRow),
  );

// What the specification of the export IR promises, and whether each run keeps it.
const TONES = { holds: ["good", "✓"], deviates: ["warn", "≠"], "not judged": ["none", "·"], "not testable": ["none", "–"] };

function promiseCell(run, label) {
  const [tone, mark] = TONES[run.word];
  return make("td", { class: "cell", "data-label": label, title: run.findings.join(", ") }, toned(tone, mark, run.told));
}

function promisesTable() {
  if (!data.promises.length) return null;
  const rows = data.promises.map((promise) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, promise.name),
      make("td", { class: "wide" }, `${promise.documented} `, make("span", { class: "mono" }, promise.requirement)),
      promise.runs.map((run, place) => promiseCell(run, data.runs[place].label)),
    ),
  );
  const columns = ["promise", "documented", ...data.runs.map((run) => run.label)];
  const kept = data.promises.filter((promise) => promise.runs.every((run) => run.word === "holds"));
  return make(
    "details",
    {},
    make("summary", {}, `Promises of the export IR: ${count(kept.length)} of ${count(rows.length)} hold`),
    table({ label: "promises of the export IR", class: "stack" }, columns, rows),
  );
}

function requirementsSection() {
  const body = make("div", {});
  const asked = QUESTIONS.map(([name, of]) => [name, data.requirements.filter(of)]);
  const buttons = asked.map(([name, rows]) => button(`${name} (${count(rows.length)})`, () => draw(name)));
  const draw = (wanted) =>
    asked.forEach(([name, rows], place) => {
      buttons[place].setAttribute("aria-pressed", String(name === wanted));
      if (name === wanted) body.replaceChildren(requirementTable(rows));
    });
  draw((asked.find(([, rows]) => rows.length) || ["All"])[0]);
  const held = data.requirements.filter((row) => row.runs.every((run) => fared(run) === "held"));
  const all = many(data.requirements.length, "requirement");
  part("requirements").append(
    lead(`${count(held.length)} of ${all} held on every program that exercised them. Counted are programs.`),
    signs(),
    make("div", { class: "controls", role: "group", "aria-label": "which requirements" }, buttons),
    body,
    promisesTable() ?? "",
  );
}
