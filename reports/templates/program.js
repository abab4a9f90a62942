// One program: a line in the list, and all that is known of it once it is opened.
const VIOLATIONS_AT_ONCE = 6;
const faultOf = (place) => data.faults[place.fault];

// Its outcome in each run, told once where it stays.
function became(program) {
  const names = program.runs.map((run) => (run ? run.outcome : ""));
  const steps = names.filter((name, place) => place === 0 || name !== names[place - 1]);
  return make(
    "span",
    { class: "became" },
    steps.map((name, place) => [place ? " → " : "", name ? outcome(name) : make("span", { class: "count" }, "absent")]),
  );
}

// Its first violation; of what gave none, the message, or the ops.
function brief(program) {
  const [first] = violationsOf(program);
  if (first !== undefined) return `${data.places[first].rule} ${data.places[first].path}`;
  const ops = program.features.map((number) => data.features[number]).filter((name) => name.startsWith("op:"));
  return program.runs.map((run) => run && run.detail).find(Boolean) || ops.map((name) => name.slice(3)).join(", ");
}

function programItem(program) {
  const change = program.change ? make("span", { class: "count" }, ` ${program.change}`) : null;
  const item = make(
    "details",
    { class: "program", "data-hash": program.hash, "data-finding": program.finding },
    make(
      "summary",
      {},
      make("span", { class: "mono" }, program.hash.slice(0, 12)),
      make("span", {}, became(program), change),
      make("span", { class: "brief" }, cut(brief(program), 160)),
    ),
  );
  item.addEventListener("toggle", () => item.open && item.childElementCount === 1 && item.append(inside(program)));
  return item;
}

function inside(program) {
  const script = () => code(linesOf(program.source).join("\n"));
  return make(
    "div",
    { class: "inside" },
    factsOf(program),
    violationsPart(program),
    make("h4", {}, data.runs.length > 1 ? "Joint graphs" : "Joint graph"),
    graphChange(program),
    graphPart(program),
    program.source
      ? later({ class: "depth" }, "The program as a script", script)
      : note("Its script is left out, to keep the page small: the replay prints it with --source."),
    make("h4", {}, "Features"),
    make(
      "ul",
      { class: "tags" },
      program.features.map((number) => make("li", {}, data.features[number])),
    ),
  );
}

function factsOf(program) {
  const judged = (run) =>
    run.checked === undefined ? "no requirement" : many(data.checked[run.checked].length, "requirement");
  const label = (place) => data.runs[place].label;
  const timing = program.runs.map((run, place) => run && `${label(place)}: ${judged(run)} judged it, ${run.seconds} s`);
  const command = `${data.runs[data.runs.length - 1].replay} ${program.finding || program.hash}`;
  return [
    note(`${program.origin} program${program.finding ? ` of ${program.finding}` : ""}. ${timing.filter(Boolean).join("; ")}.`),
    note("Run it again: ", make("code", {}, command)),
    program.runs.map((run, place) => run && run.detail && paragraph("pair", make("b", {}, label(place)), run.detail)),
  ];
}

const violationsIn = (program) => program.runs.map((run) => new Set((run && run.violations) || []));

// What the last run has and the first has not comes first, what went comes last; within, what no finding knows.
function violationsOf(program) {
  const runs = violationsIn(program);
  const [first, last] = [runs[0], runs[runs.length - 1]];
  const order = (number) => (!last.has(number) ? 2 : first.has(number) && runs.length > 1 ? 1 : 0);
  const known = (number) => isKnown(faultOf(data.places[number]));
  return [...new Set(runs.flatMap((run) => [...run]))].sort((a, b) => order(a) - order(b) || known(a) - known(b));
}

function violationRows(program) {
  const runs = violationsIn(program);
  return violationsOf(program).map((number) =>
    violationRow(
      data.places[number],
      data.runs.filter((_, place) => runs[place].has(number)),
    ),
  );
}

const expectedAndFound = (place) =>
  make(
    "td",
    { class: "wide" },
    make("span", { class: "pair" }, make("b", {}, "expected"), place.expected, "\n", make("b", {}, "found"), place.found),
  );

function violationRow(place, runs) {
  const fault = faultOf(place);
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: "mono" }, place.rule),
    make("td", { class: "wide" }, place.path),
    expectedAndFound(place),
    make(
      "td",
      {},
      isKnown(fault) ? toned("warn", "~", "known") : toned("bad", "✕", "new"),
      " ",
      link(fault.finding || "where else", () => showOnly({ fault: place.fault })),
    ),
    data.runs.length > 1 ? make("td", { "data-label": "in" }, runs.map((run) => run.label).join(", ")) : null,
  );
}

function violationsPart(program) {
  const rows = violationRows(program);
  const columns = ["rule", "where", "what", "fault", ...(data.runs.length > 1 ? ["in"] : [])];
  const shown = (some) => table({ label: "violations", class: "stack" }, columns, some);
  const rest = rows.slice(VIOLATIONS_AT_ONCE);
  if (!rows.length) return null;
  return [
    make("h4", {}, "Violations"),
    shown(rows.slice(0, VIOLATIONS_AT_ONCE)),
    rest.length ? later({ class: "more" }, `${rest.length} more`, () => shown(rest)) : null,
  ];
}

function code(text) {
  const said = (words) => () => {
    copy.textContent = words;
  };
  const copy = button("Copy", () => navigator.clipboard.writeText(text).then(said("Copied"), said("Select it by hand")));
  return [make("pre", { tabindex: "0", class: "source" }, text), navigator.clipboard ? copy : ""];
}

const CLASSES = {
  contract: "what a caller relies on changed",
  graph: "its ops changed, the contract did not",
  cosmetic: "only names or the order of independent nodes changed",
};

// Of a comparison: the class of what became of the graph, and the lines that say so.
function graphChange(program) {
  const change = program.graph_change;
  if (!change) return null;
  const row = (line) => make("span", { class: `row ${{ "-": "gone", "+": "come" }[line[0]] || ""}` }, coloured(line), "\n");
  return [
    note(`From ${data.runs[0].label} to ${data.runs[data.runs.length - 1].label}: ${CLASSES[change.kind] || change.kind}.`),
    change.kind === "cosmetic" ? null : make("pre", { class: "graph short", tabindex: "0" }, change.lines.map(row)),
  ];
}

// Of more than two runs, any two can be chosen.
function graphPart(program) {
  const kept = data.runs.map((_, place) => place).filter((place) => graphOf(program, place));
  const pair = [kept[0] ?? 0, kept[kept.length - 1] ?? 0];
  const drawn = make("div", {}, graphs(program, ...pair));
  if (data.runs.length < 3 || kept.length < 2) return drawn;
  const options = kept.map((place) => [place, data.runs[place].label]);
  const chooser = (label, at) =>
    choice(label, options, (value) => {
      pair[at] = Number(value);
      drawn.replaceChildren(...graphs(program, ...pair).flat());
    });
  const second = chooser("with", 1);
  second.querySelector("select").value = pair[1];
  return [make("div", { class: "controls" }, chooser("Compare", 0), second), drawn];
}
