"""Each route is taken where it applies, and what comes out of it is what comes out of the plain way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import fx

from conformance import passes
from conformance.case import Case, walk
from conformance.graph import placeholders
from conformance.pytorch import PyTorch
from conformance.requirements import REQUIREMENTS
from conformance.routes import IN_TURN, ROUTED, ROUTES, in_turn
from conformance.rules.routes import passes_may_edit_the_graph
from conformance.spies import is_described, leading_outputs
from generators.program import Leaf, Program, Ref, State, Statement
from tests import programs
from tests.programs import let, outputs

#: A parameter of three rows, which two processes do not share evenly, and its gradient depends on all of them.
THREE_ROWS = Program(
    leaves=(Leaf("x0", (3,), requires_grad=True), Leaf("x1", (3, 3), requires_grad=True, parameter=True)),
    state=(State("inner.weight", "x1"),),
    args=(Ref("x0"),),
    body=(Statement("matmul", ("self.inner.weight", "a0"), (), ("v0",)), let("v1", "softmax", "v0", 0)),
    outputs=outputs("v1"),
)
FROZEN = replace(THREE_ROWS, leaves=(THREE_ROWS.leaves[0], replace(THREE_ROWS.leaves[1], requires_grad=False)))
UNDER_TWO_NAMES = replace(
    THREE_ROWS,
    state=(State("layer.weight", "x1"),),
    body=(Statement("matmul", ("self.layer.weight", "a0"), (), ("v0",)), let("v1", "softmax", "v0", 0)),
    dressing=("layer_twice",),
)
RETURNED = replace(THREE_ROWS, outputs=outputs("v1", "self.inner.weight"))


def on_routes(program: Program, requirements: Collection[str]) -> Case:
    return walk(program, PyTorch(), thorough=True, only=requirements)


def complaints(case: Case) -> list[str]:
    return [violation.path for violation in passes_may_edit_the_graph.judge(case)]


def test_every_route_is_of_a_requirement() -> None:
    assert ROUTED.issubset(REQUIREMENTS)


def test_each_routed_requirement_has_its_turn() -> None:
    assert {requirement for group in IN_TURN for requirement in group} == ROUTED


def test_a_program_has_one_turn() -> None:
    assert in_turn(programs.ONE_OUTPUT) in IN_TURN


def test_every_route_is_taken_by_a_program_with_a_parameter() -> None:
    assert set(on_routes(programs.TWO_OUTPUTS, ROUTED).routes) == set(ROUTES)


def test_only_the_routes_asked_for_are_taken() -> None:
    assert set(on_routes(programs.ONE_OUTPUT, {"C15"}).routes) == {"stack closed"}


def test_a_case_that_is_not_thorough_takes_no_route() -> None:
    assert walk(programs.ONE_OUTPUT, PyTorch(), thorough=False).routes == {}


def test_a_program_that_eager_refuses_takes_no_route() -> None:
    assert on_routes(replace(programs.ONE_OUTPUT, body=(let("v0", "select", "a0", 0, 9),)), ROUTED).routes == {}


class WithoutOptions(PyTorch):
    """As in 2.9, where the compile takes nothing but the joint."""

    def compile_options(self) -> frozenset[str]:
        """None."""
        return frozenset()


def test_no_route_needs_an_option_that_is_not_offered() -> None:
    case = walk(programs.TWO_OUTPUTS, WithoutOptions(), thorough=True)
    assert {requirement for name in case.routes for requirement in ROUTES[name].requirements} == {"C10", "C12", "C15", "C17"}


@pytest.mark.parametrize("program", [THREE_ROWS, FROZEN, programs.TWO_OUTPUTS], ids=["three rows", "frozen", "two rows"])
def test_a_parameter_is_sharded(program: Program) -> None:
    case = on_routes(program, {"C12"})
    assert ("sharded" in case.routes, complaints(case)) == (True, [])


UNSHARDED = {
    "tied": programs.TIED_PARAMETERS,
    "of a layer under two names": UNDER_TWO_NAMES,
    "returned": RETURNED,
    "no parameter": programs.ONE_OUTPUT,
    "passed as an argument": replace(THREE_ROWS, args=(Ref("x0"), Ref("x1"))),
    "viewed by the caller": replace(THREE_ROWS, setup=(let("x2", "detach", "x1"),)),
}


@pytest.mark.parametrize("program", UNSHARDED.values(), ids=UNSHARDED)
def test_a_parameter_that_is_not_alone_is_not_sharded(program: Program) -> None:
    assert "sharded" not in on_routes(program, {"C12"}).routes


def test_the_graph_takes_the_shard() -> None:
    case = on_routes(THREE_ROWS, ())
    passes.shard(case.joint, case)
    assert [tuple(node.meta["val"].shape) for node in placeholders(case.joint)][:2] == [(2, 3), (3,)]


def test_the_gradient_of_a_shard_has_its_rows() -> None:
    facts = on_routes(THREE_ROWS, {"C12"}).routes["sharded"]
    assert facts["grads.x1.value"].shape == (2, 3)


def test_gradients_are_doubled_by_the_graph() -> None:
    case = on_routes(programs.ONE_OUTPUT, {"C12"})
    plain, route = case.compiled["train"], case.routes["gradients doubled"]
    assert torch.equal(route["grads.x0.value"], 2 * plain["grads.x0.value"])


def test_gradients_that_pass_by_the_graph_are_not_asked_for() -> None:
    assert "gradients doubled" not in on_routes(programs.OUTPUT_ALIASES_INPUT, {"C12"}).routes


def test_nothing_is_computed_again_from_what_was_written() -> None:
    assert "recomputed" not in on_routes(programs.MUTATED_INPUT, {"C12"}).routes


def calls_of(edit: Any) -> tuple[list[str], list[str]]:
    case = on_routes(programs.ONE_OUTPUT, {"C2"})
    before = [node.name for node in case.joint.graph_module.graph.nodes if node.op == "call_function"]
    edit(case.joint, case)
    return before, [node.name for node in case.joint.graph_module.graph.nodes if node.op == "call_function"]


def test_renaming_gives_every_call_another_name() -> None:
    before, after = calls_of(passes.rename)
    assert after == [f"renamed_{name}" for name in before]


@pytest.mark.parametrize("edit", [passes.replace_graph, passes.eliminate_dead_code])
def test_these_passes_keep_every_call(edit: Any) -> None:
    before, after = calls_of(edit)
    assert before == after


def test_a_replaced_graph_is_another_module() -> None:
    case = on_routes(programs.ONE_OUTPUT, {"C2"})
    before = case.joint.graph_module
    passes.replace_graph(case.joint, case)
    assert case.joint.graph_module is not before


def exported() -> fx.GraphModule:
    return on_routes(programs.TWO_OUTPUTS, {"C2"}).joint.graph_module  # type: ignore[no-any-return]


def test_the_outputs_before_the_first_gradient_are_counted() -> None:
    assert leading_outputs(exported()) == 2


def test_an_exported_graph_is_described() -> None:
    assert is_described(exported(), ())


@pytest.mark.parametrize("op", ["placeholder", "output"])
def test_a_graph_without_descriptors_is_not_described(op: str) -> None:
    module = exported()
    for node in module.graph.find_nodes(op=op):
        del node.meta["desc"]
    assert not is_described(module, ())


def test_an_input_that_the_joint_does_not_have_needs_no_descriptor() -> None:
    module = exported()
    first = next(iter(module.graph.find_nodes(op="placeholder")))
    del first.meta["desc"]
    assert is_described(module, [node.name for node in module.graph.find_nodes(op="placeholder") if node is not first])
