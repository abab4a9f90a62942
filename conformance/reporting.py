"""How a test of the suite fails: what is new is shrunk, kept as a file, and told in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from conformance.findings import FindingError
from conformance.judge import Judged, Verdict
from conformance.named import CaseError
from conformance.recording import Recorder
from conformance.sandbox import Sandbox
from conformance.telling import outcome_text, replay_command, violation_text
from generators.codec import ProgramError, dump
from generators.program import Program
from generators.reduce import reduce
from reports.record import Origin, Outcome

#: Where records and the like go, under the directory that the suite is run in.
RUNS = Path("runs")
#: Programs of new failures are kept here, for ``replay``.
KEPT = RUNS / "programs"
#: How many verdicts shrinking one failure may cost.
BUDGET = 150
T = TypeVar("T")
_BAD = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR})


class HowToTell(Protocol):
    """What of a run decides how its failures are told: how many a test shrinks, and of which implementation they are."""

    shrinks: int
    implementation: str


@dataclass
class AsItIs:
    """How failures are told where the program was written by hand: it is small, and is what the test is about."""

    implementation: str
    shrinks: int = 0


def read_or_fail(read: Callable[[Path], T], path: Path, recorder: Recorder, origin: Origin) -> T:
    """What ``read`` makes of the file; one that can't be read is written down, and fails its test in one line."""
    try:
        return read(path)
    except (ProgramError, FindingError, CaseError) as error:
        damage = error
    recorder.add_unreadable(damage, origin, path.stem)
    pytest.fail(str(damage), pytrace=False)


def fail_on_new(verdicts: Sequence[Verdict], sandbox: Sandbox, run: HowToTell, record_property: Callable[..., Any]) -> None:
    """Fail the test if a verdict holds a violation that no finding knows, a crash, a timeout or an error."""
    tell_ci(verdicts, run.implementation, record_property)
    told: list[str] = []
    for signature, (verdict, item) in _first_of_each(verdicts).items():
        smaller = verdict.program if len(told) >= run.shrinks else shrunk(verdict.program, signature, sandbox)
        told.append(_told(smaller, signature, item, sandbox))
    for verdict in verdicts:
        if verdict.new or verdict.outcome in _BAD:
            keep(verdict.program)
        if verdict.outcome in _BAD:
            told.append(outcome_text(verdict))
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)


def tell_ci(verdicts: Sequence[Verdict], implementation: str, record_property: Callable[..., Any]) -> None:
    """Give the test its properties in JUnit's XML: what was judged, what it breaks, how to judge it again.

    Of a test that judges one program they are that program's; of a shard, those of the programs that are red.
    """
    record_property("implementation", implementation)
    for verdict in verdicts:
        if len(verdicts) == 1 or verdict.new or verdict.outcome in _BAD:
            record_property("program", verdict.program.name)
            record_property("replay", replay_command(verdict.program.name, implementation))
    for requirement in dict.fromkeys(item.violation.rule for verdict in verdicts for item in verdict.new):
        record_property("requirement", requirement)


def _first_of_each(verdicts: Sequence[Verdict]) -> dict[str, tuple[Verdict, Judged]]:
    """The smallest program for each new signature."""
    found: dict[str, tuple[Verdict, Judged]] = {}
    for verdict in sorted(verdicts, key=lambda v: len(v.program.body)):
        for item in verdict.new:
            found.setdefault(str(item.signature), (verdict, item))
    return found


def shrunk(program: Program, signature: str, sandbox: Sandbox) -> Program:
    """The smallest program found that still has a new violation of this signature, kept as a file."""
    rule = _rule_of(signature)
    smaller = reduce(program, lambda p: _has(sandbox.judge(p, thorough=True, only=rule), signature), budget=BUDGET)
    keep(smaller)
    return smaller


def _rule_of(signature: str) -> tuple[str, ...]:
    """The only rule that has to judge a program for it to show this signature."""
    return (signature.partition(" ")[0],)


def _has(verdict: Verdict, signature: str) -> bool:
    return any(str(item.signature) == signature for item in verdict.new)


def _told(program: Program, signature: str, item: Judged, sandbox: Sandbox) -> str:
    """The violation as the shrunk program shows it."""
    keep(program)
    verdict = sandbox.judge(program, thorough=True, only=_rule_of(signature))
    again = [new for new in verdict.new if str(new.signature) == signature]
    return violation_text(again[0] if again else item, program, sandbox.job.device)


def keep(program: Program) -> None:
    """Write the program where ``replay`` finds it by its hash."""
    KEPT.mkdir(parents=True, exist_ok=True)
    dump(program, KEPT / f"{program.name}.json")
