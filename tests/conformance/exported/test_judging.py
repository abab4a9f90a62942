"""Programs judged by chapter E: which are taken, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch._dynamo.exc import Unsupported

import golden
from conformance.exported.case import export_walk
from conformance.exported.forms import DECOMPOSED, EXPORTED, LOADED, STRICT, UNFLATTENED
from conformance.findings import load_finding
from conformance.hygiene import left_behind
from conformance.judge import judge
from conformance.pytorch import PyTorch
from conformance.refusals import documented
from conformance.requirements import REQUIREMENTS
from conformance.rule import EXPORTED_RULES
from generators.program import Leaf, Program, Ref, State, Statement
from reports.promises import PROMISES
from reports.record import Outcome
from tests import programs
from tests.programs import change, let

RULES = tuple(EXPORTED_RULES)
UNSUPPORTED = Unsupported("Unsupported context manager\n  Explanation: Dynamo does not know how to enter it.")
#: Of both kinds of rule: then the joint is meant.
MIXED = ("J1", "E3")


class NoExporter:
    """An implementation that offers no torch.export."""

    name = "none"


def test_rules_of_exports_alone_judge_no_joint() -> None:
    assert not judge(programs.INFERENCE, PyTorch(), only=RULES).descriptors


REFUSED = replace(programs.INFERENCE, body=(change("data_mul_", "a0", 2), let("v0", "sin", "a0")))


@pytest.mark.parametrize(("program", "could"), [(programs.INFERENCE, True), (REFUSED, False)])
def test_a_verdict_says_whether_the_program_could_be_exported(program: Program, could: bool) -> None:
    assert judge(program, PyTorch(), only=RULES).exported is could


def test_rules_of_both_kinds_judge_the_joint() -> None:
    assert judge(programs.INFERENCE, PyTorch(), only=MIXED, thorough=False).checked == ("J1",)


def test_a_right_export_passes() -> None:
    assert judge(programs.TWO_OUTPUTS, PyTorch(), only=RULES, thorough=True).outcome is Outcome.PASS


@pytest.mark.parametrize("program", [programs.SUBCLASSES, programs.ALIASED_INPUTS, programs.SYMBOLIC_SUBCLASS])
def test_a_program_that_is_not_taken_is_unsupported(program: Program) -> None:
    assert judge(program, PyTorch(), only=RULES).outcome is Outcome.UNSUPPORTED


def test_what_is_passed_twice_and_written_is_unsupported() -> None:
    program = replace(programs.SAME_INPUT_TWICE, leaves=(replace(programs.SAME_INPUT_TWICE.leaves[0], requires_grad=False),))
    written = replace(program, body=(change("mul_", "a0", 2), *program.body))
    assert judge(written, PyTorch(), only=RULES).detail == "something is passed twice, and written"


def test_an_implementation_may_offer_no_export() -> None:
    none: Any = NoExporter()
    assert judge(programs.INFERENCE, none, only=RULES).detail == "export_ir is not offered"


def test_a_documented_refusal_is_told_as_one() -> None:
    assert judge(REFUSED, PyTorch(), only=RULES).outcome is Outcome.REFUSED


def test_a_program_gets_one_other_form_by_its_hash() -> None:
    assert set(export_walk(programs.INFERENCE, PyTorch()).forms) in ({EXPORTED, LOADED}, {EXPORTED, DECOMPOSED})


class LeavesVmapOpen(PyTorch):
    """Its unflattened modules begin a vmap, and do not end it."""

    def unflatten_ir(self, exported: Any) -> Any:
        module = super().unflatten_ir(exported)
        module.register_forward_hook(lambda *_: torch._C._functorch._vmap_increment_nesting(2, "error") and None)
        return module


def test_what_a_call_leaves_behind_is_told() -> None:
    assert export_walk(programs.INFERENCE, LeavesVmapOpen(), others=(UNFLATTENED,)).left_behind


def test_what_a_call_leaves_behind_is_put_back() -> None:
    export_walk(programs.INFERENCE, LeavesVmapOpen(), others=(UNFLATTENED,))
    assert left_behind() == {}


def test_a_finding_about_an_export_is_judged_as_one() -> None:
    assert load_finding(golden.FINDINGS / "export-loses-assignment-to-data.json").only == frozenset(RULES)


def test_the_verdict_notes_the_metadata_beside_what_is_specified() -> None:
    assert "call-has:torch_fn" in judge(programs.INFERENCE, PyTorch(), only=RULES).features


def test_the_verdict_notes_the_metadata_that_is_specified_and_lacking() -> None:
    assert "call-lacks:source_fn_stack" in judge(programs.INFERENCE, PyTorch(), only=RULES).features


def test_every_promise_is_under_a_requirement() -> None:
    assert {promise.requirement for promise in PROMISES.values()} <= REQUIREMENTS.keys()


def test_every_promise_is_judged_in_one_way() -> None:
    ways = [(p.broken_by, p.shown_by, p.untestable) for p in PROMISES.values()]
    assert all(sum(map(bool, way)) == 1 for way in ways)


def test_a_write_that_eager_does_not_count_is_a_mutation() -> None:
    leaves = (Leaf("x0", (2,)), Leaf("x1", (2,)), Leaf("x2", (2, 2)))
    body = (Statement("batch_norm", ("a0", "a1", "a2"), (True,), ("v0",)),)
    program = Program(leaves, args=(Ref("x2"), Ref("x0"), Ref("x1")), body=body, outputs=Ref("v0"))
    assert list(EXPORTED_RULES["E3"].judge(export_walk(program, PyTorch(), others=(DECOMPOSED,)))) == []


def test_a_buffer_of_which_a_size_is_read_need_not_be_an_input_of_a_strict_export() -> None:
    body = (Statement("numel", ("self.running",), (), ("v0",)), Statement("mul", ("a0", "v0"), (), ("v1",)))
    leaves, state = (Leaf("x0", (2,)), Leaf("x1", (3,))), (State("running", "x1"),)
    program = Program(leaves, state=state, args=(Ref("x0"),), body=body, outputs=Ref("v1"))
    assert list(EXPORTED_RULES["E3"].judge(export_walk(program, PyTorch(), others=(STRICT,)))) == []


def test_what_dynamo_does_not_support_is_a_refusal_of_a_strict_export() -> None:
    assert documented(UNSUPPORTED, STRICT)


def test_what_dynamo_does_not_support_is_no_refusal_elsewhere() -> None:
    assert documented(UNSUPPORTED) is None
