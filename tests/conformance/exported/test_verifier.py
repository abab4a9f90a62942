"""Each corruption of a good export is caught by the rule of the requirement that it breaks, and the good export by none."""

from __future__ import annotations

import pytest

from conformance.exported.case import export_walk
from conformance.exported.corruptions import CORRUPTIONS, Corruption
from conformance.exported.verifier import as_table, caught, share
from conformance.pytorch import PyTorch
from conformance.rule import EXPORTED_RULES
from generators.program import Program

every_corruption = pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda c: f"{c.requirement}: {c.title}")
FORMS = sorted({(corruption.program, corruption.form) for corruption in CORRUPTIONS}, key=lambda pair: (pair[0].name, pair[1]))


@every_corruption
def test_its_rule_catches_a_corruption(corruption: Corruption) -> None:
    assert corruption.requirement in caught(corruption).rules


@pytest.mark.parametrize(("program", "form"), FORMS, ids=lambda value: value if isinstance(value, str) else value.name)
def test_no_rule_complains_of_the_good_export(program: Program, form: str) -> None:
    case = export_walk(program, PyTorch(), others=(form,))
    assert [v for rule in EXPORTED_RULES.values() if rule.applies(case) for v in rule.judge(case)] == []


def test_at_least_40_corruptions_differ() -> None:
    assert len({(c.requirement, c.title) for c in CORRUPTIONS}) == len(CORRUPTIONS) >= 40


def test_the_shares_are_at_the_foot() -> None:
    rows = [caught(CORRUPTIONS[0]), caught(next(c for c in CORRUPTIONS if c.title == "no val"))]
    assert [column.footer for column in as_table(rows).columns][2:] == [share(rows, "rules"), share(rows, "verifier")]


def test_the_verifier_says_with_which_error() -> None:
    assert caught(next(c for c in CORRUPTIONS if c.title == "no val")).verifier == "SpecViolationError"
