// Draws the sections, and follows links to a program: `#program=` and its hash, or its finding's name.
function follow() {
  const [what, name] = location.hash.slice(1).split("=");
  if (what === "program" && name) openProgram(name);
}

function save() {
  const blob = new Blob([JSON.stringify(data)], { type: "application/json" });
  const anchor = make("a", { download: "joint-conformance-page.json" });
  anchor.href = URL.createObjectURL(blob);
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}

requirementsSection();
faultsSection();
programsSection();
descriptorsSection();
speedSection();
runsSection();
part("save").hidden = false;
part("save").addEventListener("click", save);
addEventListener("hashchange", follow);
follow();
