"""Implementations that are right on the plain way from an export to a callable, and wrong on another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx, nn

from conformance.graph import flat_results, output_descriptors
from conformance.implementation import Implementation, Joint
from generators.program import Program
from tests import programs
from tests.wrong.base import Corrupted, Wrong, set_results
from tests.wrong.graph import ReadOnly

Compiled = Callable[..., Any]
Check = Callable[[Joint], None]

SIGMOID = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "sigmoid", "a0"),))


class Compiling(Corrupted):
    """A callable inside another one."""

    def __init__(self, wrapper: Callable[[Compiled], Compiled]) -> None:
        self.wrap = wrapper  # type: ignore[method-assign]


def compiling(wrapper: Callable[[Compiled], Compiled]) -> Callable[[], Implementation]:
    """An implementation with this wrapper."""
    return lambda: Compiling(wrapper)


def under_dynamo(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Compiled], Compiled]:
    """A callable that gives something else where Dynamo traces it."""

    def wrapper(compiled: Compiled) -> Compiled:
        def call(*args: Any) -> Any:
            (output,) = compiled(*args)
            return (change(output) if torch.compiler.is_compiling() else output,)

        return call

    return wrapper


class HalfTheGradient(torch.autograd.Function):
    """Hands its operand on, and halves the cotangent."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return 0.5 * cotangents[0]


class Loading(Corrupted):
    """The bytes that were saved, or what was loaded, changed."""

    def __init__(self, change: Callable[[Compiled], Compiled], saves: Callable[[bytes], bytes] = bytes) -> None:
        self.change, self.saves = change, saves

    def saved(self, compiled: Compiled) -> bytes:
        """The bytes, changed."""
        return self.saves(super().saved(compiled))

    def loaded(self, data: bytes) -> Compiled:
        """The callable, changed."""
        return self.change(super().loaded(data))


def loading(change: Callable[[list[Any]], list[Any]]) -> Callable[[], Implementation]:
    """The flat outputs of what was loaded changed."""
    return lambda: Loading(lambda loaded: lambda *args: change(loaded(*args)))


def loses_the_buffers(loaded: Compiled) -> Compiled:
    """What was loaded writes copies of its arguments."""
    return lambda *args: loaded(*(arg if arg.requires_grad else arg.clone() for arg in args))


class Unserialized(Corrupted):
    """A callable that is to be serializable gives no gradients."""

    def compile(self, joint: Joint, **options: Any) -> Compiled:
        """The callable, without gradients where it was asked to be serializable."""
        if set(options) != {"serializable"}:
            return super().compile(joint, **options)
        compiled = super().compile(joint)
        return lambda *args: pytree.tree_map(torch.Tensor.detach, compiled(*args))


class Covered(Corrupted):
    """A joint that takes no other graph module, and does not say so."""

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """PyTorch's joint behind one that is read-only."""
        return ReadOnly(super().export(stack, module, args, kwargs, **options), {})


class Checked(Corrupted):
    """The edited graph is looked at before the compile, refused or changed."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def compile(self, joint: Joint, **options: Any) -> Compiled:
        """The callable of the graph as the check leaves it."""
        self.check(joint)
        return super().compile(joint, **options)


def checked(check: Check) -> Callable[[], Implementation]:
    """An implementation with this check."""
    return lambda: Checked(check)


def only_known_names(joint: Joint) -> None:
    """Calls under another name than their op's are refused."""
    if any(node.name.startswith("renamed") for node in joint.graph_module.graph.nodes):
        raise KeyError("renamed")


def recomputed_wrongly(joint: Joint) -> None:
    """What is tagged to be computed again is computed otherwise."""
    for node in joint.graph_module.graph.nodes:
        if "recompute" in node.meta and node.target is torch.ops.aten.sigmoid.default:
            node.target = torch.ops.aten.tanh.default
    joint.graph_module.recompile()


def _gathered(joint: Joint) -> list[fx.Node]:
    return [n for n in joint.graph_module.graph.nodes if n.target is torch.ops.conformance.gather_rows.default]


def only_the_same_sizes(joint: Joint) -> None:
    """A parameter of another size is refused."""
    if _gathered(joint):
        raise RuntimeError("a parameter is not as it was exported")


def shard_for_the_whole(joint: Joint) -> None:
    """The gathered parameter is the shard, twice."""
    for node in _gathered(joint):
        node.target, node.args = torch.ops.aten.cat.default, ([node.args[0], node.args[0]],)
    joint.graph_module.recompile()


def gradient_of_the_shard_lost(joint: Joint) -> None:
    """A gradient of another size than before is no more returned."""
    nodes = flat_results(joint)
    narrowed = [isinstance(node, fx.Node) and "slice" in str(node.args) for node in nodes]
    set_results(joint, [None if lost else node for node, lost in zip(nodes, narrowed)], output_descriptors(joint))


