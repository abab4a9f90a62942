"""Implementations whose joint graph is wrong: its descriptors, their order and number, the joint's members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch._functorch._aot_autograd.descriptors as d
import torch.utils._pytree as pytree
from torch import fx
from torch._subclasses import FakeTensorMode

from conformance.graph import flat_results, output_descriptors, output_node
from conformance.implementation import Joint
from generators.program import Program, Ref, State, Statement
from tests import programs
from tests.wrong.base import Change, Corrupted, Wrong, change_inputs, change_outputs, set_output_descriptors, set_results
from tests.wrong.pipeline import (
    GRAD,
    OUTPUT,
    PLAIN,
    TANGENT,
    Spoilt,
    bases_as_plain,
    inputs,
    more_inputs,
    more_results,
    no,
    results,
)

Spoil = Callable[[Joint], None]
COUNT, SCALE, WEIGHT = d.BufferAOTInput("count"), d.BufferAOTInput("scale"), d.ParamAOTInput("weight")
HEAD, SECOND, DUMMY = d.ParamAOTInput("head.weight"), d.PlainAOTInput(1), d.DummyAOTInput(0)
SHARED = programs.OUTPUT_VIEWS_OF_INTERMEDIATE
BASE, INTERMEDIATE = d.ViewBaseAOTInput(PLAIN), d.IntermediateBaseAOTOutput(OUTPUT)
MUTATION_TANGENT, BASE_TANGENT = d.TangentAOTInput(d.InputMutationAOTOutput(PLAIN)), d.TangentAOTInput(INTERMEDIATE)

#: Beside a differentiable output one that is not.
MASK_RETURNED = replace(
    programs.TWO_OUTPUTS, body=(*programs.TWO_OUTPUTS.body[:1], Statement("gt", ("a0", "a0"), (), ("v1",)))
)
#: Two parameters, by name in another order than by use.
TWO_PARAMETERS = replace(
    programs.TWO_INPUTS,
    leaves=tuple(replace(leaf, parameter=True) for leaf in programs.TWO_INPUTS.leaves),
    state=(State("weight", "x0"), State("head.weight", "x1")),
    args=(Ref("x0"),),
    body=(Statement("mul", ("self.weight", "self.head.weight"), (), ("v0",)),),
)


def swap(one: Any, other: Any) -> Change:
    """Each in the place of the other."""
    return lambda descriptor: other if descriptor == one else one if descriptor == other else descriptor


def inputs_swapped(one: Any, other: Any) -> Spoil:
    """Two placeholders called by each other's descriptor."""
    return lambda joint: change_inputs(joint, swap(one, other))


def results_swapped(one: Any, other: Any) -> Spoil:
    """Two outputs called by each other's descriptor."""
    return lambda joint: change_outputs(joint, swap(one, other))


def first_result_last(joint: Joint) -> None:
    """The first output, with its descriptor, at the end."""
    nodes, descriptors = flat_results(joint), output_descriptors(joint)
    set_results(joint, [*nodes[1:], nodes[0]], [*descriptors[1:], descriptors[0]])


def both(one: Spoil, other: Spoil) -> Spoil:
    """One after the other."""

    def spoil(joint: Joint) -> None:
        one(joint)
        other(joint)

    return spoil


def too_few_descriptors(joint: Joint) -> None:
    """The last output has none."""
    set_output_descriptors(joint, output_descriptors(joint)[:-1])


def no_descriptors(joint: Joint) -> None:
    """The output node has no ``meta['desc']``."""
    del output_node(joint).meta["desc"]


def set_spec(name: str, value: Any) -> Spoil:
    """A member of the joint replaced."""
    return lambda joint: setattr(joint, name, value)


class Covered:
    """A joint with some members of its own before those of PyTorch's."""

    def __init__(self, joint: Joint, members: dict[str, Any]) -> None:
        self.joint = joint
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.joint, name)


