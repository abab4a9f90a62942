"""Implementations whose descriptors are well put together, and say what is not so."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch._functorch._aot_autograd.descriptors as d
from torch import fx

from conformance.graph import flat_results, output_descriptors, output_node
from conformance.implementation import Joint
from generators.program import Leaf, Program, Ref, Statement
from tests import operators, programs  # noqa: F401  (operators registers what the programs below call)
from tests.wrong.base import Wrong, set_results
from tests.wrong.graph import COUNT, INTERMEDIATE, SECOND, SHARED, WEIGHT, Spoil, inputs_swapped, results_swapped
from tests.wrong.pipeline import GRAD, OUTPUT, PLAIN, Spoilt, inputs, more_inputs
from tests.wrong.soundness import calls, node_of

aten = torch.ops.aten
MUTATION, SECOND_OUTPUT, SECOND_GRAD = d.InputMutationAOTOutput(PLAIN), d.PlainAOTOutput(1), d.GradAOTOutput(SECOND)
HEAD_GRAD, WEIGHT_GRAD = d.GradAOTOutput(d.ParamAOTInput("head.weight")), d.GradAOTOutput(WEIGHT)
WRITTEN_VIEW = programs.ALIASED_INPUTS_ONE_MUTATED
VIEW_BASE = d.ViewBaseAOTInput(PLAIN)

MATMUL = replace(
    programs.TWO_INPUTS,
    leaves=(Leaf("x0", (2, 3), requires_grad=True), Leaf("x1", (3, 4), requires_grad=True)),
    body=(Statement("matmul", ("a0", "a1"), (), ("v0",)),),
)
DIFFERENCE = replace(programs.TWO_INPUTS, body=(Statement("sub", ("a0", "a1"), (), ("v0",)),))
MINUS_WEIGHT = replace(
    programs.TWO_OUTPUTS, body=(Statement("sub", ("a0", "self.weight"), (), ("v0",)), programs.let("v1", "sin", "v0"))
)
#: A base and its view are passed, and neither is written: what reaches the base comes from both.
BASE_AND_VIEW = replace(
    programs.ALIASED_INPUTS,
    setup=(programs.let("x1", "scale", "x0", 2), programs.let("x2", "t", "x1")),
)
#: A view is written, and its base, which is passed beside it, is another shape after the call.
BASE_RESHAPED = Program(
    leaves=(Leaf("x0", (1, 2, 4)),),
    setup=(programs.let("x1", "view", "x0", (2, 4)),),
    args=(Ref("x1"), Ref("x0")),
    body=(programs.change("unsqueeze_", "a1", 0), programs.change("zero_", "a0")),
    outputs=programs.outputs("a0"),
)
#: A subclass times a plain tensor, both differentiable.
SUBCLASS = Program(
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3), requires_grad=True)),
    setup=(programs.let("x2", "two_tensor", "x0", 3), programs.change("requires_grad_", "x2")),
    args=(Ref("x2"), Ref("x1")),
    body=(Statement("mul", ("a0", "a1"), (), ("v0",)), programs.let("v1", "sin", "v0")),
    outputs=programs.outputs("v1"),
)
#: A subclass that is written.
SUBCLASS_WRITTEN = replace(
    SUBCLASS,
    setup=SUBCLASS.setup[:1],
    body=(programs.change("mul_", "a0", 2), Statement("mul", ("a0", "a1"), (), ("v0",))),
    outputs=programs.outputs("v0"),
)
#: Two effects on what nothing orders but the tokens, each with one in the backward.
EFFECTS = replace(
    programs.TWO_INPUTS,
    body=(programs.let("v0", "told", "a0"), programs.let("v1", "told", "a1")),
    outputs=programs.outputs("v0", "v1"),
)


def pieces(base: Any, side: str = "Output") -> tuple[Any, Any]:
    """The descriptors of both pieces of a TwoTensor."""
    make = getattr(d, f"SubclassGetAttrAOT{side}")
    return make(base, "a"), make(base, "b")


def returned(descriptor: Any, choose: Callable[[Joint, Any], Any]) -> Spoil:
    """Something else returned under a descriptor: what is chosen, knowing the joint and what it returned."""

    def spoil(joint: Joint) -> None:
        nodes, descriptors = flat_results(joint), output_descriptors(joint)
        place = descriptors.index(descriptor)
        with joint.graph_module.graph.inserting_before(output_node(joint)):
            chosen = choose(joint, nodes[place])
        set_results(joint, [*nodes[:place], chosen, *nodes[place + 1 :]], descriptors)

    return spoil


def through(descriptor: Any, op: Any, *arguments: Any) -> Spoil:
    """What is returned under a descriptor goes through one more op."""
    return returned(descriptor, lambda joint, node: joint.graph_module.graph.call_function(op, (node, *arguments)))


def other(descriptor: Any, of: Any) -> Spoil:
    """What belongs to another descriptor, of an input or an output, returned under this one."""
    return returned(descriptor, lambda joint, node: node_of(joint, of))


def both_complete(one: Any, another: Any) -> Spoil:
    """The gradients of twins: each is the sum already."""

    def spoil(joint: Joint) -> None:
        add = returned(one, lambda j, node: j.graph_module.graph.call_function(aten.add.Tensor, (node, node_of(j, another))))
        add(joint)
        other(another, one)(joint)

    return spoil


def told(joint: Joint, name: str = "told") -> list[fx.Node]:
    """The effectful calls of that name: (token, op, operand)."""
    op = getattr(torch.ops.conformance_tests, name).default
    return [node for node in calls(joint) if len(node.args) > 1 and node.args[1] is op]


def dropped(name: str) -> Spoil:
    """The first effect is not performed: token and operand go past it."""

    def spoil(joint: Joint) -> None:
        node = told(joint, name)[0]
        token, _, operand = node.args
        for user in list(node.users):
            assert user.target is operator.getitem
            user.replace_all_uses_with((token, operand)[user.args[1]])  # type: ignore[arg-type, index]
            joint.graph_module.graph.erase_node(user)
        joint.graph_module.graph.erase_node(node)
        joint.graph_module.recompile()

    return spoil


def performed_twice(joint: Joint) -> None:
    """The first effect is performed once more than it is called."""
    node = told(joint)[0]
    with joint.graph_module.graph.inserting_after(node):
        joint.graph_module.graph.call_function(node.target, node.args)  # type: ignore[arg-type]
    joint.graph_module.recompile()


def out_of_order(joint: Joint) -> None:
    """Two effects in each other's place, each with its own operand and result."""
    one, another = told(joint)
    one.args, another.args = (*one.args[:2], another.args[2]), (*another.args[:2], one.args[2])
    results = [next(user for user in node.users if user.args[1] == 1) for node in (one, another)]
    nodes = [dict(zip(results, results[::-1])).get(node, node) for node in flat_results(joint)]
    set_results(joint, nodes, output_descriptors(joint))


