"""Each rule of chapter E catches the exports that are wrong for it, and lets PyTorch pass on the same programs."""

from __future__ import annotations

from functools import cache

import pytest

import conformance.exported.rules  # noqa: F401  (registers the rules)
from conformance.exported.case import export_walk
from conformance.exported.corruptions import CORRUPTIONS
from conformance.exported.forms import EXPORTED, LOADED
from conformance.pytorch import PyTorch
from conformance.rule import EXPORTED_RULES
from conformance.signature import Signature, signature_of
from generators.dynamic import WAYS
from generators.program import Program
from tests.wrong import exporting
from tests.wrong.dynamic import WRONG_SIZES
from tests.wrong.exporting import SpoiltExport, WrongExport
from tests.wrong.held import WRONG_HELD

WRONG_EXPORTS = (*exporting.WRONG_EXPORTS, *WRONG_SIZES, *WRONG_HELD)
every_wrong = pytest.mark.parametrize("wrong", WRONG_EXPORTS, ids=lambda wrong: f"{wrong.rule}: {wrong.title}")


def signatures(rule: str, program: Program, implementation: PyTorch, form: str, asked: str) -> set[Signature]:
    """What the rule says; that it applies is part of what is tested."""
    way = next((way for way in WAYS if way.name == asked), None)
    case = export_walk(program, implementation, others=(LOADED if form == EXPORTED else form,), way=way)
    assert EXPORTED_RULES[rule].applies(case) or form == EXPORTED, f"{rule} does not apply"
    return set(map(signature_of, EXPORTED_RULES[rule].judge(case)))


@cache
def right_signatures(rule: str, program: Program, form: str, asked: str) -> set[Signature]:
    """What it says of PyTorch's own export."""
    return signatures(rule, program, PyTorch(), form, asked)


@every_wrong
def test_rule_catches(wrong: WrongExport) -> None:
    found = signatures(wrong.rule, wrong.program, SpoiltExport(wrong.form, wrong.spoil), wrong.form, wrong.way)
    assert found - right_signatures(wrong.rule, wrong.program, wrong.form, wrong.way)


@every_wrong
def test_rule_lets_pytorch_pass(wrong: WrongExport) -> None:
    assert right_signatures(wrong.rule, wrong.program, wrong.form, wrong.way) == set()


@pytest.mark.parametrize("rule", EXPORTED_RULES)
def test_rule_has_something_to_catch(rule: str) -> None:
    assert rule in {wrong.rule for wrong in WRONG_EXPORTS} | {corruption.requirement for corruption in CORRUPTIONS}
