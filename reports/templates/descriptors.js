// Which kinds of descriptor the joint graphs had, and which features of programs bring them about.
const COLUMNS = 32;
const kindName = (kind) => make("th", { scope: "row" }, make("span", { class: `kind ${family(kind)}` }, kind));

// By kind, by column: on how many programs' graphs the kind stands and that have the feature.
function countsOf(columns) {
  const place = new Map(columns.map((number, at) => [number, at]));
  const counts = data.kinds.map(() => columns.map(() => 0));
  for (const program of data.programs)
    for (const kind of kindsOf(program))
      for (const number of program.features) if (place.has(number)) counts[kind][place.get(number)]++;
  return counts;
}

function heatCell(times, most, title) {
  const share = times ? Math.round(12 + (88 * Math.log1p(times)) / Math.log1p(most)) : 0;
  const cell = make("td", { class: share > 55 ? "deep" : null, title: `${title}: ${many(times, "program")}` }, times || "");
  cell.style.setProperty("--share", `${share}%`);
  return cell;
}

function heatMap(group) {
  const names = group.numbers.map((number) => data.features[number]);
  const counts = countsOf(group.numbers);
  const most = Math.max(1, ...counts.flat());
  const rows = data.kinds
    .map((kind, number) => [kind, counts[number]])
    .filter(([, cells]) => sum(cells))
    .map(([kind, cells]) =>
      make(
        "tr",
        {},
        kindName(kind),
        cells.map((times, at) => heatCell(times, most, `${kind} with ${names[at]}`)),
      ),
    );
  const heads = names.map((name) => ({ name: make("span", {}, cut(name.slice(group.name.length + 1) || name, 26)) }));
  return [
    table({ label: `descriptor kinds by ${group.name}`, class: "heat" }, ["", ...heads], rows),
    group.all > names.length ? note(`The ${names.length} commonest of ${group.all}.`) : "",
  ];
}

// Features by what stands before their colon, each group with its commonest.
function groupsOfFeatures() {
  const uses = data.features.map(() => 0);
  for (const program of data.programs) for (const number of program.features) uses[number]++;
  const groups = new Map();
  data.features.forEach((name, number) => {
    const group = name.includes(":") ? name.split(":")[0] : "";
    groups.set(group, [...(groups.get(group) || []), number]);
  });
  return [...groups]
    .filter(([name, numbers]) => name && numbers.length > 1)
    .map(([name, numbers]) => ({
      name,
      all: numbers.length,
      numbers: numbers.sort((a, b) => uses[b] - uses[a]).slice(0, COLUMNS),
    }))
    .sort((a, b) => (b.name === "kind") - (a.name === "kind") || b.all - a.all);
}

function kindTable() {
  const cell = (kind) => (run) => {
    const [seen, checked] = run.descriptors[kind] || [0, 0];
    const told = seen ? `${count(seen)} / ${count(checked)}` : run.not_expected[kind] || "not seen";
    return make("td", { class: "number", "data-label": run.label }, told);
  };
  return table(
    { label: "descriptor kinds", class: "stack" },
    ["kind", ...data.runs.map((run) => ({ name: run.label, class: "number" }))],
    data.kinds.map((kind) => make("tr", {}, kindName(kind), data.runs.map(cell(kind)))),
  );
}

function descriptorsSection() {
  const groups = groupsOfFeatures();
  const body = make("div", {});
  const draw = (name) => body.replaceChildren(...groups.filter((group) => group.name === name).flatMap(heatMap));
  const last = data.runs[data.runs.length - 1];
  const unseen = data.kinds.filter((kind) => !data.runs.some((run) => run.descriptors[kind] && run.descriptors[kind][0]));
  const reasons = unseen.map((kind) => `${kind} (${last.not_expected[kind] || "not seen"})`);
  if (groups.length) draw(groups[0].name);
  part("descriptors").append(
    lead(
      "On how many programs' joint graphs each kind stands, by what the programs do. The stronger the colour the more, on a logarithmic scale.",
    ),
    make(
      "div",
      { class: "controls" },
      choice(
        "Features",
        groups.map((group) => [group.name, `${group.name} (${group.all})`]),
        draw,
      ),
    ),
    body,
    legend(),
    unseen.length ? note(`On no graph: ${reasons.join(", ")}.`) : "",
    later({ class: "depth" }, "Each kind: how often seen, and of those how often compared with eager", kindTable),
  );
}
