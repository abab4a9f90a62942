"""Implementations that lose effects, or perform them too often, out of order, at another time, or without a token."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
import torch._functorch._aot_autograd.descriptors as d
from torch import nn

from conformance.implementation import Implementation, Joint
from generators.preludes.effects import EFFECTS as PERFORMED
from generators.program import Program, Statement
from tests import programs
from tests.wrong.base import Corrupted, Wrong
from tests.wrong.compiled import Compiled, wrapped
from tests.wrong.meaning import EFFECTS, dropped, out_of_order
from tests.wrong.pipeline import PLAIN, Spoilt, inputs, more_inputs, more_results, no

FORWARD_INPUT, FORWARD_OUTPUT = d.ForwardTokenAOTInput(0), d.ForwardTokenAOTOutput(0)
BACKWARD_INPUT = d.BackwardTokenAOTInput(0)

#: Two effects in the forward, two in the backward, and one output.
TOLD = replace(
    EFFECTS, body=(*EFFECTS.body, Statement("add", ("v0", "v1"), (), ("v2",))), outputs=programs.outputs("v2")
)
#: An effect on a value, in the forward alone.
NOTED = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "noted", "a0"),))
#: One that nothing but its order holds in place.
NOTE = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "sin", "a0"), programs.change("note", "v0")))
NOTED_BACKWARD = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "noted_backward", "a0"),))
NOTED_BOTH_WAYS = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "noted_both_ways", "a0"),))
PRINTED = replace(programs.ONE_OUTPUT, body=(programs.change("printed", "a0"), programs.let("v0", "sin", "a0")))


def rewritten(change: Callable[[list[Any]], list[Any]]) -> Callable[[], Implementation]:
    """What the forward performed changed."""

    def wrapper(compiled: Compiled) -> Compiled:
        def call(*args: Any, **kwargs: Any) -> Any:
            outputs = compiled(*args, **kwargs)
            PERFORMED[:] = change(list(PERFORMED))
            return outputs

        return call

    return wrapped(wrapper)


def postponed(compiled: Compiled) -> Compiled:
    """The effects of the forward are performed in the backward."""

    def call(*args: Any, **kwargs: Any) -> Any:
        outputs = compiled(*args, **kwargs)
        waiting = list(PERFORMED)
        PERFORMED.clear()
        outputs[0].register_hook(lambda gradient: PERFORMED.extend(waiting))
        return outputs

    return call


def twice_in_backward(compiled: Compiled) -> Compiled:
    """The effects of the backward are performed twice."""

    def call(*args: Any, **kwargs: Any) -> Any:
        args[-1].register_post_accumulate_grad_hook(lambda leaf: PERFORMED.extend(PERFORMED))
        return compiled(*args, **kwargs)

    return call


class RunsForReal(Corrupted):
    """An export that calls the module on copies of what it was given."""

    def export(self, stack: ExitStack, module: nn.Module, args: Any, kwargs: Any, **options: Any) -> Joint:
        with torch.no_grad():
            module(*(arg.clone() for arg in args), **kwargs)
        return super().export(stack, module, args, kwargs, **options)


Maker = Callable[[], Implementation]


def spoilt(spoil: Callable[[Joint], None]) -> Maker:
    """An implementation whose joint graph is spoilt."""
    return lambda: Spoilt(spoil)


_MAKERS: tuple[tuple[str, str, Maker, Program], ...] = (
    ("C14", "an effect dropped", spoilt(dropped("told")), TOLD),
    ("C14", "an effect of the backward dropped", spoilt(dropped("told_back")), TOLD),
    ("C14", "an effect whose value nobody needs dropped", rewritten(lambda told: []), NOTE),
    ("C14", "a print dropped", rewritten(lambda told: []), PRINTED),
    ("C14", "an effect performed twice", rewritten(lambda told: told * 2), NOTED),
    ("C14", "an effect of the backward performed twice", wrapped(twice_in_backward), NOTED_BACKWARD),
    ("C14", "effects out of order", spoilt(out_of_order), TOLD),
    ("C14", "an effect of the forward in the backward", wrapped(postponed), NOTE),
    ("C14", "an effect where eager has none", rewritten(lambda told: [("note", 0)]), NOTED_BACKWARD),
    ("C14", "an effect on another value", rewritten(lambda told: [(name, value + 1) for name, value in told]), NOTED),
    ("J15", "an effect performed by the export", RunsForReal, NOTED),
    ("P6", "a forward token where the backward alone has an effect", spoilt(more_inputs(FORWARD_INPUT)), NOTED_BACKWARD),
    ("P6", "a backward token where the forward alone has an effect", spoilt(more_inputs(BACKWARD_INPUT)), NOTED),
    ("P6", "a token given back without effects", spoilt(more_results(FORWARD_OUTPUT)), programs.TWO_INPUTS),
    ("P6", "no token for the forward", spoilt(inputs(FORWARD_INPUT, PLAIN)), NOTED),
    ("P6", "no token for a print", spoilt(inputs(FORWARD_INPUT, PLAIN)), PRINTED),
    ("P6", "no token for the backward", spoilt(inputs(BACKWARD_INPUT, PLAIN)), NOTED_BACKWARD),
    ("P6", "no token given back by the forward", spoilt(no("ForwardTokenAOTOutput")), NOTED),
    ("P6", "no token given back by the backward", spoilt(no("BackwardTokenAOTOutput")), NOTED_BOTH_WAYS),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(rule, title, maker, program) for rule, title, maker, program in _MAKERS)
