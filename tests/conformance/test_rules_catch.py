"""Each rule catches the implementations that are wrong for it, and lets PyTorch pass on the same programs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import conformance.rules  # noqa: F401  (registers the rules)
import tests.wrong
from conformance.case import walk
from conformance.implementation import Implementation
from conformance.named import Stated
from conformance.rule import RULES, VOCABULARY_RULES, Rule
from conformance.signature import Signature, signature_of
from generators.program import Program
from tests.wrong.base import Wrong

MODULES = [importlib.import_module(f"tests.wrong.{module.name}") for module in pkgutil.iter_modules(tests.wrong.__path__)]
WRONG: list[Wrong] = [wrong for module in MODULES for wrong in getattr(module, "WRONG", ())]
ALL_RULES: dict[str, Rule] = {**RULES, **VOCABULARY_RULES}

#: Where PyTorch itself breaks a rule on nearly every program: the places that its signatures name.
BROKEN_EVERYWHERE = {
    "C11": ("serializable:error",),
    "C17": ("second of two:error",),
    "C7": ("no_grad:outputs[#].autograd",),
    "J10": ("cache_hash of a second export",),
    "J14": (
        "partitioner_tag of a node that depends on no tangent, used in backward alone",
        "nn_module_stack asked for, of a forward node in a training graph",
    ),
}

every_wrong = pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.rule}: {wrong.title}")


def subject(program: Program | None, implementation: Implementation, rule: str, stated: Stated | None) -> Any:
    """What the rule looks at: the implementation's classes, or the program walked through it for this rule alone."""
    if program is None:
        return implementation.descriptors
    return walk(program, implementation, thorough=True, only={rule}, stated=stated)


@cache
def right_subject(program: Program | None, right: Callable[[], Implementation], rule: str, stated: Stated | None) -> Any:
    """What the rule must let pass."""
    return subject(program, right(), rule, stated)


def signatures(rule: Rule, looked_at: Any) -> set[Signature]:
    """What the rule says; that it applies is part of what is tested."""
    assert rule.applies(looked_at), f"{rule.id} does not apply"
    return set(map(signature_of, rule.judge(looked_at)))


@every_wrong
def test_rule_catches(wrong: Wrong) -> None:
    rule = ALL_RULES[wrong.rule]
    is_namespace = wrong.implementation is None
    looked_at = wrong.namespace if is_namespace else subject(wrong.program, wrong.implementation(), rule.id, wrong.stated)
    assert signatures(rule, looked_at) - signatures(rule, right_subject(wrong.program, wrong.right, rule.id, wrong.stated))


@every_wrong
def test_rule_lets_pytorch_pass(wrong: Wrong) -> None:
    found = signatures(ALL_RULES[wrong.rule], right_subject(wrong.program, wrong.right, wrong.rule, wrong.stated))
    assert [signature for signature in found if signature.path not in BROKEN_EVERYWHERE.get(wrong.rule, ())] == []


@pytest.mark.parametrize("rule", ALL_RULES)
def test_rule_has_something_to_catch(rule: str) -> None:
    assert rule in {wrong.rule for wrong in WRONG}
