"""Data that the suite replays: stored programs, findings, named cases and their graphs. A thin loader, no more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

HOME = Path(__file__).parent
FINDINGS = HOME / "findings"
#: Findings about types that are passed over the boundary of torch.export, which no program shows.
BOUNDARY = HOME / "boundary"
PROGRAMS = HOME / "programs"
CASES = HOME / "cases"
#: A folder a minor version of torch, in it a file a case.
SNAPSHOTS = HOME / "snapshots"
#: What the gate must show, and how often: written beside the programs when they are stored.
SHOWN = HOME / "shown.json"


def files(folder: Path) -> list[Path]:
    """The JSON files of a folder, by name."""
    return sorted(folder.glob("*.json"))


def cases() -> list[Path]:
    """The files of the named cases, by name. They have Python's syntax; conformance/named.py reads them."""
    return sorted(CASES.glob("*.py"))


def exported_cases() -> list[Path]:
    """Those that go through torch.export, and are judged by chapter E; their names say so."""
    return sorted(CASES.glob("export_*.py"))


def joint_cases() -> list[Path]:
    """Those that are about the joint graph."""
    return sorted(set(cases()).difference(exported_cases()))


def content_hash(paths: Iterable[Path]) -> str:
    """One hash over the names and contents of files, readable or not: 12 hex digits."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