_SPOILS: tuple[tuple[str, str, Spoil, Program], ...] = (
    ("S1", "an input that nobody passes", more_inputs(d.PlainAOTInput(7)), programs.TWO_INPUTS),
    ("S1", "a parameter that is not there", inputs(WEIGHT, d.ParamAOTInput("ghost")), programs.TWO_OUTPUTS),
    ("S1", "a buffer that is not there", inputs(COUNT, d.BufferAOTInput("ghost")), programs.BUFFERS_MUTATED),
    ("S1", "the base of what is no view", inputs(PLAIN, VIEW_BASE), programs.TWO_INPUTS),
    ("S1", "the tangent of no output", more_inputs(d.TangentAOTInput(d.PlainAOTOutput(7))), programs.TWO_INPUTS),
    ("S1", "a piece of what is no subclass", inputs(PLAIN, pieces(PLAIN, "Input")[0]), programs.TWO_INPUTS),
    ("S1", "no descriptor", inputs(PLAIN, None), programs.TWO_INPUTS),
    ("S1", "inputs of another shape", inputs_swapped(PLAIN, SECOND), MATMUL),
    ("S2", "outputs swapped", results_swapped(OUTPUT, SECOND_OUTPUT), programs.TWO_OUTPUTS),
    ("S2", "an output off by a little", through(OUTPUT, aten.add.Tensor, 0.001), programs.ONE_OUTPUT),
    ("S2", "an output of another shape", through(OUTPUT, aten.unsqueeze.default, 0), programs.INFERENCE),
    ("S2", "an output of another dtype", through(OUTPUT, aten.to.dtype, torch.float64), programs.INFERENCE),
    ("S2", "an input that is another", inputs_swapped(PLAIN, SECOND), DIFFERENCE),
    ("S2", "a parameter that is another", inputs_swapped(WEIGHT, PLAIN), MINUS_WEIGHT),
    ("S2", "a mutation with the old value", other(MUTATION, PLAIN), programs.MUTATED_INPUT),
    ("S2", "a mutation of a base with the old value", other(d.InputMutationAOTOutput(VIEW_BASE), VIEW_BASE), WRITTEN_VIEW),
    ("S2", "a reshaped base with the old value", other(d.InputMutationAOTOutput(VIEW_BASE), VIEW_BASE), BASE_RESHAPED),
    ("S2", "a mutation with the old shape", other(MUTATION, PLAIN), programs.METADATA_MUTATED),
    ("S2", "another tensor for a base", through(INTERMEDIATE, aten.neg.default), SHARED),
    ("S2", "an output for its base", other(INTERMEDIATE, OUTPUT), SHARED),
    ("S2", "an output that is an input with another value", through(OUTPUT, aten.neg.default), programs.OUTPUT_ALIASES_INPUT),
    ("S3", "the wrong sign", through(GRAD, aten.neg.default), programs.ONE_OUTPUT),
    ("S3", "gradients swapped", results_swapped(GRAD, SECOND_GRAD), programs.TWO_INPUTS),
    ("S3", "a gradient of zero", through(GRAD, aten.zeros_like.default), programs.ONE_OUTPUT),
    ("S3", "no gradient", returned(WEIGHT_GRAD, lambda joint, node: None), programs.TWO_OUTPUTS),
    ("S3", "a gradient of another shape", through(GRAD, aten.sum.default), programs.ONE_OUTPUT),
    ("S3", "tangents swapped", inputs_swapped(*(d.TangentAOTInput(d.PlainAOTOutput(i)) for i in (0, 1))), programs.TWO_OUTPUTS),
    ("S3", "tied parameters with the sum each", both_complete(WEIGHT_GRAD, HEAD_GRAD), programs.TIED_PARAMETERS),
    ("S3", "an input passed twice with the sum each", both_complete(GRAD, SECOND_GRAD), programs.SAME_INPUT_TWICE),
    ("S3", "a base's gradient of the wrong sign", through(d.GradAOTOutput(VIEW_BASE), aten.neg.default), WRITTEN_VIEW),
    ("S3", "a view's gradient left out beside its base", through(SECOND_GRAD, aten.zeros_like.default), BASE_AND_VIEW),
    ("S4", "pieces of an input swapped", inputs_swapped(*pieces(PLAIN, "Input")), SUBCLASS),
    ("S4", "pieces of an output swapped", results_swapped(*pieces(OUTPUT)), SUBCLASS),
    ("S4", "a piece of a gradient swapped", results_swapped(*pieces(GRAD)), SUBCLASS),
    ("S4", "a piece off by a little", through(pieces(OUTPUT)[1], aten.add.Tensor, 0.001), SUBCLASS),
    ("S4", "a piece of a gradient of zero", through(pieces(SECOND_GRAD)[0], aten.zeros_like.default), SUBCLASS),
    ("S4", "a piece with the value before the call", other(pieces(MUTATION)[1], pieces(PLAIN, "Input")[1]), SUBCLASS_WRITTEN),
    ("S5", "an effect dropped", dropped("told"), EFFECTS),
    ("S5", "an effect of the backward dropped", dropped("told_back"), EFFECTS),
    ("S5", "an effect performed twice", performed_twice, EFFECTS),
    ("S5", "effects out of order", out_of_order, EFFECTS),
)


def _maker(spoil: Spoil) -> Callable[[], Spoilt]:
    return lambda: Spoilt(spoil)


WRONG: tuple[Wrong, ...] = tuple(Wrong(rule, title, _maker(spoil), program) for rule, title, spoil, program in _SPOILS)
