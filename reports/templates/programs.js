// The list of programs, to search and to filter.
const AT_ONCE = 40;
const NOTHING = { text: "", outcome: "", rule: "", origin: "", fault: "", shown: AT_ONCE };
const ANY_CHANGE = "any change";
const filter = { ...NOTHING };
const controls = {};

// What a search looks through, made once: hash, features, descriptors, rules, paths, what was found, faults.
const textOfPlace = (place) => [
  place.rule,
  place.path,
  place.expected,
  place.found,
  faultOf(place).finding,
  faultOf(place).title,
];
const textOfRun = (run) => (run ? [run.outcome, run.detail, ...places(run).flatMap(textOfPlace)] : []);
const searched = data.programs.map((program) =>
  [
    program.hash,
    program.origin,
    program.finding,
    program.change,
    ...program.features.map((number) => data.features[number]),
    ...[...kindsOf(program)].map((number) => data.kinds[number]),
    ...program.runs.flatMap(textOfRun),
  ]
    .filter(Boolean)
    .join("\n")
    .toLowerCase(),
);

function hasOutcome(program) {
  if (filter.outcome === ANY_CHANGE) return program.change;
  return program.change === filter.outcome || program.runs.some((run) => run && run.outcome === filter.outcome);
}

function matches(program, number) {
  const breaks = program.runs.flatMap(places);
  const words = filter.text.toLowerCase().split(/\s+/);
  return (
    words.every((word) => searched[number].includes(word)) &&
    (!filter.outcome || hasOutcome(program)) &&
    (!filter.rule || breaks.some((place) => place.rule === filter.rule)) &&
    (!filter.origin || program.origin === filter.origin) &&
    (filter.fault === "" || breaks.some((place) => place.fault === filter.fault))
  );
}

function tally(found) {
  const fault = filter.fault === "" ? null : data.faults[filter.fault];
  const isFiltered = Object.keys(controls)
    .concat("fault")
    .some((name) => filter[name] !== "");
  return make(
    "span",
    {},
    `${count(found)} of ${many(data.programs.length, "program")}`,
    fault ? [" with the fault ", make("b", {}, cut(fault.finding || fault.title, 90))] : null,
    isFiltered ? [" · ", link("show all", () => showOnly({}))] : null,
  );
}

function drawPrograms() {
  const found = data.programs.filter(matches);
  const rest = found.length - filter.shown;
  part("tally").replaceChildren(tally(found.length));
  part("list").replaceChildren(...found.slice(0, filter.shown).map(programItem));
  const more = button(
    `Show more (${count(rest)} left)`,
    () => {
      filter.shown += 200;
      drawPrograms();
    },
    { class: "more-programs" },
  );
  if (rest > 0) part("list").append(more);
}

// Shows the programs that meet these wishes and no others; goes there.
function showOnly(wishes) {
  Object.assign(filter, NOTHING, wishes);
  for (const [name, control] of Object.entries(controls)) control.value = filter[name];
  drawPrograms();
  part("programs").scrollIntoView();
  part("tally").focus({ preventScroll: true });
}

// By its hash, or by the name of the finding whose program it is.
function openProgram(name) {
  const program = data.programs.find((one) => one.hash === name) || data.programs.find((one) => one.finding === name);
  if (!program) return;
  showOnly({ text: program.hash });
  const item = [...part("list").children].find((one) => one.dataset.finding === program.finding);
  item.open = true;
  item.querySelector("summary").focus({ preventScroll: true });
}

const anyOf = (names) => [["", "any"], ...names.map((name) => [name, name.replaceAll("_", " ")])];

// The outcomes, and what became of programs from the first run to the last.
function outcomesThere() {
  const there = new Set(data.programs.flatMap((program) => program.runs.map((run) => run && run.outcome)));
  const outcomes = Object.keys(data.outcomes).filter((name) => there.has(name));
  const changes = [...new Set(data.programs.map((program) => program.change))].filter((name) => name && !there.has(name));
  return changes.length ? [ANY_CHANGE, ...changes, ...outcomes] : outcomes;
}

function programsSection() {
  const set = (name) => (value) => {
    Object.assign(filter, { [name]: value, shown: AT_ONCE });
    drawPrograms();
  };
  const rules = data.requirements.filter((row) => row.runs.some((run) => run.new || run.known)).map((row) => row.id);
  const search = make("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    placeholder: "hash, op, feature, descriptor, path, message",
    input: () => set("text")(search.value),
  });
  const bar = {
    text: make("label", { class: "grow" }, "Search", search),
    outcome: choice("Outcome", anyOf(outcomesThere()), set("outcome")),
    rule: choice("Breaks", anyOf(rules), set("rule")),
    origin: choice("Origin", anyOf([...new Set(data.programs.map((program) => program.origin))]), set("origin")),
  };
  for (const [name, label] of Object.entries(bar)) controls[name] = label.querySelector("input, select");
  part("programs").append(
    lead("The worst first. Open one for its violations, its script and its joint graphs."),
    make("div", { class: "controls" }, Object.values(bar)),
    make("p", { class: "tally", id: "tally", role: "status", tabindex: "-1" }),
    make("div", { id: "list" }),
  );
  drawPrograms();
}
