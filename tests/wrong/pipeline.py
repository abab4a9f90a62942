"""Implementations whose descriptors are put together wrongly, or stand where nothing calls for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch._functorch._aot_autograd.descriptors as d

from conformance.graph import chain, kind_of
from conformance.implementation import Joint
from generators.program import Program
from tests import programs
from tests.wrong.base import Change, Corrupted, Wrong, add_input, add_output, change_inputs, change_outputs, drop_output


class Spoilt(Corrupted):
    """PyTorch's implementation, its joint graph spoilt by a function."""

    def __init__(self, spoil: Callable[[Joint], None]) -> None:
        self.spoil = spoil

    def corrupt(self, joint: Joint) -> None:
        """Spoil it by the function."""
        self.spoil(joint)


@dataclass(frozen=True)
class Undocumented(d.DifferentiableAOTOutput):
    """A descriptor that no document knows."""

    idx: int


PLAIN, OUTPUT = d.PlainAOTInput(0), d.PlainAOTOutput(0)
TANGENT, GRAD = d.TangentAOTInput(OUTPUT), d.GradAOTOutput(PLAIN)


def forged(descriptor: Any, **fields: Any) -> Any:
    """A descriptor with fields that its class would refuse."""
    for name, value in fields.items():
        object.__setattr__(descriptor, name, value)
    return descriptor


def tangent_of(output: Any) -> Any:
    """A tangent, of anything."""
    return forged(d.TangentAOTInput(d.PlainAOTOutput(0)), output=output)


def grad_of(primal: Any) -> Any:
    """A gradient, of anything."""
    return forged(d.GradAOTOutput(d.PlainAOTInput(0)), grad_of=primal)


def mutation_of(mutated: Any) -> Any:
    """A mutation, of anything."""
    return d.InputMutationAOTOutput(mutated)


def instead(old: Any, new: Any) -> Change:
    """``new`` in the place of ``old``."""
    return lambda descriptor: new if descriptor == old else descriptor


def inputs(old: Any, new: Any) -> Callable[[Joint], None]:
    """One placeholder's descriptor replaced."""
    return lambda joint: change_inputs(joint, instead(old, new))


def results(old: Any, new: Any) -> Callable[[Joint], None]:
    """One output's descriptor replaced."""
    return lambda joint: change_outputs(joint, instead(old, new))


def more_inputs(descriptor: Any) -> Callable[[Joint], None]:
    """One more placeholder."""
    return lambda joint: void(add_input(joint, descriptor))


def more_results(descriptor: Any) -> Callable[[Joint], None]:
    """One more output."""
    return lambda joint: add_output(joint, descriptor)


def void(_: Any) -> None:
    """Forget a result."""


def no(kind: str) -> Callable[[Joint], None]:
    """Outputs of that kind left out."""
    return lambda joint: drop_output(joint, lambda descriptor: kind_of(descriptor) == kind)


def bases_as_plain(joint: Joint) -> None:
    """Each base called by the name of the primal that it is the base of, on both sides of the graph."""

    def plain(descriptor: Any) -> Any:
        last = list(chain(descriptor))[-1]
        return last if kind_of(descriptor) == "ViewBaseAOTInput" else descriptor

    change_inputs(joint, plain)
    change_outputs(joint, instead(d.InputMutationAOTOutput(d.ViewBaseAOTInput(PLAIN)), d.InputMutationAOTOutput(PLAIN)))
    change_outputs(joint, instead(d.GradAOTOutput(d.ViewBaseAOTInput(PLAIN)), GRAD))
    tangent = d.TangentAOTInput(d.InputMutationAOTOutput(d.ViewBaseAOTInput(PLAIN)))
    change_inputs(joint, instead(tangent, d.TangentAOTInput(d.InputMutationAOTOutput(PLAIN))))


def piece(base: Any, side: str = "Output") -> Any:
    """The inner tensor of a subclass."""
    return getattr(d, f"SubclassGetAttrAOT{side}")(base, "inner")


