"""What the documents leave open, and no rule may complain of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

import conformance.rules  # noqa: F401  (registers the rules)
from conformance.case import walk
from conformance.pytorch import PyTorch
from conformance.rule import RULES
from conformance.rules.primals import exported_at
from generators.program import Const, Leaf, Node, Program, Ref, State
from tests.programs import MUTATED_INPUT_WITH_GRADIENT, ONE_OUTPUT, change, let
from tests.wrong.soundness import KEPT_WRITE


class RewritesTheGraph(PyTorch):
    """A compile that leaves another graph on the joint than it was given, as for nested regions."""

    def compile(self, joint: Any, **options: Any) -> Callable[..., Any]:
        compiled = super().compile(joint, **options)
        for node in joint.graph_module.graph.find_nodes(op="placeholder"):
            node.name = "renamed"
        return compiled


def test_a_graph_that_the_compile_rewrites_is_compared_as_it_was_exported() -> None:
    assert RULES["J17"].judge(walk(ONE_OUTPUT, RewritesTheGraph(), thorough=True)) == []


def test_a_type_that_torch_compile_says_it_does_not_take_is_no_fault() -> None:
    program = replace(ONE_OUTPUT, outputs=Node("tuple", (Ref("v0"), Const("text"))))
    assert RULES["C10"].judge(walk(program, PyTorch(), thorough=True, only=("C10",))) == []


def test_a_copy_that_the_export_adds_was_called_in_no_module() -> None:
    case = walk(MUTATED_INPUT_WITH_GRADIENT, PyTorch(), thorough=True, only=("J14",))
    assert [violation.path for violation in RULES["J14"].judge(case) if "captured" in violation.path] == []


def test_the_strides_of_a_tangent_without_elements_mean_nothing() -> None:
    body = (let("v0", "permute", "a0", (1, 0)), let("v1", "squeeze", "v0"), let("v2", "dropout", "v1", 0.0))
    program = Program((Leaf("x0", (0, 3), requires_grad=True),), args=(Ref("x0"),), body=body, outputs=Ref("v2"))
    assert RULES["J26"].judge(walk(program, PyTorch())) == []


def test_a_kept_write_may_be_pinned_to_the_forward() -> None:
    found = [violation.found for violation in RULES["J14"].judge(walk(KEPT_WRITE, PyTorch(), thorough=False))]
    assert "'must_be_in_forward'" not in found and "must_be_in_forward" not in found


def test_a_subgraph_that_the_compile_partitions_is_judged_as_it_was_exported() -> None:
    case = walk(replace(ONE_OUTPUT, body=(let("v0", "invoke", "a0"),)), PyTorch(), thorough=False)
    assert list(RULES["J25"].judge(case)) == []


def test_a_subgraph_that_the_compile_partitions_is_compared_with_options_as_it_was_exported() -> None:
    case = walk(replace(ONE_OUTPUT, body=(let("v0", "invoke", "a0"),)), PyTorch(), thorough=True, only=("J18",))
    assert list(RULES["J18"].judge(case)) == []


def test_an_unused_parameter_with_a_parametrization_has_a_placeholder_under_another_name() -> None:
    leaves = (*ONE_OUTPUT.leaves, Leaf("x9", (2,), requires_grad=True, parameter=True))
    program = replace(ONE_OUTPUT, leaves=leaves, state=(State("weight", "x9"),), dressing=("parametrized",))
    assert RULES["J23"].judge(walk(program, PyTorch())) == []


def test_what_picks_a_result_of_a_random_op_is_not_recomputed_without_it() -> None:
    program = replace(ONE_OUTPUT, body=(let("v0", "dropout", "a0", 0.5),))
    assert RULES["C12"].judge(walk(program, PyTorch(), thorough=True, only=("C12",))) == []


def test_what_has_an_effect_is_not_recomputed() -> None:
    program = replace(ONE_OUTPUT, body=(let("v1", "region_noted", "a0"), let("v0", "sin", "v1")))
    assert RULES["C12"].judge(walk(program, PyTorch(), thorough=True, only=("C12",))) == []


def test_a_subclass_that_the_module_holds_and_the_caller_passes_has_the_symbolic_sizes_of_the_argument() -> None:
    leaf = Leaf("x0", (3,), subclass="pair")
    program = Program((leaf,), state=(State("running", "x0"),), args=(Ref("x0"),), outputs=Ref("a0"), symbolic=(3,))
    case = walk(program, PyTorch())
    assert isinstance(exported_at(case, case.implementation.descriptors.BufferAOTInput("running")).shape[0], torch.SymInt)


def test_an_input_that_the_export_leaves_another_tensor_for_is_still_the_twin_that_it_was() -> None:
    state, dressing = (State("layer.running", "x0"),), ("layer_twice",)
    body = (change("mul_", "a0", 2),)
    program = Program((Leaf("x0", (2,)),), state=state, args=(Ref("x0"),), body=body, dressing=dressing)
    assert RULES["J5"].judge(walk(program, PyTorch())) == []


def test_a_gradient_that_comes_through_another_input_as_well_does_not_say_what_the_joint_gives() -> None:
    leaves = (Leaf("x0", (2,), requires_grad=True, subclass="pair"),)
    args, setup = (Ref("x0"), Ref("x1")), (let("x1", "sin", "x0"),)
    program = Program(leaves, setup, args=args, outputs=Ref("a1"), dressing=("full_backward_pre_hook",))
    assert RULES["J7"].judge(walk(program, PyTorch())) == []


def test_without_functionalization_nothing_threads_a_token() -> None:
    program = replace(ONE_OUTPUT, body=(let("v0", "noted", "a0"),), options=("disable_functionalization",))
    assert RULES["P6"].judge(walk(program, PyTorch())) == []


def test_the_ops_that_make_and_sink_a_token_were_called_in_no_module() -> None:
    program = replace(ONE_OUTPUT, leaves=(Leaf("x0", (2,)),), body=(let("v0", "noted", "a0"),))
    program = replace(program, options=("config.unlift_effect_tokens",))
    case = walk(program, PyTorch(), thorough=True, only=("J14",))
    assert [v for v in RULES["J14"].judge(case) if v.path.startswith("nn_module_stack")] == []


def test_a_graph_that_makes_its_token_before_it_takes_its_inputs_can_be_edited() -> None:
    program = replace(ONE_OUTPUT, body=(let("v0", "noted", "a0"),), options=("config.unlift_effect_tokens",))
    case = walk(replace(program, leaves=(Leaf("x0", (2,)),)), PyTorch(), thorough=True, only=("U6",))
    assert RULES["U6"].judge(case) == []


def test_a_tied_buffer_that_the_export_leaves_another_tensor_for_is_still_tied() -> None:
    state = (State("layer.running", "x0"), State("tied", "x0"))
    body = (change("mul_", "self.layer.running", 2),)
    program = Program((Leaf("x0", (2,)),), state=state, body=body, dressing=("layer_twice",))
    assert RULES["J19"].judge(walk(program, PyTorch())) == []


def test_a_symbol_of_a_subclass_that_turned_out_to_be_a_number_may_be_no_input() -> None:
    leaf = Leaf("x0", (2, 3), requires_grad=True, parameter=True, subclass="nested")
    setup, state = (let("x1", "transpose", "x0", 0),), (State("weight", "x0"),)
    program = Program((leaf,), setup, state, (Ref("x1"),), outputs=Ref("a0"), symbolic=(3,))
    assert RULES["J7"].judge(walk(program, PyTorch())) == []


def test_an_effect_on_the_way_to_an_input_that_no_gradient_reaches_is_eagers_too() -> None:
    setup = (replace(let("x1", "view", "x0", (1,)), mode="no_grad"),)
    body = (let("v0", "noted_backward", "a0"),)
    program = Program((Leaf("x0", (), requires_grad=True),), setup, (), (Ref("x1"),), body=body, outputs=Ref("v0"))
    assert RULES["S5"].judge(walk(program, PyTorch())) == []


def test_a_gradient_of_an_input_that_is_returned_does_not_say_what_the_joint_gives() -> None:
    leaves = (Leaf("x0", (), requires_grad=True, subclass="pair"),)
    outputs = Node("tuple", (Ref("v0"), Ref("a0")))
    program = Program(leaves, args=(Ref("x0"),), body=(let("v0", "sgn", "a0"),), outputs=outputs)
    assert RULES["J7"].judge(walk(program, PyTorch())) == []


def test_a_gradient_that_autograd_keeps_as_a_copy_does_not_say_of_which_class_it_came() -> None:
    leaves = (Leaf("x0", (2, 2), stride=(1, 2), requires_grad=True, subclass="coded"),)
    program = Program(leaves, args=(Ref("x0"),), body=(let("v0", "first_doubled", "a0"),), outputs=Ref("v0"))
    case = walk(program, PyTorch())
    assert [RULES[requirement].judge(case) for requirement in ("J7", "P6")] == [[], []]
