"""Implementations that keep for the backward what they should not, or do not guard what they keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from conformance.implementation import Implementation
from generators.program import Program
from tests import programs
from tests.wrong.base import Wrong
from tests.wrong.compiled import wrapped

#: The exponential keeps its result for the backward: eager raises if that is written.
KEEPS_ITS_RESULT = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "exp", "a0"),))
#: The product keeps the plain input for the backward: eager raises if that is written.
KEEPS_ITS_INPUT = replace(programs.TWO_OUTPUTS, outputs=programs.outputs("v0"))


class Exponential(torch.autograd.Function):
    """The exponential; its backward reads the result as it is by then, with no guard."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.result = x.exp()
        return ctx.result  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return cotangents[0] * ctx.result


class Product(torch.autograd.Function):
    """A product; its backward reads the second factor as it is by then, with no guard."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.factor = y
        return x * y

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return cotangents[0] * ctx.factor, None


class Guarded(torch.autograd.Function):
    """Hands its operand on, and keeps it for nothing, with a guard."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        result = x.clone()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        (_,) = ctx.saved_tensors
        return cotangents[0]


class Watchful(torch.autograd.Function):
    """Hands its operand on; without an error, the gradient is another if what it handed on was written."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.result = x.clone()
        ctx.value = x.clone()
        return ctx.result  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return cotangents[0] * (ctx.result == ctx.value)


def instead(function: type[torch.autograd.Function]) -> Callable[[], Implementation]:
    """What the program computes, by an autograd Function."""
    return wrapped(lambda compiled: lambda *args: (function.apply(*args),))  # type: ignore[no-untyped-call]


def through(function: type[torch.autograd.Function]) -> Callable[[], Implementation]:
    """The only output passed through an autograd Function."""
    return wrapped(lambda compiled: lambda *args: (function.apply(*compiled(*args)),))  # type: ignore[no-untyped-call]


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("C8", "a kept result that may be written", instead(Exponential), KEEPS_ITS_RESULT),
    ("C8", "a kept input that may be written", instead(Product), KEEPS_ITS_INPUT),
    ("C8", "a guard on what is not needed", through(Guarded), programs.ONE_OUTPUT),
    ("C8", "another gradient once an output was written", through(Watchful), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(*row) for row in _WRONG)
