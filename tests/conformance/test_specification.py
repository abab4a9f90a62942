"""The joint graph is run from its descriptors as the documents say, beside an eager that gets the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
import torch._functorch._aot_autograd.descriptors as d

from conformance import effects
from conformance.case import walk
from conformance.described import Inputs, Meaningless, whole_storage
from conformance.graph import placeholder_descriptors, placeholders
from conformance.pytorch import PyTorch
from conformance.specification import Meaning, Specified, checked_kinds, specify
from generators.build import build
from generators.program import Leaf, Program, Ref, Statement
from tests import programs
from tests.wrong.base import Corrupted
from tests.wrong.meaning import BASE_AND_VIEW, EFFECTS, SUBCLASS
from tests.wrong.pipeline import GRAD, OUTPUT, PLAIN

#: The function's backward doubles the gradient that it gets where it is.
WRITES_ITS_GRADIENT = (Statement("sin", ("a0",), (), ("v1",)), Statement("gradient_in_place", ("v1",), (), ("v0",)))


@cache
def specified(program: Program) -> Specified:
    """The program's joint graph, run beside eager."""
    found = walk(program, PyTorch(), thorough=False).meaning
    assert found is not None
    return found


def inputs_of(program: Program) -> Inputs:
    """The values of input descriptors, for inputs made afresh."""
    return Inputs(build(program))


def meaning_of(program: Program, descriptor: Any) -> Meaning:
    """The program's output under a descriptor."""
    return next(meaning for meaning in specified(program).outputs if meaning.descriptor == descriptor)


def test_a_parameter_is_found_by_its_name() -> None:
    inputs = inputs_of(programs.TIED_PARAMETERS)
    assert inputs.value(d.ParamAOTInput("head.weight")) is inputs.built.values["x1"]


def test_a_plain_input_is_found_among_the_leaves_of_args_and_kwargs() -> None:
    inputs = inputs_of(programs.NESTED_STRUCTURES)
    assert inputs.value(d.PlainAOTInput(1)) is inputs.built.values["x1"]


def test_a_view_base_is_what_the_input_views() -> None:
    inputs = inputs_of(programs.ALIASED_INPUTS_ONE_MUTATED)
    assert inputs.value(d.ViewBaseAOTInput(PLAIN)) is inputs.built.values["x1"]


def test_a_synthetic_base_reaches_over_the_whole_storage() -> None:
    assert whole_storage(torch.arange(6.0)[2:4]).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_token_is_an_empty_tensor() -> None:
    assert inputs_of(programs.ONE_OUTPUT).value(d.ForwardTokenAOTInput(0)).numel() == 0


def test_a_piece_is_an_attribute_of_the_subclass() -> None:
    inputs = inputs_of(SUBCLASS)
    assert inputs.value(d.SubclassGetAttrAOTInput(PLAIN, "b")) is inputs.built.values["x2"].b


def test_the_size_of_a_subclass_is_a_number() -> None:
    assert inputs_of(SUBCLASS).value(d.SubclassSizeAOTInput(PLAIN, 1)) == 3


def test_the_stride_of_a_subclass_is_a_number() -> None:
    assert inputs_of(SUBCLASS).value(d.SubclassStrideAOTInput(PLAIN, 0)) == 3


DTENSOR = Program(
    leaves=(Leaf("x0", (2, 3), requires_grad=True, subclass="dtensor"),),
    args=(Ref("x0"),),
    body=(programs.let("v0", "sin", "a0"),),
    outputs=programs.outputs("v0"),
)
#: A plain leaf comes twice, and its gradient is a subclass.
DUPLICATE_BESIDE_A_SUBCLASS = Program(
    leaves=(Leaf("x0", (2,), requires_grad=True), Leaf("x1", (2,), subclass="pair")),
    args=(Ref("x0"), Ref("x0"), Ref("x1")),
    body=(Statement("mul", ("a0", "a2"), (), ("v0",)),),
    outputs=programs.outputs("v0"),
)


#: The write takes the gradient around the view's own edge, which eager's backward then doesn't reach.
WRITTEN_VIEW_OF_A_NON_LEAF = Program(
    leaves=(Leaf("x0", (2,), requires_grad=True),),
    setup=(programs.let("x1", "sin", "x0"), programs.let("x2", "view", "x1", (2, 1))),
    args=(Ref("x2"),),
    body=(programs.change("mul_", "a0", 2),),
    outputs=programs.outputs("a0"),
)


@pytest.mark.parametrize(
    "program",
    [DTENSOR, DUPLICATE_BESIDE_A_SUBCLASS, WRITTEN_VIEW_OF_A_NON_LEAF],
    ids=["dtensor", "duplicate", "written view"],
)
def test_every_output_is_what_its_descriptor_says(program: Program) -> None:
    assert all(meaning.holds for meaning in specified(program).outputs)


def stands_for_nothing(program: Program, descriptor: Any) -> bool:
    """Whether an input descriptor stands for nothing."""
    try:
        inputs_of(program).value(descriptor)
    except Meaningless:
        return True
    return False


def test_the_base_of_no_view_is_nothing() -> None:
    assert stands_for_nothing(programs.ONE_OUTPUT, d.ViewBaseAOTInput(PLAIN))


def test_a_dummy_is_nothing() -> None:
    assert stands_for_nothing(programs.ONE_OUTPUT, d.DummyAOTInput(0))


def test_the_gradients_of_one_tensor_passed_twice_add_up() -> None:
    assert meaning_of(programs.SAME_INPUT_TWICE, GRAD).holds


