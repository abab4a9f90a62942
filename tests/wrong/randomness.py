"""Implementations that draw other random numbers than eager, or leave the generator otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from tests import programs
from tests.programs import let
from tests.wrong.base import Wrong
from tests.wrong.compiled import Compiled, afterwards, first, wrapped
from tests.wrong.pipeline import void

DROPOUT = replace(programs.ONE_OUTPUT, body=(let("v0", "dropout", "a0", 0.5),))
SAMPLES = replace(programs.INFERENCE, body=(let("v0", "rand_like", "a0"),))
FILLED = replace(programs.MUTATED_INPUT, body=(*programs.MUTATED_INPUT.body[:1], programs.change("uniform_", "a0")))


def elsewhere(act: Callable[[], Any], seed: int = 7) -> Any:
    """What ``act`` gives under another seed; the generator does not notice."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return act()


def other_samples(compiled: Compiled) -> Compiled:
    """Samples of another stream; the generator is left as it should be."""

    def call(*args: Any) -> Any:
        outputs = elsewhere(lambda: compiled(*args))
        with torch.no_grad():
            compiled(*(arg.clone() for arg in args))
        return outputs

    return call


def one_sample_for_ever(compiled: Compiled) -> Compiled:
    """Each call starts at the same place of the stream."""

    def call(*args: Any) -> Any:
        torch.manual_seed(0)
        return compiled(*args)

    return call


def untouched_generator(compiled: Compiled) -> Compiled:
    """The generator is where it was before the call."""

    def call(*args: Any) -> Any:
        before = torch.get_rng_state()
        outputs = compiled(*args)
        torch.set_rng_state(before)
        return outputs

    return call


def other_mask_in_backward(output: torch.Tensor) -> torch.Tensor:
    """The gradient passes another mask than the values did."""
    if output.requires_grad:
        output.register_hook(lambda cotangent: elsewhere(lambda: cotangent * torch.rand_like(cotangent).round()))
    return output


def draws_in_backward(output: torch.Tensor) -> torch.Tensor:
    """The backward draws a number."""
    if output.requires_grad:
        output.register_hook(lambda cotangent: void(torch.rand(())))
    return output


WRONG: tuple[Wrong, ...] = tuple(
    Wrong("C13", title, implementation, program)
    for title, implementation, program in (
        ("a random number drawn", afterwards(lambda x: torch.rand(())), programs.TWO_OUTPUTS),
        ("a generator that is not moved", wrapped(untouched_generator), SAMPLES),
        ("a random number drawn in backward", first(draws_in_backward), programs.ONE_OUTPUT),
        ("other samples", wrapped(other_samples), SAMPLES),
        ("another mask", wrapped(other_samples), DROPOUT),
        ("other samples written", wrapped(other_samples), FILLED),
        ("the same sample at each call", wrapped(one_sample_for_ever), SAMPLES),
        ("another mask in backward than in forward", first(other_mask_in_backward), DROPOUT),
    )
)
