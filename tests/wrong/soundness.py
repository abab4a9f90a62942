"""Implementations whose graph is unsound, whose export is noticed afterwards, or depends on what it should not."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from conformance.graph import flat_results, kind_of, output_descriptors, output_node, placeholders
from conformance.implementation import Implementation, Joint
from generators.program import Leaf, Program, Statement
from tests import programs
from tests.wrong.base import Corrupted, Wrong
from tests.wrong.graph import Covering, Spoil
from tests.wrong.pipeline import GRAD, OUTPUT, PLAIN, TANGENT, Spoilt, more_inputs, more_results

#: Shapes that do not fit: eager refuses, and so does the export.
REFUSED = replace(programs.ONE_OUTPUT, body=(Statement("matmul", ("a0", "a0"), (), ("v0",)),))

#: A training graph that writes an input itself, and the tag of that write.
KEPT_WRITE = replace(
    programs.TWO_INPUTS,
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3), requires_grad=True)),
    body=(programs.change("zero_", "a0"), programs.let("v0", "sin", "a1")),
    options=("keep_inference_input_mutations",),
)
TO_BACKWARD = {"must_be_in_forward": "must_be_in_backward"}


def node_of(joint: Joint, descriptor: Any) -> Any:
    """The placeholder, or the node that is returned, under this descriptor."""
    returned = dict(zip(output_descriptors(joint), flat_results(joint), strict=True))
    return next((n for n in placeholders(joint) if n.meta["desc"] == descriptor), returned.get(descriptor))


def val(descriptor: Any, change: Callable[[torch.Tensor], torch.Tensor | None]) -> Spoil:
    """``meta['val']`` under one descriptor changed."""

    def spoil(joint: Joint) -> None:
        node = node_of(joint, descriptor)
        with joint.fake_mode:
            node.meta["val"] = change(node.meta["val"])

    return spoil


def calls(joint: Joint) -> list[fx.Node]:
    """The nodes that call something."""
    return [node for node in joint.graph_module.graph.nodes if node.op == "call_function"]


def mutates(joint: Joint) -> None:
    """The first op in place of its operand."""
    calls(joint)[0].target = torch.ops.aten.sin_.default
    joint.graph_module.recompile()


def used_before_defined(joint: Joint) -> None:
    """The first node whose result another op needs comes last."""
    needed = next(node for node in calls(joint) if any(user.op == "call_function" for user in node.users))
    output_node(joint).prepend(needed)


def named_cosine(x: torch.Tensor) -> torch.Tensor:
    """Sine, by a name under which generated code calls another function."""
    return torch.sin(x)


named_cosine.__module__, named_cosine.__name__ = "torch", "cos"


def printed_as_cosine(joint: Joint) -> None:
    """The first op is another one for the interpreter than in the generated code."""
    calls(joint)[0].target = named_cosine
    joint.graph_module.recompile()


def forgotten_on_deepcopy(joint: Joint) -> None:
    """A copy of the graph module has no descriptors. Each graph module has a class of its own."""

    def copied(module: fx.GraphModule, memo: Any) -> fx.GraphModule:
        twin = fx.GraphModule.__deepcopy__(module, memo)
        for node in twin.graph.nodes:
            node.meta.pop("desc", None)
        return twin

    type(joint.graph_module).__deepcopy__ = copied  # type: ignore[assignment, method-assign]


TURNED = {"is_forward": "is_backward", "is_backward": "is_forward"}


def tags(change: Callable[[str], str | None], which: Callable[[fx.Node], bool] = lambda node: True) -> Spoil:
    """The partitioner tag of some nodes changed."""

    def spoil(joint: Joint) -> None:
        for node in filter(which, joint.graph_module.graph.nodes):
            node.meta["partitioner_tag"] = change(node.meta.get("partitioner_tag", ""))

    return spoil


def is_tangent(node: fx.Node) -> bool:
    """Whether the node is a tangent's placeholder."""
    return kind_of(node.meta.get("desc")) == "TangentAOTInput"


def no_seq_nr(joint: Joint) -> None:
    """The first op has no sequence number."""
    del calls(joint)[0].meta["seq_nr"]


def hash_of_the_graph(joint: Joint) -> dict[str, Any]:
    """A right hash; PyTorch's own differs from export to export."""
    return {"cache_hash": lambda: hashlib.sha256(joint.graph_module.code.encode()).hexdigest()}


def hashes(function: Callable[[], str]) -> Callable[[], Covering]:
    """An implementation whose hash is what the function says."""
    return lambda: Covering(lambda joint: {"cache_hash": function})


class Disturbing(Corrupted):
    """PyTorch's implementation, that does something to the module or the inputs before each export."""

    def __init__(self, disturb: Callable[[Any, Any], Any]) -> None:
        self.disturb = disturb

    def export(self, stack: ExitStack, module: Any, args: Any, kwargs: Any, **options: Any) -> Joint:
        """The joint graph of PyTorch; after it, the export's modes would keep the disturbance from being seen."""
        with torch.no_grad():
            self.disturb(module, args)
        return super().export(stack, module, args, kwargs, **options)


def disturbs(disturb: Callable[[Any, Any], Any]) -> Callable[[], Disturbing]:
    """An implementation that does this before each export."""
    return lambda: Disturbing(disturb)


def another_weight(module: Any, args: Any) -> None:
    """The module has another parameter of the same values."""
    module.weight = nn.Parameter(module.weight)


class OnlyTheFirst(Corrupted):
    """PyTorch's implementation, each export but the first spoilt."""

    def __init__(self, spoil: Spoil) -> None:
        self.spoil, self.exports = spoil, itertools.count()

    def corrupt(self, joint: Joint) -> None:
        """Spoil it if it is not the first."""
        if next(self.exports):
            self.spoil(joint)