class WithoutMode(Covered):
    """A joint that does not tell its fake mode."""

    def __getattr__(self, name: str) -> Any:
        if name == "fake_mode":
            raise AttributeError(name)
        return super().__getattr__(name)


class ReadOnly(Covered):
    """A joint that does not take another graph module, and does not say so."""

    @property
    def graph_module(self) -> fx.GraphModule:
        """Always that of the export."""
        return self.joint.graph_module

    @graph_module.setter
    def graph_module(self, value: fx.GraphModule) -> None:
        pass


class Covering(Corrupted):
    """PyTorch's implementation, with members of its joint made up by a function."""

    def __init__(self, members: Callable[[Joint], dict[str, Any]], cover: type[Covered] = Covered) -> None:
        self.members, self.cover = members, cover

    def export(self, *args: Any, **options: Any) -> Any:
        """PyTorch's joint, covered."""
        joint = super().export(*args, **options)
        return self.cover(joint, self.members(joint))

    def compile(self, joint: Any, **options: Any) -> Callable[..., Any]:
        """What is under the cover, compiled."""
        return super().compile(joint.joint, **options)


def _spoilt(spoil: Spoil) -> Callable[[], Spoilt]:
    return lambda: Spoilt(spoil)


_SPOILS: tuple[tuple[str, str, Spoil, Program], ...] = (
    ("J1", "an input without a descriptor", inputs(PLAIN, None), programs.ONE_OUTPUT),
    ("J1", "an input under an output's descriptor", inputs(PLAIN, OUTPUT), programs.ONE_OUTPUT),
    ("J1", "no descriptors of the outputs", no_descriptors, programs.ONE_OUTPUT),
    ("J1", "fewer descriptors than outputs", too_few_descriptors, programs.ONE_OUTPUT),
    ("J1", "an output without a descriptor", results(OUTPUT, None), programs.ONE_OUTPUT),
    ("J1", "an output under an input's descriptor", results(OUTPUT, PLAIN), programs.ONE_OUTPUT),
    ("J2", "two inputs share a descriptor", inputs(SECOND, PLAIN), programs.TWO_INPUTS),
    ("J2", "two tangents share a descriptor", more_inputs(TANGENT), programs.ONE_OUTPUT),
    ("J2", "two outputs share a descriptor", results(d.PlainAOTOutput(1), OUTPUT), programs.TWO_OUTPUTS),
    ("J3", "parameters not as in params_spec", inputs_swapped(WEIGHT, HEAD), TWO_PARAMETERS),
    ("J3", "buffers not as in buffers_spec", inputs_swapped(COUNT, SCALE), programs.BUFFERS_MUTATED),
    ("J3", "a buffer before a parameter", inputs_swapped(COUNT, WEIGHT), programs.BUFFERS_MUTATED),
    ("J3", "an input before a buffer", inputs_swapped(SCALE, PLAIN), programs.BUFFERS_MUTATED),
    ("J3", "inputs not by index", inputs_swapped(PLAIN, SECOND), programs.TWO_INPUTS),
    ("J3", "a tangent before an input", inputs_swapped(TANGENT, PLAIN), programs.ONE_OUTPUT),
    ("J3", "a forward token last", more_inputs(d.ForwardTokenAOTInput(0)), programs.ONE_OUTPUT),
    ("J4", "gradients not as their inputs", results_swapped(GRAD, d.GradAOTOutput(SECOND)), programs.TWO_INPUTS),
    ("J4", "outputs not by index", results_swapped(OUTPUT, d.PlainAOTOutput(1)), programs.TWO_OUTPUTS),
    ("J4", "a mutation last", first_result_last, programs.MUTATED_INPUT),
    ("J4", "an intermediate base before an output", results_swapped(OUTPUT, INTERMEDIATE), SHARED),
    ("J4", "a gradient before an output", results_swapped(OUTPUT, GRAD), programs.ONE_OUTPUT),
    ("J4", "a forward token last", more_results(d.ForwardTokenAOTOutput(0)), programs.ONE_OUTPUT),
    ("J5", "an output lost", no("PlainAOTOutput"), programs.ONE_OUTPUT),
    ("J5", "an input lost", inputs(PLAIN, DUMMY), programs.ONE_OUTPUT),
    ("J5", "both twins lost", both(inputs(PLAIN, DUMMY), inputs(SECOND, d.DummyAOTInput(1))), programs.SAME_INPUT_TWICE),
    ("J5", "a tied parameter lost", both(inputs(WEIGHT, DUMMY), inputs(HEAD, d.DummyAOTInput(1))), programs.TIED_PARAMETERS),
    ("J5", "a base lost, and one of its views", bases_as_plain, programs.ALIASED_INPUTS_ONE_MUTATED),
    ("J6", "a tangent of an integer output", more_inputs(d.TangentAOTInput(d.PlainAOTOutput(1))), MASK_RETURNED),
    ("J6", "a tangent of no output", more_inputs(d.TangentAOTInput(d.PlainAOTOutput(7))), programs.ONE_OUTPUT),
    ("J6", "no tangent of an output", inputs(TANGENT, DUMMY), programs.ONE_OUTPUT),
    ("J6", "no tangent of a mutation", inputs(MUTATION_TANGENT, DUMMY), programs.MUTATED_INPUT_WITH_GRADIENT),
    ("J6", "no tangent of an intermediate base", inputs(BASE_TANGENT, DUMMY), SHARED),
    ("J6", "a tangent of a mutation without gradient", more_inputs(MUTATION_TANGENT), programs.MUTATED_INPUT),
    ("J6", "no gradient of an input", results(GRAD, None), programs.ONE_OUTPUT),
    ("J6", "no gradient of a base", results(d.GradAOTOutput(BASE), None), programs.ALIASED_INPUTS_ONE_MUTATED),
    ("J6", "two gradients of an input", more_results(GRAD), programs.ONE_OUTPUT),
    ("J6", "a gradient of an input without", more_results(GRAD), programs.MUTATED_INPUT),
    ("J6", "a gradient of no input", more_results(d.GradAOTOutput(d.ParamAOTInput("ghost"))), programs.ONE_OUTPUT),
    ("J8", "a parameter twice", set_spec("params_spec", ["weight", "weight"]), programs.TWO_OUTPUTS),
    ("J8", "one name of a tied parameter", set_spec("params_spec", ["weight"]), programs.TIED_PARAMETERS),
    ("J8", "a buffer that is not persistent left out", set_spec("buffers_spec", ["count"]), programs.BUFFERS_MUTATED),
    ("J8", "the last part of an FQN", set_spec("params_spec", ["weight", "weight"]), TWO_PARAMETERS),
    ("J9", "another structure of outputs", set_spec("out_spec", pytree.tree_structure([0])), programs.ONE_OUTPUT),
    ("J9", "arguments flattened", set_spec("in_spec", pytree.tree_structure(([0, 0], {}))), programs.NESTED_STRUCTURES),
    ("J9", "the state left out", set_spec("in_spec", pytree.tree_structure(([0], {}))), programs.TWO_OUTPUTS),
)

_COVERED: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("another graph module is not taken", lambda: Covering(lambda joint: {}, ReadOnly)),
    ("no fake_mode", lambda: Covering(lambda joint: {}, WithoutMode)),
    ("the mode of other fake tensors", lambda: Covering(lambda joint: {"fake_mode": FakeTensorMode()})),
)

WRONG: tuple[Wrong, ...] = (
    *(Wrong(rule, title, _spoilt(spoil), program) for rule, title, spoil, program in _SPOILS),
    *(Wrong("J9", title, implementation, programs.ONE_OUTPUT) for title, implementation in _COVERED),
)