def test_the_gradient_of_a_view_reaches_its_base() -> None:
    assert meaning_of(BASE_AND_VIEW, GRAD).expected.count_nonzero() == 6


def test_a_base_and_its_view_passed_both_hold() -> None:
    assert [meaning.holds for meaning in specified(BASE_AND_VIEW).outputs] == [True] * 4


def test_a_gradient_of_zeros_is_none() -> None:
    assert Meaning(GRAD, None, torch.zeros(3)).holds


def test_an_output_of_zeros_is_not_none() -> None:
    assert not Meaning(OUTPUT, None, torch.zeros(3)).holds


def test_what_is_not_judged_holds() -> None:
    assert Meaning(OUTPUT, 1, 2, "a reason").holds


def test_where_eager_differs_from_itself_nothing_is_judged() -> None:
    program = replace(programs.INFERENCE, body=(programs.let("v0", "counted", "a0"),))
    assert meaning_of(program, OUTPUT).reason == "eager differs from itself"


class OffInSinglePrecision(Corrupted):
    """An implementation whose first output is off by a little, but not in double precision."""

    def corrupt(self, joint: Any) -> None:
        """Replace sine by one that is off."""
        for node in joint.graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
            node.target = _off_in_single_precision
        joint.graph_module.recompile()


def _off_in_single_precision(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) + (1e-3 if x.dtype == torch.float32 else 0.0)


def test_a_small_difference_is_believed_only_in_double_precision() -> None:
    meaning = walk(programs.ONE_OUTPUT, OffInSinglePrecision(), thorough=False).meaning
    assert meaning is not None and meaning.outputs[0].reason == "equal in double precision"


def test_where_eager_raises_nothing_is_specified() -> None:
    program = replace(programs.ONE_OUTPUT, leaves=(Leaf("x0", (2, 3), "bool"),), body=(programs.let("v0", "neg", "a0"),))
    assert walk(program, PyTorch(), thorough=False).meaning is None


def test_where_eagers_backward_raises_nothing_is_specified() -> None:
    program = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "one_way", "a0"),))
    assert walk(program, PyTorch(), thorough=False).meaning is None


def test_running_the_graph_leaves_it_as_it_is() -> None:
    joint = walk(programs.TWO_OUTPUTS, PyTorch(), thorough=False).joint
    before = (joint.graph_module.code, placeholder_descriptors(joint))
    specify(PyTorch(), joint, programs.TWO_OUTPUTS, "cpu", lambda program: None)
    assert (joint.graph_module.code, placeholder_descriptors(joint)) == before


def test_effects_are_told_in_order() -> None:
    assert [name for name, _ in specified(EFFECTS).effects] == ["told", "told", "told_back", "told_back"]


def test_effects_can_be_forgotten() -> None:
    specified(EFFECTS)
    effects.forget()
    assert effects.performed() == ()


def test_kinds_are_counted_where_something_was_compared() -> None:
    expected = {"PlainAOTInput": 1, "TangentAOTInput": 1, "PlainAOTOutput": 1, "GradAOTOutput": 1}
    assert checked_kinds(specified(programs.ONE_OUTPUT)) == expected


def test_tokens_are_checked_by_their_effects() -> None:
    assert checked_kinds(specified(EFFECTS))["ForwardTokenAOTOutput"] == 1


def test_no_kind_is_counted_where_nothing_was_compared() -> None:
    assert checked_kinds(Specified((PLAIN,), outputs=(Meaning(OUTPUT, 1, 1, "a reason"),))) == Counter()


def test_no_kind_is_counted_where_nothing_was_run() -> None:
    assert checked_kinds(None) == Counter()


def test_the_seed_of_random_numbers_is_eagers() -> None:
    assert meaning_of(replace(programs.INFERENCE, body=(programs.let("v0", "random", "a0"),)), OUTPUT).holds


def test_a_graph_with_symbolic_sizes_runs() -> None:
    program = replace(programs.ONE_OUTPUT, symbolic=(2, 3))
    assert [meaning.holds for meaning in specified(program).outputs] == [True, True]


def test_running_the_graph_fixes_no_symbolic_size() -> None:
    joint = walk(replace(programs.ONE_OUTPUT, symbolic=(2, 3)), PyTorch(), thorough=False).joint
    assert [size.node.maybe_as_int() for size in placeholders(joint)[0].meta["val"].shape] == [None, None]


def test_a_written_base_whose_rank_the_call_changes_gets_the_tangent_of_what_the_graph_gives() -> None:
    setup = (Statement("sin", ("x0",), (), ("x1",)), Statement("view", ("x1",), ((1,),), ("x2",)))
    body = (Statement("unsqueeze_", ("a0",), (0,)), Statement("mul_", ("a0",), (2,)))
    program = Program((Leaf("x0", (1,), requires_grad=True),), setup, args=(Ref("x1"), Ref("x2")), body=body)
    assert specified(program).error is None


def test_a_base_that_only_the_graph_has_is_the_output_in_the_graphs_sizes() -> None:
    leaves = (Leaf("x0", (2,), requires_grad=True), Leaf("x1", (2, 2), requires_grad=True))
    body = (Statement("matmul", ("a0", "a1"), (), ("v0",)),)
    program = Program(leaves, args=(Ref("x0"), Ref("x1")), body=body, outputs=programs.outputs("v0", "v0"))
    assert [meaning.holds for meaning in specified(program).outputs] == [True] * 5


def test_a_cotangent_that_eager_writes_in_place_is_the_graphs_own() -> None:
    assert all(meaning.holds for meaning in specified(replace(programs.ONE_OUTPUT, body=WRITES_ITS_GRADIENT)).outputs)
