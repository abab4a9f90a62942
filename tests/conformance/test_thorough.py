"""A thorough walk exports again and takes routes; for some rules alone, no more than these read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance import reporting
from conformance.case import Case, walk
from conformance.judge import Verdict
from conformance.pytorch import PyTorch
from conformance.requirements import REQUIREMENTS
from conformance.sandbox import Job, Sandbox
from conformance.thorough import PARTS
from generators.program import Program
from reports.record import Outcome
from tests.programs import INFERENCE, ONE_OUTPUT


def taken(case: Case) -> set[str]:
    """What there is beside the first export and what its callable showed."""
    return {name for name in ("second", "other", "optioned", "captured", "routes") if getattr(case, name)}


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        ("C2", set()),
        ("C15", {"routes"}),
        ("J10", {"second", "other"}),
        ("J18", {"optioned"}),
        ("U6", set()),
    ],
)
def test_a_walk_for_one_rule_takes_what_it_reads(rule: str, parts: set[str]) -> None:
    assert taken(walk(INFERENCE, PyTorch(), thorough=True, only=(rule,))) == parts


def test_a_thorough_walk_takes_everything() -> None:
    assert {"second", "other", "optioned", "routes"} <= taken(walk(INFERENCE, PyTorch(), thorough=True))


def test_each_part_is_of_requirements() -> None:
    assert {rule for part in PARTS for rule in part.rules} <= set(REQUIREMENTS)


class Remembers(Sandbox):
    """Finds nothing, and knows which rules it was asked for."""

    def __init__(self) -> None:
        super().__init__(Job("never loaded"))
        self.asked: set[tuple[str, ...]] = set()

    def judge(self, program: Program, *_: Any, only: Any = (), **__: Any) -> Verdict:
        """Nothing is wrong with the program."""
        self.asked.add(only)
        return Verdict(program, Outcome.PASS, frozenset())


def test_shrinking_asks_for_the_one_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reporting, "KEPT", tmp_path)
    sandbox = Remembers()
    reporting.shrunk(ONE_OUTPUT, "J17 a node", sandbox)
    assert sandbox.asked == {("J17",)}
