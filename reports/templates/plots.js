// Small plots, drawn by hand: bars and curves with their numbers beside them.
const PHASE_NAMES = ["draw", "eager", "export", "compile", "compiled", "rules"];
const figure = (title, note, drawing) => make("figure", {}, make("figcaption", {}, title, make("small", {}, note)), drawing);

// Curves over one axis; the last point of each carries its label, so that no legend is needed.
function curves(series, label) {
  const [width, height, left, right, bottom] = [360, 150, 34, 92, 18];
  const most = Math.max(1, ...series.flatMap((one) => one.points.map(([, y]) => y)));
  const last = Math.max(1, ...series.flatMap((one) => one.points.map(([x]) => x)));
  const x = (value) => left + ((width - left - right) * value) / last;
  const y = (value) => 8 + (height - 8 - bottom) * (1 - value / most);
  const drawn = series.map((one) =>
    make("path", {
      class: `curve ${one.style}`,
      d: one.points.map(([a, b], place) => `${place ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join(""),
    }),
  );
  let above = -Infinity;
  const ends = series
    .map((one) => [one, one.points[one.points.length - 1]])
    .sort(([, a], [, b]) => b[1] - a[1])
    .map(([one, [a, b]]) => {
      const at = Math.max(y(b), above + 13);
      above = at;
      return make("text", { class: "strong", x: x(a) + 5, y: at + 4 }, `${one.name} ${count(b)}`);
    });
  return make(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    make("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    make("text", { x: left - 4, y: y(0) + 4, "text-anchor": "end" }, "0"),
    make("text", { x: left - 4, y: y(most) + 4, "text-anchor": "end" }, count(most)),
    make("text", { x: left, y: height - 2 }, "0"),
    make("text", { x: width - right, y: height - 2, "text-anchor": "end" }, count(last)),
    drawn,
    ends,
  );
}

function bars(rows, unit, label) {
  const [width, step, left] = [360, 20, 96];
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  return make(
    "svg",
    { class: "bars", viewBox: `0 0 ${width} ${rows.length * step + 2}`, role: "img", "aria-label": label },
    rows.map((row, place) => {
      const wide = ((width - left - 66) * row.value) / most;
      return [
        make("text", { class: "strong", x: left - 6, y: place * step + 13, "text-anchor": "end" }, cut(row.name, 15)),
        make("rect", {
          class: row.style || "s1",
          x: left,
          y: place * step + 4,
          width: Math.max(wide, row.value ? 1 : 0),
          height: 11,
          "stroke-width": 0,
        }),
        make(
          "text",
          { x: left + wide + 5, y: place * step + 13 },
          `${row.value >= 100 ? count(Math.round(row.value)) : +row.value.toFixed(2)}${unit}`,
        ),
      ];
    }),
  );
}

const STYLES = ["s0 dash", "s1", "s2", "s3", "s4", "s5"];
const styleOf = (place) => (place === data.runs.length - 1 ? "s1" : STYLES[[0, 2, 3, 4, 5][place % 5]]);

// One point a run, with its number above and the run's name below: for a handful of versions.
function overRuns(series, label) {
  const [width, height, left, right, bottom] = [360, 130, 24, 76, 18];
  const most = Math.max(1, ...series.flatMap((one) => one.values));
  const x = (place) => left + ((width - left - right) * place) / Math.max(1, data.runs.length - 1);
  const y = (value) => 18 + (height - 18 - bottom) * (1 - value / most);
  const pathOf = (values) => values.map((value, place) => `${place ? "L" : "M"}${x(place)} ${y(value)}`).join("");
  const drawn = series.map(({ name, style, values }) => [
    make("path", { class: `curve ${style}`, d: pathOf(values) }),
    values.map((value, place) => [
      make("circle", { class: style, cx: x(place), cy: y(value), r: 2.5 }),
      make("text", { class: "strong", x: x(place), y: y(value) - 7, "text-anchor": "middle" }, count(value)),
    ]),
    make("text", { x: x(values.length - 1) + 14, y: y(values[values.length - 1]) + 4 }, name),
  ]);
  const names = data.runs.map((run, place) =>
    make("text", { x: x(place), y: height - 2, "text-anchor": "middle" }, cut(run.label, 12)),
  );
  return make(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    make("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    names,
    drawn,
  );
}

function faultCurve() {
  const seen = (of) => data.runs.map((_, place) => data.faults.filter((fault) => of(fault) && fault.runs[place]).length);
  const series = [
    { name: "findings", style: "s0 dash", values: seen(isKnown) },
    { name: "new", style: "s2", values: seen((fault) => !isKnown(fault)) },
  ];
  const told = "how many different ones some program showed";
  return make("div", { class: "plots" }, figure("Faults over versions", told, overRuns(series, "number of faults by run")));
}

function timeCurves() {
  return data.runs
    .map((run, place) => {
      const times = data.programs
        .map((program) => program.runs[place])
        .filter(Boolean)
        .map((one) => one.seconds)
        .sort((a, b) => a - b);
      const step = Math.max(1, Math.ceil(times.length / 60));
      return {
        name: run.label,
        style: styleOf(place),
        points: times.map((seconds, at) => [at + 1, seconds]).filter((_, at) => at % step === 0 || at === times.length - 1),
      };
    })
    .filter((one) => one.points.length)
    .map((one) => ({ ...one, points: one.points.map(([a, b]) => [a, Math.round(b * 100) / 100]) }));
}

const growth = (at) =>
  data.runs.map((run, place) => ({
    name: run.label,
    style: styleOf(place),
    points: [[0, 0], ...run.growth.map((point) => [point[0], point[at]])],
  }));

function phasesOf(run) {
  const rows = PHASE_NAMES.filter((name) => run.phases[name]).map((name) => ({ name, value: run.phases[name], style: "s1" }));
  return figure(
    `Where the time goes, ${run.label}`,
    "seconds of all programs together",
    bars(rows, " s", `seconds by phase, ${run.label}`),
  );
}

function speedSection() {
  const rate = data.runs.filter((run) => run.seconds).map((run) => ({ name: run.label, value: run.programs / run.seconds }));
  const after = "how many different ones after so many programs";
  part("speed").append(
    make(
      "div",
      { class: "plots" },
      rate.length
        ? figure(
            "Programs a second",
            "of the whole run, all its processes together",
            bars(rate, "", "programs a second by run"),
          )
        : "",
      figure(
        "Seconds a program took",
        "programs from the quickest to the slowest",
        curves(timeCurves(), "seconds a program by rank"),
      ),
      figure("Features shown", after, curves(growth(1), "features shown by number of programs")),
      figure("Descriptor kinds shown", after, curves(growth(2), "descriptor kinds by number of programs")),
      [...new Set([data.runs[0], data.runs[data.runs.length - 1]])].map(phasesOf),
    ),
  );
}
