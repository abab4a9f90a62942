"""Effectful ops, which leave their marks in order, and where they leave them."""

import sys

import torch

from generators.preludes.custom import custom_op

#: What the effectful ops did, in order: the op's name, and a number that tells what it was called with; of a
#: print its text. One list a process, as the ops are.
EFFECTS: list[tuple[str, object]] = vars(torch.ops.joint_conformance).setdefault("EFFECTS", [])


def mark(name, x):
    """A number that no rounding changes: how many elements are large."""
    EFFECTS.append((name, int((x.detach().abs() > 0.5).sum())))


class Listening:
    """While it is entered, effects are told from the beginning, and what is printed is one."""

    def __enter__(self):
        EFFECTS.clear()
        self.stdout, sys.stdout = sys.stdout, self

    def __exit__(self, *error):
        sys.stdout = self.stdout

    def write(self, text):
        if text.strip():
            EFFECTS.append(("print", text.strip()))


def ordered(op):
    """The custom op, registered as an effect that keeps its place; a torch that can't ends the script with 2."""
    try:
        if hasattr(op, "register_effect"):
            op.register_effect(torch.library.EffectType.ORDERED)
        else:
            effects = torch._higher_order_ops.effects
            effects._register_effectful_op(op._opoverload, effects._EffectType.ORDERED)
    except AttributeError as error:
        print(f"ERROR: {error}")
        raise SystemExit(2) from error
    return op


@ordered
@custom_op("note")
def note(x: torch.Tensor) -> None:
    mark("note", x)


@note.register_fake
def _(x):
    return None


@ordered
@custom_op("noted")
def noted(x: torch.Tensor) -> torch.Tensor:
    mark("noted", x)
    return x.clone()


@noted.register_fake
def _(x):
    return torch.empty_like(x)


noted.register_autograd(lambda ctx, gradient: gradient)


@ordered
@custom_op("noted_both_ways")
def noted_both_ways(x: torch.Tensor) -> torch.Tensor:
    mark("noted_both_ways", x)
    return x.clone()


@noted_both_ways.register_fake
def _(x):
    return torch.empty_like(x)


noted_both_ways.register_autograd(lambda ctx, gradient: noted(gradient * 2))


class NotedBackward(torch.autograd.Function):
    """The effect is in the backward alone."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return noted(gradient * 2)


def printed(x):
    torch.ops.higher_order.print("{} elements", x.numel())
