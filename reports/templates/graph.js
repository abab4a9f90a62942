// Joint graphs as text, with each kind of descriptor in the colour of its family, and two of them side by side.
const FAMILIES = [
  ["primal", "primal", /^(Plain|Param|Buffer)AOTInput$/],
  ["base", "view base", /^(ViewBase|SyntheticBase|IntermediateBase)AOT/],
  ["tangent", "tangent", /^TangentAOTInput$/],
  ["gradient", "gradient", /^GradAOTOutput$/],
  ["output", "plain output", /^PlainAOTOutput$/],
  ["mutation", "mutation", /^(InputMutation|MetadataMutation)AOT/],
  ["subclass", "subclass piece", /^Subclass/],
  ["token", "effect token", /Token/],
  ["other", "other", /./],
];
const family = (kind) => FAMILIES.find(([, , pattern]) => pattern.test(kind))[0];
const KIND = /\b([A-Z]\w*AOT(?:Input|Output))\b/;
const coloured = (text) =>
  text.split(KIND).map((piece, place) => (place % 2 ? make("span", { class: `kind ${family(piece)}` }, piece) : piece));

const legend = () =>
  make(
    "p",
    { class: "legend" },
    FAMILIES.map(([name, text]) => make("span", { class: "kind " + name }, text)),
  );

// A text is kept as stretches of lines that follow one another: the first's number, how many, and so on.
function linesOf(stretches) {
  const lines = [];
  for (let place = 0; place < stretches.length; place += 2)
    lines.push(...data.lines.slice(stretches[place], stretches[place] + stretches[place + 1]));
  return lines;
}

// The lines of program.graphs[place], which may say: the same as that of an earlier run.
function graphOf(program, place) {
  const graph = program.graphs[place];
  return typeof graph === "number" ? graphOf(program, graph) : graph;
}

// Pairs of lines, null where one side has none: a longest common subsequence, or all of one and then all of the other.
function aligned(before, after) {
  if (before.length * after.length > 4e6) return [...before.map((line) => [line, null]), ...after.map((line) => [null, line])];
  const best = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      best[i][j] = before[i] === after[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) pairs.push([before[i++], after[j++]]);
    else if (j >= after.length || (i < before.length && best[i + 1][j] >= best[i][j + 1])) pairs.push([before[i++], null]);
    else pairs.push([null, after[j++]]);
  }
  return pairs;
}

// Lines that went and lines that came, run by run, share a row each: a change reads across.
function paired(pairs) {
  const rows = [];
  let [gone, come] = [[], []];
  const flush = () => {
    for (let place = 0; place < Math.max(gone.length, come.length); place++)
      rows.push([gone[place] ?? null, come[place] ?? null]);
    [gone, come] = [[], []];
  };
  for (const [left, right] of pairs) {
    if (left !== null && right !== null) {
      flush();
      rows.push([left, right, true]);
    } else (left === null ? come : gone).push(left ?? right);
  }
  flush();
  return rows;
}

function side(label, rows, place) {
  const mark = place ? ["come", "+"] : ["gone", "−"];
  return make(
    "figure",
    {},
    make("figcaption", {}, label),
    make(
      "pre",
      { class: "graph", tabindex: "0", "aria-label": `joint graph, ${label}` },
      rows.map((row) => {
        if (row[place] === null) return make("span", { class: "row gap", "data-mark": " " }, "\n");
        const [name, sign] = row[2] ? ["same", " "] : mark;
        return make("span", { class: `row ${name}`, "data-mark": sign }, coloured(row[place]), "\n");
      }),
    ),
  );
}

function oneGraph(label, stretches) {
  const lines = linesOf(stretches).map((line) => [line, line, true]);
  return [make("div", { class: "sides" }, side(label, lines, 0)), legend()];
}

function twoGraphs(program, pair) {
  const rows = paired(aligned(...pair.map((place) => linesOf(graphOf(program, place)))));
  const labels = pair.map((place) => data.runs[place].label);
  const differing = rows.filter((row) => !row[2]).length;
  if (!differing) return oneGraph(`${labels.join(" and ")}: the same`, graphOf(program, pair[0]));
  const sides = labels.map((label, at) => side(label, rows, at));
  return [
    note(`${many(differing, "line differs", "lines differ")}, marked − and +.`),
    make("div", { class: "sides" }, sides),
    legend(),
  ];
}

// The graphs of two runs, or of the one that has any.
function graphs(program, first, second) {
  const kept = [...new Set([first, second])].filter((place) => graphOf(program, place));
  if (!kept.length) return [note("No graph is kept here: nothing was exported, or the page would have grown too large.")];
  if (kept.length === 2) return twoGraphs(program, kept);
  const others = [first, second].filter((place) => place !== kept[0]);
  return [
    ...others.map((place) => note(`No graph of ${data.runs[place].label} is kept here.`)),
    ...oneGraph(data.runs[kept[0]].label, graphOf(program, kept[0])),
  ];
}