class Closed(Corrupted):
    """Once its stack is closed, what the compile gives is wrong."""

    def __init__(self, spoil: Check) -> None:
        self.spoil = spoil
        self.is_open = False

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint, and whether the stack is open."""
        self.is_open = True
        stack.callback(setattr, self, "is_open", False)
        return super().export(stack, module, args, kwargs, **options)

    def compile(self, joint: Joint, **options: Any) -> Compiled:
        """The callable, spoilt once the stack is closed."""
        if not self.is_open:
            self.spoil(joint)
        return super().compile(joint, **options)


def closed(spoil: Check) -> Callable[[], Implementation]:
    """An implementation that a closed stack spoils so."""
    return lambda: Closed(spoil)


def no_mode(joint: Joint) -> None:
    """An assertion that means nothing to the user."""
    raise AssertionError("fake_mode is not None")


def other_op(joint: Joint) -> None:
    """Every sine is a cosine."""
    for node in joint.graph_module.graph.nodes:
        node.target = torch.ops.aten.cos.default if node.target is torch.ops.aten.sin.default else node.target
    joint.graph_module.recompile()


class Twice(Corrupted):
    """A second compile of one joint gives what ``second`` makes of the first callable and what both share."""

    def __init__(self, second: Callable[[Compiled, list[Any]], Compiled]) -> None:
        self.second = second
        self.known: dict[int, tuple[Joint, Compiled, list[Any]]] = {}

    def compile(self, joint: Joint, **options: Any) -> Compiled:
        """The callable; its outputs are multiplied by what the joint's list holds."""
        if id(joint) in self.known:
            return self.second(*self.known[id(joint)][1:])
        factors: list[Any] = []
        compiled = super().compile(joint, **options)

        def call(*args: Any) -> Any:
            (output,) = compiled(*args)
            for factor in factors:
                output = output * factor
            return (output,)

        self.known[id(joint)] = (joint, call, factors)
        return call


def twice(second: Callable[[Compiled, list[Any]], Compiled]) -> Callable[[], Implementation]:
    """An implementation with such a second compile."""
    return lambda: Twice(second)


def slips(first: Compiled, factors: list[Any]) -> Compiled:
    """A slip inside the implementation."""
    raise AttributeError("'NoneType' object has no attribute 'graph'")


def other_values(first: Compiled, factors: list[Any]) -> Compiled:
    """Another result."""
    return lambda *args: (first(*args)[0] + 1,)


def no_gradient(first: Compiled, factors: list[Any]) -> Compiled:
    """No gradient."""
    return lambda *args: (first(*args)[0].detach(),)


def shared_state(first: Compiled, factors: list[Any]) -> Compiled:
    """The second callable leaves its mark on what both share."""

    def call(*args: Any) -> Any:
        factors.append(2)
        return first(*args)

    return call


def spoils_the_first(first: Compiled, factors: list[Any]) -> Compiled:
    """The first callable is another one from now on."""
    factors.append(2)
    raise ValueError("this joint was compiled already")


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("C10", "not to be compiled again", compiling(torch._dynamo.disable), programs.ONE_OUTPUT),
    ("C10", "other values when compiled again", compiling(under_dynamo(lambda x: x + 1)), programs.ONE_OUTPUT),
    ("C10", "no gradient when compiled again", compiling(under_dynamo(torch.Tensor.detach)), programs.TWO_INPUTS),
    ("C10", "another gradient when compiled again", compiling(under_dynamo(HalfTheGradient.apply)), programs.ONE_OUTPUT),
    ("C11", "other values when loaded", loading(lambda flat: [x + 1 for x in flat]), programs.TWO_OUTPUTS),
    ("C11", "outputs in another order when loaded", loading(lambda flat: flat[::-1]), programs.TWO_OUTPUTS),
    ("C11", "no gradients when loaded", loading(lambda flat: [x.detach() for x in flat]), programs.TWO_OUTPUTS),
    ("C11", "buffers lost when loaded", lambda: Loading(loses_the_buffers), programs.BUFFERS_MUTATED),
    ("C11", "nothing to load", lambda: Loading(lambda loaded: loaded, lambda data: data[:10]), programs.TWO_OUTPUTS),
    ("C11", "no gradients when serializable", Unserialized, programs.ONE_OUTPUT),
    ("C12", "a graph module that can't be replaced", Covered, programs.ONE_OUTPUT),
    ("C12", "names that must stay", checked(only_known_names), programs.ONE_OUTPUT),
    ("C12", "tags to compute again that change what is computed", checked(recomputed_wrongly), SIGMOID),
    ("C12", "a parameter whose size must stay", checked(only_the_same_sizes), programs.TWO_OUTPUTS),
    ("C12", "a shard taken for the whole", checked(shard_for_the_whole), programs.TWO_OUTPUTS),
    ("C12", "a shard without gradient", checked(gradient_of_the_shard_lost), programs.TWO_OUTPUTS),
    ("C15", "an assertion after the stack is closed", closed(no_mode), programs.ONE_OUTPUT),
    ("C15", "other values after the stack is closed", closed(other_op), programs.ONE_OUTPUT),
    ("C17", "a second compile that slips", twice(slips), programs.ONE_OUTPUT),
    ("C17", "a second callable of other values", twice(other_values), programs.ONE_OUTPUT),
    ("C17", "a second callable without gradient", twice(no_gradient), programs.ONE_OUTPUT),
    ("C17", "a second callable that shares state", twice(shared_state), programs.ONE_OUTPUT),
    ("C17", "a second compile that spoils the first callable", twice(spoils_the_first), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(*row) for row in _WRONG)
