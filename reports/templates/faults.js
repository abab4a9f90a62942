// The faults by run: findings, and signatures that no finding knows, each with its places and programs.
const FAULTS_AT_ONCE = 15;
const PLACES_AT_ONCE = 20;

const placeRow = (place) =>
  make(
    "tr",
    {},
    make("th", { scope: "row", class: "mono" }, place.rule),
    make("td", { class: "wide" }, place.path),
    expectedAndFound(place),
  );

function faultDetail(number) {
  const found = data.places.filter((place) => place.fault === number);
  const programs = data.programs.filter((program) =>
    program.runs.some((run) => places(run).some((place) => place.fault === number)),
  );
  const rest = found.length - PLACES_AT_ONCE;
  return [
    paragraph(
      "hashes",
      programs.slice(0, 8).map((program) => link(program.hash.slice(0, 12), () => openProgram(program.hash), "id")),
      link(`show ${many(programs.length, "program")}`, () => showOnly({ fault: number })),
    ),
    table(
      { label: "where it is seen", class: "stack" },
      ["rule", "where", "what"],
      found.slice(0, PLACES_AT_ONCE).map(placeRow),
    ),
    rest > 0 ? note(`And ${many(rest, "more place", "more places")}.`) : "",
  ];
}

function faultCell(fault, place, most) {
  const times = fault.runs[place];
  const cell = (...children) => make("td", { class: "number", "data-label": data.runs[place].label }, ...children);
  if (!times) return cell(make("span", { class: "count" }, "–"));
  const rect = make("rect", { class: isKnown(fault) ? "known" : "new", width: (96 * times) / most, height: 4 });
  return cell(
    count(times),
    make("svg", { class: "bar", viewBox: "0 0 96 4", preserveAspectRatio: "none", "aria-hidden": "true" }, rect),
  );
}

function faultRow(number, most) {
  const fault = data.faults[number];
  const title = [
    make("span", {}, cut(fault.title || fault.finding, 150)),
    isKnown(fault) && fault.title ? make("span", { class: "count mono" }, ` ${fault.finding}`) : null,
  ];
  return make(
    "tr",
    {},
    make("td", { class: "known-or-new" }, isKnown(fault) ? toned("warn", "~", "known") : toned("bad", "✕", "new")),
    make(
      "td",
      { class: "wide" },
      later({}, title, () => faultDetail(number)),
    ),
    data.runs.map((_, place) => faultCell(fault, place, most)),
  );
}

// What no finding knows first, then what some runs show and others do not, then what most programs show.
function gravity(fault) {
  const differs = fault.runs.some((times) => times) && fault.runs.some((times) => !times);
  return (isKnown(fault) ? 2 : 0) + (differs ? 0 : 1);
}

function faultTable(howMany) {
  const order = data.faults
    .map((fault, number) => [gravity(fault), -sum(fault.runs), number])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([, , number]) => number);
  const most = Math.max(1, ...data.faults.flatMap((fault) => fault.runs));
  return table(
    { label: "faults", class: "stack" },
    ["", "fault", ...data.runs.map((run) => ({ name: run.label, class: "number" }))],
    order.slice(0, howMany).map((number) => faultRow(number, most)),
  );
}

function faultsSection() {
  const body = make("div", {}, faultTable(FAULTS_AT_ONCE));
  const all = data.faults.length;
  const more = button(
    `Show all ${count(all)}`,
    () => {
      body.replaceChildren(faultTable(all));
      more.remove();
    },
    { class: "more-faults" },
  );
  const fresh = data.faults.filter((fault) => !isKnown(fault)).length;
  const seen = data.runs.map(
    (run, place) => `${count(data.faults.filter((fault) => fault.runs[place]).length)} on ${run.label}`,
  );
  part("faults").append(
    lead(`${many(all - fresh, "finding")} and ${many(fresh, "new signature")}: ${seen.join(", ")}. Counted are programs.`),
    data.runs.length > 2 ? faultCurve() : "",
    body,
    all > FAULTS_AT_ONCE ? more : "",
  );
}
