"""Failures whose cause is known, each found by reducing its program, and how well they are grouped.

``labelled.json`` holds, for each cause, one line that says what it is, and for each program the signatures that it shows
where no finding is known, with the cause of those that were reduced. A failure is one signature of one program.
``python -m tests.conformance.campaign.labelled`` judges the programs again and writes down the signatures that they show.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.campaign.groups import Failure, group_key
from conformance.judge import Judged
from conformance.sandbox import Job, Sandbox
from conformance.signature import Signature
from conformance.telling import DEFAULT
from generators.codec import from_json
from generators.features import features
from generators.program import Program
from reports.record import Outcome, Row, ViolationRow

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Labelled:
    """A failure and the name of its cause."""

    failure: Failure
    cause: str


@dataclass(frozen=True)
class Scores:
    """Of all failures: the part whose group is mostly of their cause, and the part in the largest group of their cause."""

    purity: float
    completeness: float


def scores(failures: Iterable[Labelled]) -> Scores:
    """How well ``group_key`` puts one cause into one group."""
    pairs = Counter((group_key(labelled.failure), labelled.cause) for labelled in failures)
    groups, causes = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for (group, cause), number in pairs.items():
        groups[group].append(number)
        causes[cause].append(number)
    return Scores(_largest(groups.values()) / pairs.total(), _largest(causes.values()) / pairs.total())


def _largest(parts: Iterable[list[int]]) -> int:
    return sum(map(max, parts))


def read() -> dict[str, Any]:
    """What the file holds."""
    return dict(json.loads(FILE.read_text()))


def labelled() -> Iterator[Labelled]:
    """Every failure whose cause is known, in the order of the file."""
    for entry in read()["programs"]:
        program = from_json(entry["program"])
        rows = tuple(_violation(shown, program) for shown in entry["shows"])
        row = Row(program.name, "drawn", "", 0, tuple(sorted(features(program))), Outcome.FAIL, (), rows, {})
        for shown, violation in zip(entry["shows"], rows, strict=True):
            if shown["cause"]:
                yield Labelled(Failure(program, row, violation), shown["cause"])


def _violation(shown: dict[str, Any], program: Program) -> ViolationRow:
    signature = str(Signature(**shown["signature"]))
    told = shown["signature"]
    return ViolationRow(told["rule"], shown["at"], told["expected"], told["found"], signature, None, program.name, "")


def _shown(item: Judged, causes: dict[str, str]) -> dict[str, Any]:
    return {"at": item.violation.path, "signature": vars(item.signature), "cause": causes.get(str(item.signature), "")}


def _judged_again(entry: dict[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    causes = {str(Signature(**shown["signature"])): shown["cause"] for shown in entry["shows"]}
    judged = sandbox.judge(from_json(entry["program"])).judged
    first = {str(item.signature): item for item in reversed(judged)}
    return {**entry, "shows": [_shown(item, causes) for item in reversed(first.values())]}


def write(data: dict[str, Any]) -> None:
    """Write the file, a program a line."""
    causes = json.dumps(data["causes"], indent=1)
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in data["programs"])
    FILE.write_text(f'{{"causes": {causes},\n"programs": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    data = read()
    with Sandbox(Job(DEFAULT)) as sandbox:
        write({**data, "programs": [_judged_again(entry, sandbox) for entry in data["programs"]]})