_SPOILS: tuple[tuple[str, str, Callable[[Joint], None], Program], ...] = (
    ("P1", "a mutation of a tangent", results(OUTPUT, d.InputMutationAOTOutput(TANGENT)), programs.ONE_OUTPUT),
    ("P1", "a base of a gradient", results(GRAD, d.IntermediateBaseAOTOutput(GRAD)), programs.ONE_OUTPUT),
    ("P1", "a base of a piece", inputs(PLAIN, d.ViewBaseAOTInput(piece(PLAIN, "Input"))), programs.ONE_OUTPUT),
    ("P1", "an undocumented kind", results(OUTPUT, Undocumented(0)), programs.ONE_OUTPUT),
    ("P1", "a gradient of an undocumented kind", results(GRAD, grad_of(Undocumented(0))), programs.ONE_OUTPUT),
    ("P2", "a tangent of a piece", inputs(TANGENT, tangent_of(piece(OUTPUT))), programs.ONE_OUTPUT),
    ("P2", "a gradient of a piece", results(GRAD, grad_of(piece(PLAIN, "Input"))), programs.ONE_OUTPUT),
    ("P2", "a tangent of a gradient", inputs(TANGENT, d.TangentAOTInput(GRAD)), programs.ONE_OUTPUT),
    ("P2", "a gradient of a tangent", results(GRAD, d.GradAOTOutput(TANGENT)), programs.ONE_OUTPUT),
    (
        "P3",
        "a size of a stride",
        more_inputs(d.SubclassSizeAOTInput(d.SubclassStrideAOTInput(PLAIN, 0), 0)),
        programs.ONE_OUTPUT,
    ),
    ("P3", "a base of a token", results(OUTPUT, d.IntermediateBaseAOTOutput(d.ForwardTokenAOTOutput(0))), programs.ONE_OUTPUT),
    ("P3", "a piece of a Philox seed", more_inputs(piece(d.PhiloxForwardSeedAOTInput(), "Input")), programs.ONE_OUTPUT),
    ("P3", "a mutated dummy", results(OUTPUT, d.InputMutationAOTOutput(d.DummyAOTInput(0))), programs.ONE_OUTPUT),
    ("P4", "an input is a dummy", inputs(PLAIN, d.DummyAOTInput(0)), programs.ONE_OUTPUT),
    ("P4", "an output is a dummy", results(OUTPUT, d.DummyAOTOutput(0)), programs.ONE_OUTPUT),
    ("P4", "something saved for backward", more_results(d.SavedForBackwardsAOTOutput(0)), programs.ONE_OUTPUT),
    ("P5", "a base of a base", inputs(PLAIN, d.ViewBaseAOTInput(d.SyntheticBaseAOTInput(PLAIN))), programs.ONE_OUTPUT),
    (
        "P5",
        "an intermediate base of a mutation",
        results(OUTPUT, d.IntermediateBaseAOTOutput(d.InputMutationAOTOutput(PLAIN))),
        programs.ONE_OUTPUT,
    ),
    ("P5", "a mutation of an output", results(OUTPUT, mutation_of(OUTPUT)), programs.ONE_OUTPUT),
    ("P6", "a base where nothing aliases", inputs(PLAIN, d.ViewBaseAOTInput(PLAIN)), programs.TWO_INPUTS),
    ("P6", "a synthetic base where nothing aliases", inputs(PLAIN, d.SyntheticBaseAOTInput(PLAIN)), programs.TWO_INPUTS),
    ("P6", "no base where inputs alias and one is written", bases_as_plain, programs.ALIASED_INPUTS_ONE_MUTATED),
    ("P6", "a mutation where nothing is written", more_results(d.InputMutationAOTOutput(PLAIN)), programs.TWO_INPUTS),
    ("P6", "no mutation of an input", no("InputMutationAOTOutput"), programs.MUTATED_INPUT),
    ("P6", "no mutation of a differentiable input", no("InputMutationAOTOutput"), programs.MUTATED_INPUT_WITH_GRADIENT),
    ("P6", "no mutation of a buffer", no("InputMutationAOTOutput"), programs.BUFFERS_MUTATED),
    ("P6", "no mutation of metadata", no("InputMutationAOTOutput"), programs.METADATA_MUTATED),
    ("P6", "an intermediate base of distinct outputs", more_results(d.IntermediateBaseAOTOutput(OUTPUT)), programs.TWO_OUTPUTS),
    ("P6", "an intermediate base of inputs", more_results(d.IntermediateBaseAOTOutput(OUTPUT)), programs.OUTPUT_ALIASES_INPUT),
    ("P6", "no intermediate base", no("IntermediateBaseAOTOutput"), programs.OUTPUT_VIEWS_OF_INTERMEDIATE),
    ("P6", "metadata mutated where it is not", more_results(d.MetadataMutationAOTOutput(0)), programs.TWO_OUTPUTS),
    ("P6", "a token without effects", more_inputs(d.ForwardTokenAOTInput(0)), programs.TWO_INPUTS),
    ("P6", "Philox without random numbers", more_inputs(d.PhiloxForwardSeedAOTInput()), programs.TWO_INPUTS),
    ("P6", "a piece without subclasses", results(OUTPUT, piece(OUTPUT)), programs.ONE_OUTPUT),
    ("P6", "a parameter that the module lacks", inputs(PLAIN, d.ParamAOTInput("ghost")), programs.ONE_OUTPUT),
    ("P6", "an output that is not returned", results(OUTPUT, d.PlainAOTOutput(7)), programs.ONE_OUTPUT),
)


def _maker(spoil: Callable[[Joint], None]) -> Callable[[], Spoilt]:
    return lambda: Spoilt(spoil)


WRONG: tuple[Wrong, ...] = tuple(Wrong(rule, title, _maker(spoil), program) for rule, title, spoil, program in _SPOILS)