def later(spoil: Spoil) -> Callable[[], OnlyTheFirst]:
    """An implementation that spoils each export but the first."""
    return lambda: OnlyTheFirst(spoil)


def first_call_twice(joint: Joint) -> None:
    """The first op once more, for nothing."""
    first = calls(joint)[0]
    with joint.graph_module.graph.inserting_after(first):
        joint.graph_module.graph.node_copy(first)


def fails(joint: Joint) -> None:
    """The export ends in an error."""
    raise RuntimeError("no more exports")


def spoilt(spoil: Spoil) -> Callable[[], Spoilt]:
    """An implementation whose joint graph is spoilt by the function."""
    return lambda: Spoilt(spoil)


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("J10", "a hash that is not hexadecimal", hashes(lambda: "g" * 64), programs.ONE_OUTPUT),
    ("J10", "a short hash", hashes(lambda: "0" * 40), programs.ONE_OUTPUT),
    ("J10", "one hash for all programs", hashes(lambda: "0" * 64), programs.ONE_OUTPUT),
    ("J11", "an input of another shape", spoilt(val(PLAIN, lambda x: x[:1])), programs.ONE_OUTPUT),
    ("J11", "an input of another stride", spoilt(val(PLAIN, lambda x: x.t().contiguous().t())), programs.ONE_OUTPUT),
    ("J11", "an input of another dtype", spoilt(val(PLAIN, lambda x: x.double())), programs.ONE_OUTPUT),
    ("J11", "an input of another device", spoilt(val(PLAIN, lambda x: x.to("meta"))), programs.ONE_OUTPUT),
    ("J11", "an input without val", spoilt(val(PLAIN, lambda x: None)), programs.ONE_OUTPUT),
    ("J11", "a tangent of another shape", spoilt(val(TANGENT, lambda x: x[:1])), programs.ONE_OUTPUT),
    ("J11", "a gradient of another dtype", spoilt(val(GRAD, lambda x: x.double())), programs.ONE_OUTPUT),
    ("J12", "an op in place", spoilt(mutates), programs.ONE_OUTPUT),
    ("J13", "used before it is defined", spoilt(used_before_defined), programs.TWO_OUTPUTS),
    ("J13", "generated code that differs", spoilt(printed_as_cosine), programs.ONE_OUTPUT),
    ("J13", "no descriptors after a deepcopy", spoilt(forgotten_on_deepcopy), programs.ONE_OUTPUT),
    ("J14", "forward and backward swapped", spoilt(tags(lambda tag: TURNED.get(tag, tag))), programs.TWO_INPUTS),
    ("J14", "all is forward", spoilt(tags(lambda tag: "is_forward")), programs.TWO_INPUTS),
    ("J14", "all is backward", spoilt(tags(lambda tag: "is_backward")), programs.TWO_INPUTS),
    ("J14", "tangents without a tag", spoilt(tags(lambda tag: None, is_tangent)), programs.TWO_INPUTS),
    ("J14", "no tags at all", spoilt(tags(lambda tag: None)), programs.ONE_OUTPUT),
    ("J14", "a kept write in the backward", spoilt(tags(lambda tag: TO_BACKWARD.get(tag, tag))), KEPT_WRITE),
    ("J14", "an op without seq_nr", spoilt(no_seq_nr), programs.TWO_INPUTS),
    ("J15", "writes a buffer", disturbs(lambda module, args: module.count.data.add_(1)), programs.BUFFERS_MUTATED),
    ("J15", "writes an input", disturbs(lambda module, args: args[0].data.add_(1)), programs.ONE_OUTPUT),
    ("J15", "bumps a version", disturbs(lambda module, args: args[0].add_(0)), programs.ONE_OUTPUT),
    ("J15", "leaves a gradient", disturbs(lambda module, args: setattr(args[0], "grad", args[0].clone())), programs.ONE_OUTPUT),
    ("J15", "takes requires_grad", disturbs(lambda module, args: args[0].requires_grad_(False)), programs.ONE_OUTPUT),
    ("J15", "turns the metadata of an input", disturbs(lambda module, args: args[0].t_()), programs.INFERENCE),
    ("J15", "draws a random number", disturbs(lambda module, args: torch.rand(())), programs.ONE_OUTPUT),
    ("J15", "leaves an attribute", disturbs(lambda module, args: setattr(module, "traced", True)), programs.ONE_OUTPUT),
    ("J15", "leaves an attribute where it fails", disturbs(lambda module, args: setattr(module, "traced", True)), REFUSED),
    ("J15", "leaves evaluation mode", disturbs(lambda module, args: module.eval()), programs.ONE_OUTPUT),
    ("J15", "leaves another parameter", disturbs(another_weight), programs.TWO_OUTPUTS),
    ("J15", "leaves a module's hook", disturbs(lambda module, args: module.register_forward_hook(print)), programs.ONE_OUTPUT),
    ("J15", "leaves a tensor's hook", disturbs(lambda module, args: args[0].register_hook(print)), programs.ONE_OUTPUT),
    ("J16", "a tangent for inference", spoilt(more_inputs(TANGENT)), programs.INFERENCE),
    ("J16", "a gradient for inference", spoilt(more_results(GRAD)), programs.INFERENCE),
    ("J17", "another node", later(first_call_twice), programs.ONE_OUTPUT),
    ("J17", "another descriptor", later(more_results(OUTPUT)), programs.ONE_OUTPUT),
    ("J17", "no second export", later(fails), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = (
    *(Wrong(rule, title, implementation, program) for rule, title, implementation, program in _WRONG),
    Wrong(
        "J10",
        "another hash each time",
        hashes(lambda: secrets.token_hex(32)),
        programs.ONE_OUTPUT,
        right=lambda: Covering(hash_of_the_graph),
    ),
)
