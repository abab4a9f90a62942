"""Each rule catches the implementations that are wrong for it, and lets PyTorch pass on the same programs."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

import conformance.rules  # noqa: F401  (registers the rules)
import tests.wrong
from conformance.case import walk
from conformance.implementation import Implementation
from conformance.pytorch import PyTorch
from conformance.rule import RULES, VOCABULARY_RULES, Rule, Violation
from tests.wrong.base import Wrong

MODULES = [importlib.import_module(f"tests.wrong.{module.name}") for module in pkgutil.iter_modules(tests.wrong.__path__)]
WRONG: list[Wrong] = [wrong for module in MODULES for wrong in getattr(module, "WRONG", ())]
ALL_RULES: dict[str, Rule] = {**RULES, **VOCABULARY_RULES}

every_wrong = pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.rule}: {wrong.title}")


def subject(wrong: Wrong, implementation: Implementation) -> Any:
    """What the rule looks at: the implementation's classes, or the program walked through it."""
    if wrong.program is None:
        return implementation.descriptors
    return walk(wrong.program, implementation, thorough=True)


def violations(rule: Rule, looked_at: Any) -> list[Violation]:
    """What the rule says; that it applies is part of what is tested."""
    assert rule.applies(looked_at), f"{rule.id} does not apply"
    return rule.judge(looked_at)


@every_wrong
def test_rule_catches(wrong: Wrong) -> None:
    looked_at = wrong.namespace if wrong.implementation is None else subject(wrong, wrong.implementation())
    assert violations(ALL_RULES[wrong.rule], looked_at)


@every_wrong
def test_rule_lets_pytorch_pass(wrong: Wrong) -> None:
    assert violations(ALL_RULES[wrong.rule], subject(wrong, PyTorch())) == []


@pytest.mark.parametrize("rule", ALL_RULES)
def test_rule_has_something_to_catch(rule: str) -> None:
    assert rule in {wrong.rule for wrong in WRONG}
