"""A functional export that differs from the joint export of the same module is told, clause by clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.exported import spoiling
from conformance.exported.case import Exported, export_walk
from conformance.exported.corruptions import STATEFUL, TWO_CALLS, WRITTEN_INPUT, Corruption, corrupted_case
from conformance.exported.forms import DECOMPOSED, EXPORTED
from conformance.exported.rules.agreement import agreement_complaints
from conformance.pytorch import PyTorch
from conformance.rule import EXPORTED_RULES
from generators.program import Program
from tests import programs

#: What is done to the functional export, its program, and what then differs from the joint.
DIFFERENT: tuple[tuple[str, spoiling.Spoil, Program], ...] = (
    ("parameters", spoiling.drop_input(0), STATEFUL),
    ("buffers", spoiling.swap_targets(1, 2), STATEFUL),
    ("buffers", spoiling.of_input(1, target="other"), STATEFUL),
    ("BUFFER_MUTATION", spoiling.write_is_no_output, STATEFUL),
    ("BUFFER_MUTATION", spoiling.of_output(0, target="scale"), STATEFUL),
    ("USER_INPUT_MUTATION", spoiling.write_is_no_output, WRITTEN_INPUT),
    ("outputs", spoiling.drop_result, TWO_CALLS),
    ("outputs", spoiling.extra_result_with_row, TWO_CALLS),
)


def told(case: Exported) -> set[str]:
    return {path for path, _, _ in agreement_complaints(case)}


@pytest.mark.parametrize(("what", "spoil", "program"), DIFFERENT)
def test_an_export_that_differs_is_told(what: str, spoil: spoiling.Spoil, program: Program) -> None:
    case = corrupted_case(Corruption("E3", what, spoil, program, DECOMPOSED))
    assert f"{DECOMPOSED}:{what} beside the joint" in told(case)


def lose_parameter(joint: Any) -> None:
    joint.params_spec.pop()


def swap_buffers(joint: Any) -> None:
    joint.buffers_spec.reverse()


@pytest.mark.parametrize(("what", "spoil"), [("parameters", lose_parameter), ("buffers", swap_buffers)])
def test_a_joint_that_differs_is_told(what: str, spoil: Callable[[Any], None]) -> None:
    case = export_walk(STATEFUL, PyTorch(), others=(DECOMPOSED,))
    assert case.joint is not None
    specs = {"params_spec": list(case.joint.params_spec), "buffers_spec": list(case.joint.buffers_spec)}
    joint: Any = SimpleNamespace(graph_module=case.joint.graph_module, **specs)
    spoil(joint)
    assert told(replace(case, joint=joint)) == {f"{DECOMPOSED}:{what} beside the joint"}


@pytest.mark.parametrize("program", [STATEFUL, WRITTEN_INPUT, TWO_CALLS, programs.TIED_PARAMETERS])
def test_pytorch_agrees_with_itself(program: Program) -> None:
    assert told(export_walk(program, PyTorch(), others=(DECOMPOSED,))) == set()


def test_the_rule_of_the_signature_tells_it() -> None:
    case = corrupted_case(Corruption("E3", "one output less", spoiling.drop_result, TWO_CALLS, DECOMPOSED))
    assert f"{DECOMPOSED}:outputs beside the joint" in {v.path for v in EXPORTED_RULES["E3"].judge(case)}


def test_the_joint_is_exported_beside_a_decomposition_alone() -> None:
    assert export_walk(TWO_CALLS, PyTorch(), others=(EXPORTED,)).joint is None
