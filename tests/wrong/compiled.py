"""Implementations whose callable does something else than eager: wrong outputs, gradients, mutations, errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn

from conformance.graph import flat_results, output_descriptors
from conformance.implementation import Implementation, Joint
from generators.program import Const, Node, Program, Ref
from tests import programs
from tests.wrong.base import Corrupted, Wrong, set_results
from tests.wrong.pipeline import GRAD, Spoilt, void
from tests.wrong.soundness import REFUSED

Compiled = Callable[..., Any]
Wrapper = Callable[[Compiled], Compiled]

#: Beside a tensor the forward returns plain values.
PLAIN_VALUES = replace(
    programs.ONE_OUTPUT, outputs=Node("tuple", (Ref("v0"), Const(7), Const(True), Const(None), Const(0.5)))
)
UNUSED_INPUT = replace(programs.TWO_INPUTS, body=(programs.let("v0", "sin", "a0"),))
#: Two outputs that neither alias nor require grad.
TWO_PLAIN_OUTPUTS = replace(
    programs.INFERENCE,
    body=(programs.let("v0", "sin", "a0"), programs.let("v1", "sin", "a0")),
    outputs=programs.outputs("v0", "v1"),
)
#: A view and its base are in the caller's hands, and the view is passed in and written.
MUTATED_VIEW = replace(
    programs.MUTATED_INPUT,
    setup=(programs.let("x2", "slice", "x0", 0, 1),),
    args=(Ref("x2"),),
    body=(*programs.MUTATED_INPUT.body[1:], programs.let("v0", "sin", "self.weight")),
)


class Wrapped(Corrupted):
    """PyTorch's implementation, its callable inside another one."""

    def __init__(self, wrapper: Wrapper) -> None:
        self.wrapper = wrapper

    def wrap(self, compiled: Compiled) -> Compiled:
        """What the function makes of it."""
        return self.wrapper(compiled)


def wrapped(wrapper: Wrapper) -> Callable[[], Implementation]:
    """An implementation with this wrapper."""
    return lambda: Wrapped(wrapper)


def result(change: Callable[[Any], Any]) -> Callable[[], Implementation]:
    """The whole result changed."""
    return wrapped(lambda compiled: lambda *args, **kwargs: change(compiled(*args, **kwargs)))


def leaves(change: Callable[[list[Any]], list[Any]]) -> Callable[[], Implementation]:
    """The flat outputs changed, in their structure."""

    def changed(outputs: Any) -> Any:
        flat, structure = pytree.tree_flatten(outputs)
        return pytree.tree_unflatten(change(flat), structure)

    return result(changed)


def output(index: int, change: Callable[[Any], Any]) -> Callable[[], Implementation]:
    """One flat output changed."""
    return leaves(lambda flat: [change(leaf) if at == index else leaf for at, leaf in enumerate(flat)])


def first(change: Callable[[torch.Tensor], Any]) -> Callable[[], Implementation]:
    """The first flat output changed."""
    return output(0, change)


def given(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Implementation]:
    """The last argument, which is the input of small programs, replaced before the call."""
    return wrapped(lambda compiled: lambda *args: compiled(*args[:-1], change(args[-1])))


def afterwards(act: Callable[[Any], Any]) -> Callable[[], Implementation]:
    """Something done to the last argument after the call."""

    def wrapper(compiled: Compiled) -> Compiled:
        def call(*args: Any) -> Any:
            outputs = compiled(*args)
            with torch.no_grad():
                act(args[-1])
            return outputs

        return call

    return wrapped(wrapper)


def gradient_results(change: Callable[[list[Any]], list[Any]]) -> Callable[[], Implementation]:
    """The nodes that the graph returns as gradients replaced, under the same descriptors."""

    def spoil(joint: Joint) -> None:
        nodes, descriptors = flat_results(joint), output_descriptors(joint)
        start = descriptors.index(GRAD)
        set_results(joint, [*nodes[:start], *change(nodes[start:])], descriptors)

    return lambda: Spoilt(spoil)


def with_hooks(hook: Callable[[Any], None]) -> Callable[[], Implementation]:
    """A hook set on each argument that requires grad, before the call."""

    def wrapper(compiled: Compiled) -> Compiled:
        def call(*args: Any) -> Any:
            for tensor in args:
                if tensor.requires_grad and torch.is_grad_enabled():
                    hook(tensor)
            return compiled(*args)

        return call

    return wrapped(wrapper)


def overwrite_gradient(tensor: Any) -> None:
    """Let a gradient take the place of the one that was there."""
    arrived: list[torch.Tensor] = []
    tensor.register_hook(lambda gradient: arrived.append(gradient.clone()))
    tensor.register_post_accumulate_grad_hook(lambda leaf: setattr(leaf, "grad", arrived.pop()))


def use_the_unused(compiled: Compiled) -> Compiled:
    """The second input reaches the output, times 0."""
    return lambda x, y: (compiled(x, y)[0] + 0 * y,)


