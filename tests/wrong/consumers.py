"""Implementations whose joint graph lacks what its consumers rely on: J19, and J21 to J29."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
import torch._functorch._aot_autograd.descriptors as d
from torch import fx, nn
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.traceback import annotate
from torch.overrides import BaseTorchFunctionMode

from conformance.graph import flat_results, is_backward, output_descriptors, placeholders
from conformance.implementation import Implementation, Joint
from conformance.pytorch import PyTorch
from generators.program import Leaf, Program, State, Statement
from tests import programs
from tests.wrong.base import Corrupted, Wrong, add_input, change_inputs, drop_output, set_results
from tests.wrong.graph import Covering, Spoil, swap
from tests.wrong.pipeline import GRAD, PLAIN, TANGENT, more_results
from tests.wrong.soundness import calls, node_of, spoilt, val

Make = Callable[[], Implementation]

WEIGHT, SECOND = d.ParamAOTInput("weight"), d.PlainAOTInput(1)
COUNT = d.BufferAOTInput("count")
BASE_TANGENT = d.TangentAOTInput(d.IntermediateBaseAOTOutput(d.PlainAOTOutput(0)))

#: Made here, since an export has modes of its own on.
REAL = torch.ones(2, 3)
SYMBOLIC = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(torch.ones(5, 7))

#: The output is dense, but not contiguous.
TRANSPOSED = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "t", "a0"), programs.let("v1", "sin", "v0")))
TRANSPOSED = replace(TRANSPOSED, outputs=programs.outputs("v1"))
UNUSED_PARAMETER = replace(
    programs.ONE_OUTPUT,
    leaves=(*programs.ONE_OUTPUT.leaves, Leaf("x1", (2, 3), requires_grad=True, parameter=True)),
    state=(State("weight", "x1"),),
)
#: Its derivative by the second operand is zero, and added to the other in the backward.
COPYSIGN = replace(programs.ONE_OUTPUT, body=(Statement("copysign", ("a0", "a0"), (), ("v0",)),))
#: Shapes that do not fit.
REFUSED = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "select", "a0", 0, 9),))


def called(old: Any, new: Any) -> Make:
    """The placeholder of one descriptor called by another."""
    return spoilt(lambda joint: change_inputs(joint, lambda descriptor: new if descriptor == old else descriptor))


def slots_swapped(joint: Joint) -> None:
    """The first two gradients in each other's place, each under its own descriptor."""
    results, descriptors = flat_results(joint), output_descriptors(joint)
    grads = [d.GradAOTOutput(PLAIN), d.GradAOTOutput(SECOND)]
    set_results(joint, [results[descriptors.index(swap(*grads)(x))] for x in descriptors], list(map(swap(*grads), descriptors)))


def named(descriptor: Any, name: str) -> Make:
    """The placeholder of the descriptor by another name."""

    def spoil(joint: Joint) -> None:
        node_of(joint, descriptor).target = name
        joint.graph_module.recompile()

    return spoilt(spoil)


def without_placeholder(descriptor: Any) -> Make:
    """What nothing uses is no input, and has no gradient slot."""

    def spoil(joint: Joint) -> None:
        drop_output(joint, lambda other: other == d.GradAOTOutput(descriptor))
        joint.graph_module.graph.erase_node(next(n for n in placeholders(joint) if n.meta["desc"] == descriptor))
        joint.graph_module.recompile()

    return spoilt(spoil)


def gradient_is_the_tangent(joint: Joint) -> None:
    """The gradient of the unused parameter is something."""
    descriptors = output_descriptors(joint)
    tangent = node_of(joint, TANGENT)
    results = [tangent if x == d.GradAOTOutput(WEIGHT) else r for x, r in zip(descriptors, flat_results(joint))]
    set_results(joint, results, descriptors)


def first_call(change: Callable[[fx.Node], Any]) -> Make:
    """The first call changed."""
    return spoilt(lambda joint: change(calls(joint)[0]))


