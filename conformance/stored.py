"""The stored snapshots: one folder a minor version of torch under golden/snapshots/, one file a named case.

The header of a file says which patch version wrote it. A graph is compared with its own version's snapshot, and on
a version that has none with the newest older one's: then a change is told, and is no failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

import golden
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
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return sorted(name for name in before.keys() | texts.keys() if before.get(name, "").rstrip() != texts.get(name, "").rstrip())


def why_no_update(environment: Mapping[str, str], workers: object, implementation: str, restricted: bool) -> str:
    """Why this run may not rewrite snapshots, "" where it may: they are written by hand, in one process, of all cases."""
    if environment.get("CI", "").lower() not in ("", "0", "false"):
        return "CI compares snapshots and does not write them"
    if workers:
        return "it takes one process: leave out -n"
    if implementation != "conformance.pytorch:PyTorch":
        return "snapshots are those of PyTorch's own implementation"
    return "it takes all cases: leave out what selects some" if restricted else ""