class NeedsAll(torch.autograd.Function):
    """Passes two tensors through; its backward wants both cotangents."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
        ctx.set_materialize_grads(False)
        return x.clone(), y.clone()

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        if None in cotangents:
            raise RuntimeError("a cotangent is missing")
        return cotangents


class DropsOne(NeedsAll):
    """Passes two tensors through; without both cotangents it gives no gradients."""

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return (None, None) if None in cotangents else cotangents


def through(function: type[torch.autograd.Function]) -> Callable[[], Implementation]:
    """Both outputs passed through an autograd Function."""
    return leaves(lambda flat: list(function.apply(*flat)))  # type: ignore[no-untyped-call]


def detached_base(view: torch.Tensor) -> torch.Tensor:
    """The same memory and history, but no view that autograd knows of."""
    return Unknown.apply(view)  # type: ignore[no-any-return, no-untyped-call]


class Unknown(torch.autograd.Function):
    """Hands on the memory of its operand."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.empty(0).set_(x.untyped_storage(), x.storage_offset(), x.shape, x.stride())

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return cotangents


def lone_mutation(compiled: Compiled) -> Compiled:
    """The input is written in other memory, which its aliases do not see."""

    def call(*args: Any) -> Any:
        args[-1].data = args[-1].clone()
        return compiled(*args)

    return call


