"""The stored snapshots: one folder a minor version of torch under golden/snapshots/, one file a named case.

The header of a file says which patch version wrote it. A graph is compared with its own version's snapshot, and on
a version that has none with the newest older one's: then a change is told, and is no failure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

import golden
from conformance.telling import DEFAULT
from reports.graph_changes import Change, classify

_TORCH = re.compile(r"^# torch (\d+\.\d+)(\S*)$", re.MULTILINE)


@dataclass(frozen=True)
class Baseline:
    """The snapshots that a run compares with: a folder, and whether they are of the very minor version that runs."""

    folder: Path
    is_own: bool

    @property
    def version(self) -> str:
        """The minor version whose snapshots these are."""
        return self.folder.name

    def text(self, case: str) -> str:
        """The case's snapshot, "" where there is none."""
        path = self.folder / f"{case}.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def compare(self, case: str, text: str) -> tuple[Change, bool]:
        """What became of the case's graph, and whether that is a failure.

        It is one where the very version of torch that runs wrote another graph, or none.
        """
        stored = self.text(case)
        if not stored:
            return Change("contract", (f"no snapshot of it for {self.version}: --update-snapshots writes one",)), self.is_own
        change = classify(stored, text)
        is_same_patch = _written_by(stored) == _written_by(text)
        return change, change.kind in ("graph", "contract") and self.is_own and is_same_patch


def minor(version: str) -> str:
    """``2.13`` of ``2.13.0+cpu``."""
    return ".".join(version.split(".")[:2])


def known_versions(home: Path = golden.SNAPSHOTS) -> list[str]:
    """The minor versions that have snapshots, oldest first."""
    return sorted((folder.name for folder in home.iterdir() if folder.is_dir()), key=Version) if home.exists() else []


def baseline(version: str, home: Path = golden.SNAPSHOTS) -> Baseline | None:
    """What a run on that torch compares with; None where every snapshot is of a newer one."""
    own = minor(version)
    older = [known for known in known_versions(home) if Version(known) <= Version(own)]
    return Baseline(home / older[-1], older[-1] == own) if older else None


def damages(folder: Path, cases: set[str]) -> Iterator[str]:
    """What is wrong with the snapshots of one version: orphans, missing ones, headers that can't be read or lie."""
    there = {path.stem: path for path in folder.glob("*")}
    yield from (f"{folder.name}/{name}: no case of that name" for name in sorted(there.keys() - cases))
    yield from (f"{folder.name}/{name}: missing" for name in sorted(cases - there.keys()))
    for name in sorted(there.keys() & cases):
        text = there[name].read_text(encoding="utf-8", errors="replace")
        if not text.startswith(f"# case {name}\n") or minor(_written_by(text)) != folder.name:
            yield f"{folder.name}/{name}: the header does not say what it is of"


def _written_by(text: str) -> str:
    match = _TORCH.search(text)
    return match[1] + match[2] if match else ""


def write(texts: Mapping[str, str], version: str, home: Path = golden.SNAPSHOTS) -> list[str]:
    """Make these texts, by case, the snapshots of that version, and no others. Gives back the cases that changed."""
    folder = home / minor(version)
    folder.mkdir(parents=True, exist_ok=True)
    before = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.txt")}
    for name in before.keys() - texts.keys():
        (folder / f"{name}.txt").unlink()
    after = {name: text.rstrip("\n") + "\n" for name, text in texts.items()}
    for name, text in after.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


@dataclass
class Snapshots:
    """What a run does with the graphs of named cases: it compares them, or, ``updating``, keeps them to be written.

    It ``compares`` PyTorch's own graphs only.
    """

    torch_version: str
    updating: bool
    compares: bool
    home: Path = golden.SNAPSHOTS
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def baseline(self) -> Baseline | None:
        """What is compared with."""
        return baseline(self.torch_version, self.home) if self.compares else None

    def look_at(self, case: str, text: str) -> tuple[Change, bool] | None:
        """The change of the case's graph and whether that is a failure; None where nothing is compared."""
        if self.updating:
            self.texts[case] = text
        before = None if self.updating else self.baseline
        return before.compare(case, text) if before else None


def told(snapshots: Snapshots, properties: Iterable[Mapping[str, str]]) -> list[str]:
    """What the terminal says at the end: what was written, or how many graphs changed and how."""
    if snapshots.updating:
        changed = write(snapshots.texts, snapshots.torch_version, snapshots.home)
        names = f": {', '.join(changed)}" if changed else ""
        return [f"{len(changed)} of {len(snapshots.texts)} written anew for {minor(snapshots.torch_version)}{names}", _ADVICE]
    seen = [told for told in properties if "snapshot" in told]
    if not seen or snapshots.baseline is None:
        return []
    kinds = Counter(told["snapshot"] for told in seen)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lines = [f"torch {snapshots.torch_version}, compared with {snapshots.baseline.version}: {counts}"]
    if not snapshots.baseline.is_own:
        lines[0] = f"new version, compared with the newest older one: {lines[0]}"
    return lines + [f"{told['snapshot']}: {told['case']}: {told['change']}" for told in seen if told["snapshot"] in TELLING]


#: The kinds of change that are told one by one.
TELLING = ("graph", "contract")
_ADVICE = "look at the difference, commit it, and run again without --update-snapshots: this run says nothing else"


def why_no_update(environment: Mapping[str, str], workers: object, implementation: str, restricted: bool) -> str:
    """Why this run may not rewrite snapshots, "" where it may: they are written by hand, in one process, of all cases."""
    if environment.get("CI", "").lower() not in ("", "0", "false"):
        return "CI compares snapshots and does not write them"
    if workers:
        return "it takes one process: leave out -n"
    if implementation != DEFAULT:
        return "snapshots are those of PyTorch's own implementation"
    return "it takes all cases: leave out what selects some" if restricted else ""
