"""The rule over types at the boundary catches the exporters that are wrong for it, and lets PyTorch pass on the same types."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import golden
from conformance.exported.pytrees import TYPES, passed
from conformance.findings import Finding, load_finding
from conformance.pytorch import PyTorch
from conformance.recording import Recorder
from conformance.rule import PYTREE_RULES, Violation
from reports.record import Outcome, Row, read_rows
from tests.wrong.pytrees import WRONG_BOUNDARIES, WrongBoundary

FINDINGS = [load_finding(path) for path in golden.files(golden.BOUNDARY)]
every_wrong = pytest.mark.parametrize("wrong", WRONG_BOUNDARIES, ids=lambda wrong: wrong.title)
every_finding = pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.slug)


@cache
def judged(name: str) -> list[Violation]:
    """What the rule says of PyTorch's own export."""
    return PYTREE_RULES["E9"].judge(passed(TYPES[name], PyTorch()))


@every_wrong
def test_the_rule_catches(wrong: WrongBoundary) -> None:
    assert PYTREE_RULES["E9"].judge(passed(TYPES[wrong.type], wrong))


@every_wrong
def test_the_rule_lets_pytorch_pass(wrong: WrongBoundary) -> None:
    assert judged(wrong.type) == []


@every_finding
def test_a_finding_is_about_types_of_the_table(finding: Finding) -> None:
    assert finding.types and set(finding.types) <= TYPES.keys()


@every_finding
def test_a_finding_swallows_no_whole_requirement(finding: Finding) -> None:
    assert [p for p in finding.patterns if p.rule != "E9" or p.path == ".*"] == []


def recorded(findings: list[Finding], folder: Path) -> Row:
    """The row of a type that fails, as it is read back from the journal."""
    Recorder(folder / "main.jsonl").add_without_program("leaf complex", ("E9",), judged("complex"), findings=findings)
    (row,), _ = read_rows(folder / "main.jsonl")
    return row


@pytest.mark.parametrize(("findings", "outcome"), [(FINDINGS, Outcome.KNOWN), ([], Outcome.FAIL)])
def test_a_type_that_fails_is_known_where_a_finding_knows_it(findings: list[Finding], outcome: Outcome, tmp_path: Path) -> None:
    assert recorded(findings, tmp_path).outcome is outcome


def test_a_finding_about_types_that_is_out_of_date_is_recorded(tmp_path: Path) -> None:
    Recorder(tmp_path / "main.jsonl").add_out_of_date(FINDINGS[0])
    (row,), _ = read_rows(tmp_path / "main.jsonl")
    assert (row.outcome, row.finding) == (Outcome.OUT_OF_DATE, FINDINGS[0].slug)