def unwritable(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor as one of several views, which autograd does not let be written."""
    return torch.stack([tensor, tensor]).unbind(0)[0]


def fail(*_: Any) -> Any:
    """An error from inside the implementation."""
    raise AssertionError("self.fake_mode is not None")


def fail_in_backward(tensor: Any) -> Any:
    """Backward from it raises."""
    tensor.register_hook(fail)
    return tensor


class FailingExport(Corrupted):
    """PyTorch's implementation, its export ending in an error of another kind."""

    def export(self, *args: Any, **options: Any) -> Joint:
        """No joint graph."""
        return fail()  # type: ignore[no-any-return]


class Lenient(Corrupted):
    """PyTorch's implementation; what it can't export it takes for the identity."""

    def export(self, stack: ExitStack, module: nn.Module, args: Any, kwargs: Any, **options: Any) -> Joint:
        """The joint graph of the module, or of one that does nothing."""
        try:
            return super().export(stack, module, args, kwargs, **options)
        except RuntimeError:
            return super().export(stack, nn.Identity(), args, kwargs, **options)


def works_once(compiled: Compiled) -> Compiled:
    """The second call raises."""
    calls = itertools.count()
    return lambda *args: fail() if next(calls) else compiled(*args)


def overwriting(compiled: Compiled) -> Compiled:
    """Each call spoils the outputs of the call before."""
    earlier: list[torch.Tensor] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        for output in earlier:
            output.data.zero_()
        outputs = compiled(*args, **kwargs)
        earlier[:] = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
        return outputs

    return call


def stale(compiled: Compiled) -> Compiled:
    """The values of the first call for ever, with the gradients of each."""
    kept: list[torch.Tensor] = []

    def call(*args: Any) -> Any:
        (found,) = compiled(*args)
        kept.append(found.detach().clone())
        return (found + (kept[0] - found.detach()),)

    return call


def only_the_last_call(compiled: Compiled) -> Compiled:
    """A second call takes the gradient from the first."""
    latest = itertools.count()
    current = [0]

    def call(*args: Any) -> Any:
        (found,) = compiled(*args)
        mine = current[0] = next(latest)
        if found.requires_grad:
            found.register_hook(lambda cotangent: cotangent if mine == current[0] else 0 * cotangent)
        return (found,)

    return call


def one_backward(compiled: Compiled) -> Compiled:
    """A second backward through one call doubles its gradient."""

    def call(*args: Any) -> Any:
        (found,) = compiled(*args)
        times = itertools.count(1)
        if found.requires_grad:
            found.register_hook(lambda cotangent: cotangent * next(times))
        return (found,)

    return call


def counting(compiled: Compiled) -> Compiled:
    """Each call adds to what the calls before it gave."""
    calls = itertools.count()
    return lambda *args: tuple(x + next(calls) for x in compiled(*args))


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("C1", "a list for a tuple", result(list), programs.ONE_OUTPUT),
    ("C1", "a single output bare", result(lambda outputs: outputs[0]), programs.ONE_OUTPUT),
    ("C1", "a key too many", result(lambda outputs: {**outputs, "all": ()}), programs.NESTED_STRUCTURES),
    ("C1", "a list flattened", result(lambda outputs: {**outputs, "rest": outputs["rest"][0]}), programs.NESTED_STRUCTURES),
    ("C2", "other values", first(lambda x: x + 0.01), programs.ONE_OUTPUT),
    ("C2", "outputs swapped", leaves(lambda flat: flat[::-1]), programs.TWO_OUTPUTS),
    ("C2", "another stride", first(lambda x: x.t().contiguous().t()), programs.ONE_OUTPUT),
    ("C2", "another dtype", first(lambda x: x.double()), programs.ONE_OUTPUT),
    ("C2", "another shape", first(lambda x: x.unsqueeze(0)), programs.ONE_OUTPUT),
    ("C2", "another type", first(lambda x: nn.Parameter(x, requires_grad=False)), programs.INFERENCE),
    ("C2", "requires_grad lost", first(lambda x: x.detach()), programs.ONE_OUTPUT),
    ("C2", "a leaf", first(lambda x: x.detach().requires_grad_()), programs.ONE_OUTPUT),
    ("C2", "requires_grad gained", first(lambda x: x.requires_grad_()), programs.INFERENCE),
    ("C2", "an integer turned tensor", output(1, torch.tensor), PLAIN_VALUES),
    ("C2", "another integer", output(1, lambda number: number + 1), PLAIN_VALUES),
    ("C2", "a bool turned integer", output(2, int), PLAIN_VALUES),
    ("C2", "None turned tensor", output(3, lambda none: torch.zeros(())), PLAIN_VALUES),
    ("C2", "a tensor turned None", first(lambda x: None), programs.ONE_OUTPUT),
    ("C3", "gradients swapped", gradient_results(lambda nodes: nodes[::-1]), programs.TWO_INPUTS),
    ("C3", "a gradient is None", gradient_results(lambda nodes: [None, *nodes[1:]]), programs.TWO_INPUTS),
    ("C3", "zeros for None", wrapped(use_the_unused), UNUSED_INPUT),
    ("C3", "gradients doubled", with_hooks(lambda x: void(x.register_hook(lambda grad: 2 * grad))), programs.ONE_OUTPUT),
    ("C3", "not accumulated", with_hooks(overwrite_gradient), programs.ONE_OUTPUT),
    ("C3", "an error in backward from one output alone", through(NeedsAll), programs.TWO_OUTPUTS),
    ("C3", "no gradients from one output alone", through(DropsOne), programs.TWO_OUTPUTS),
    ("C4", "a mutation dropped", given(torch.clone), programs.MUTATED_INPUT),
    ("C4", "half a mutation", afterwards(lambda x: x.mul_(0.5)), programs.MUTATED_INPUT),
    ("C4", "a mutation that moves no version counter", given(lambda x: x.data), programs.MUTATED_INPUT),
    ("C4", "a version counter that moves for nothing", afterwards(lambda x: x.add_(0)), programs.INFERENCE),
    ("C4", "a metadata mutation dropped", given(lambda x: x.view_as(x)), programs.METADATA_MUTATED),
    ("C4", "a mutation that aliases do not see", wrapped(lone_mutation), MUTATED_VIEW),
    ("C4", "requires_grad taken", afterwards(lambda x: x.requires_grad_()), programs.TWO_OUTPUTS),
    ("C5", "a view made a copy", output(1, torch.clone), programs.OUTPUT_ALIASES_INPUT),
    ("C5", "views of an intermediate made copies", output(1, torch.clone), programs.OUTPUT_VIEWS_OF_INTERMEDIATE),
    ("C5", "an input returned as a copy", first(torch.clone), programs.OUTPUT_ALIASES_INPUT),
    ("C5", "an input returned as a view", first(lambda x: x.view_as(x)), programs.OUTPUT_ALIASES_INPUT),
    ("C5", "one output twice", leaves(lambda flat: [flat[0], flat[0]]), TWO_PLAIN_OUTPUTS),
    ("C5", "outputs that share memory", leaves(lambda flat: list(torch.stack(flat))), TWO_PLAIN_OUTPUTS),
    ("C5", "a view that autograd does not know", output(1, detached_base), programs.OUTPUT_ALIASES_INPUT),
    ("C5", "an output that can't be written", first(unwritable), programs.ONE_OUTPUT),
    ("C6", "an error where eager has none", wrapped(lambda compiled: fail), programs.ONE_OUTPUT),
    ("C6", "an error in backward where eager has none", first(fail_in_backward), programs.ONE_OUTPUT),
    ("C6", "no export where eager has no error", FailingExport, programs.ONE_OUTPUT),
    ("C6", "an error swallowed", Lenient, REFUSED),
    ("C6", "an assertion for the user's error", FailingExport, REFUSED),
    ("C7", "works once", wrapped(works_once), programs.ONE_OUTPUT),
    ("C7", "the values of the first call", wrapped(stale), programs.ONE_OUTPUT),
    ("C7", "memory of the first call used again", wrapped(overwriting), programs.ONE_OUTPUT),
    ("C7", "no gradient of what is no leaf", given(lambda x: x if x.is_leaf else x.detach()), programs.ONE_OUTPUT),
    ("C7", "state that stays", wrapped(counting), programs.INFERENCE),
    ("C7", "the first of two calls loses its gradient", wrapped(only_the_last_call), programs.ONE_OUTPUT),
    ("C7", "a second backward that counts twice", wrapped(one_backward), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(*row) for row in _WRONG)
