// What ran, on what, and its own summary.
const settings = (run) => [
  `${run.profile}, seed ${run.seed}`,
  run.selection && `only ${run.selection}`,
  run.shard !== "1/1" && `shard ${run.shard}`,
];
const FACTS = [
  ["torch", (run) => `${run.torch_version} (${run.torch_git.slice(0, 10) || "no git hash"})`],
  ["implementation", (run) => run.implementation],
  ["profile", (run) => settings(run).filter(Boolean).join(", ")],
  ["machine", (run) => `${run.platform}, Python ${run.python}, ${run.devices.join(", ")}`],
  ["started", (run) => `${run.started.slice(0, 19).replace("T", " ")} UTC`],
  ["took", (run) => (run.seconds === null ? "unknown" : `${count(Math.round(run.seconds))} s`)],
  ["exit", (run) => String(run.exit)],
];

function runsSection() {
  const cell = (value) => (run) => make("td", { class: "wide", "data-label": run.label }, value(run));
  part("runs").append(
    table(
      { label: "runs", class: "stack" },
      ["", ...data.runs.map((run) => run.label)],
      FACTS.map(([name, value]) =>
        make("tr", {}, make("th", { scope: "row", class: "count" }, name), data.runs.map(cell(value))),
      ),
    ),
    ...data.runs.map((run) =>
      later({ class: "depth" }, `Summary of ${run.label}`, () => make("pre", { tabindex: "0" }, run.summary)),
    ),
  );
}