def of_another_mode(joint: Joint) -> None:
    """The first call's val is a fake tensor of another mode."""
    calls(joint)[0].meta["val"] = FakeTensorMode().from_tensor(REAL)


class Annotating(Corrupted):
    """PyTorch's implementation, the whole forward annotated, the graph spoilt."""

    def __init__(self, spoil: Spoil = lambda joint: None) -> None:
        self.spoil = spoil

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph of the annotated module."""
        forward = module.forward

        def annotated(*args: Any, **kwargs: Any) -> Any:
            with annotate({"part": "one"}):
                return forward(*args, **kwargs)

        module.forward = annotated  # type: ignore[method-assign]
        try:
            return super().export(stack, module, args, kwargs, **options)
        finally:
            del module.forward

    def corrupt(self, joint: Joint) -> None:
        """Spoil it by the function."""
        self.spoil(joint)


def backward(change: Callable[[fx.Node], Any]) -> Make:
    """Each call of the backward changed, where the forward is annotated."""
    return lambda: Annotating(lambda joint: [change(node) for node in calls(joint) if is_backward(node)][:0])  # type: ignore[arg-type, return-value]


def one_dict(joint: Joint) -> None:
    """All nodes hold one annotation."""
    for node in calls(joint):
        node.meta["custom"] = calls(joint)[0].meta["custom"]


class Leaving(Corrupted):
    """PyTorch's implementation, that leaves something behind."""

    def __init__(self, leave: Callable[[], object]) -> None:
        self.leave = leave

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph, or its error; what was first on the stack is closed last."""
        stack.callback(self.leave)
        return super().export(stack, module, args, kwargs, **options)


def leaves(leave: Callable[[], object]) -> Make:
    """An implementation that leaves this behind."""
    return lambda: Leaving(leave)


class Specializing(Corrupted):
    """PyTorch's implementation, that keeps the sizes of what Dynamo captured, and then is spoilt there."""

    def __init__(self, spoil: Spoil = lambda joint: None) -> None:
        self.spoil = spoil

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph for the sizes of the example tensors."""
        joint = super().export(stack, module, args, kwargs, **options, ignore_shape_env=True)
        if isinstance(module, fx.GraphModule):
            self.spoil(joint)
        return joint

    def export_options(self) -> frozenset[str]:
        """None: the one that there is, is set."""
        return frozenset()


def last_input_is_symbolic(joint: Joint) -> None:
    """One placeholder of symbolic sizes among others."""
    placeholders(joint)[-1].meta["val"] = SYMBOLIC


def captured(change: Callable[[fx.Node], Any]) -> Make:
    """The first call changed, where Dynamo captured the module."""
    return lambda: Specializing(lambda joint: change(calls(joint)[0]))


def into_torch(node: fx.Node) -> None:
    """A stack trace that ends in torch."""
    node.stack_trace = 'File "torch/nn/modules/module.py", line 1, in _call_impl'


_WRONG: tuple[tuple[str, str, Make, Program], ...] = (
    ("J19", "a parameter behind a base", called(WEIGHT, d.ViewBaseAOTInput(WEIGHT)), programs.TWO_OUTPUTS),
    ("J19", "a buffer as an input", called(COUNT, d.PlainAOTInput(7)), programs.BUFFERS_MUTATED),
    ("J19", "a parameter twice", spoilt(lambda joint: add_input(joint, WEIGHT) and None), programs.TWO_OUTPUTS),
    ("J19", "an unused parameter is dropped", without_placeholder(WEIGHT), UNUSED_PARAMETER),
    ("J21", "no slot without a gradient", spoilt(lambda joint: drop_output(joint, lambda x: x is None)), programs.TWO_OUTPUTS),
    ("J21", "a slot too many", spoilt(more_results(GRAD)), programs.ONE_OUTPUT),
    ("J21", "gradients in another order", spoilt(slots_swapped), programs.TWO_INPUTS),
    ("J22", "an input by another name", named(PLAIN, "x"), programs.ONE_OUTPUT),
    ("J22", "a tangent by another name", named(TANGENT, "grad_1"), programs.ONE_OUTPUT),
    ("J22", "an input called a tangent", named(PLAIN, "primals_tangents_1"), programs.ONE_OUTPUT),
    ("J22", "a tangent called a primal", named(TANGENT, "primals_2"), programs.ONE_OUTPUT),
    ("J23", "an unused parameter is dropped", without_placeholder(WEIGHT), UNUSED_PARAMETER),
    ("J23", "an unused parameter has a gradient", spoilt(gradient_is_the_tangent), UNUSED_PARAMETER),
    ("J24", "a call without val", first_call(lambda node: node.meta.pop("val")), programs.ONE_OUTPUT),
    ("J24", "an input without val", spoilt(val(PLAIN, lambda x: None)), programs.ONE_OUTPUT),
    ("J24", "a tangent without val", spoilt(val(TANGENT, lambda x: None)), programs.ONE_OUTPUT),
    ("J24", "a real val", first_call(lambda node: node.meta.update(val=REAL)), programs.ONE_OUTPUT),
    ("J24", "a val of another mode", spoilt(of_another_mode), programs.ONE_OUTPUT),
    ("J24", "another fake_mode", lambda: Covering(lambda joint: {"fake_mode": FakeTensorMode()}), programs.INFERENCE),
    ("J26", "a contiguous tangent", spoilt(val(TANGENT, lambda x: x.contiguous())), TRANSPOSED),
    ("J26", "a transposed tangent", spoilt(val(TANGENT, lambda x: x.t().contiguous().t())), programs.ONE_OUTPUT),
    (
        "J26",
        "a transposed tangent of a base",
        spoilt(val(BASE_TANGENT, lambda x: x.t().contiguous().t())),
        programs.OUTPUT_VIEWS_OF_INTERMEDIATE,
    ),
    ("J27", "a fake mode is left on", leaves(lambda: FakeTensorMode().__enter__()), programs.ONE_OUTPUT),
    ("J27", "a fake mode is left on where the export fails", leaves(lambda: FakeTensorMode().__enter__()), REFUSED),
    ("J27", "a function mode is left on", leaves(lambda: BaseTorchFunctionMode().__enter__()), programs.ONE_OUTPUT),
    ("J27", "the grad mode is left off", leaves(lambda: torch.set_grad_enabled(False)), programs.INFERENCE),
    ("J29", "no stack trace", captured(lambda node: node.meta.pop("stack_trace")), programs.ONE_OUTPUT),
    ("J29", "a stack trace into torch", captured(into_torch), programs.INFERENCE),
)

WRONG: tuple[Wrong, ...] = (
    *(Wrong(rule, title, implementation, program) for rule, title, implementation, program in _WRONG),
    *(
        Wrong("J25", title, implementation, programs.TWO_INPUTS, right=Annotating)
        for title, implementation in (
            ("no annotations in the backward", backward(lambda node: node.meta.pop("custom"))),
            ("other annotations in the backward", backward(lambda node: node.meta.update(custom={"part": "two"}))),
            ("one dict for all", lambda: Annotating(one_dict)),
            ("seq_nr of no forward node", backward(lambda node: node.meta.update(seq_nr=7_000_000))),
            ("no seq_nr in the backward", backward(lambda node: node.meta.pop("seq_nr"))),
        )
    ),
    Wrong("J25", "none beside a zero gradient", backward(lambda n: n.meta.pop("custom", None)), COPYSIGN, right=Annotating),
    *(
        Wrong("J28", title, implementation, program, right=Specializing)
        for title, implementation, program in (
            ("all sizes turn symbolic", PyTorch, programs.ONE_OUTPUT),
            ("all sizes turn symbolic in inference", PyTorch, programs.INFERENCE),
            ("one size turns symbolic", lambda: Specializing(last_input_is_symbolic), programs.TWO_INPUTS),
        )
    ),
)
