"""What a wrong implementation is built on: PyTorch's own, with one thing spoilt.

Override ``corrupt`` to spoil the exported joint graph, or ``wrap`` to spoil the compiled callable, and
list it in the chapter's WRONG, with the rule that must catch it and a program that shows the fault.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import fx, nn

from conformance.graph import flat_results, output_descriptors, output_node, placeholders
from conformance.implementation import Implementation, Joint
from conformance.named import Stated
from conformance.pytorch import PyTorch
from generators.program import Program

#: A descriptor, or None, changed into another.
Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Wrong:
    """An implementation, on a program, that its rule must catch; for the vocabulary a namespace of classes.

    ``implementation`` makes a new one: a class, or any function without arguments. ``right`` makes the one
    that the rule must let pass: PyTorch's own, except where that can't show the rule at work. ``stated`` are the
    descriptors that the program of a named case must have.
    """

    rule: str
    title: str
    implementation: Callable[[], Implementation] | None = None
    program: Program | None = None
    namespace: Any = None
    right: Callable[[], Implementation] = PyTorch
    stated: Stated | None = None


class Corrupted(PyTorch):
    """PyTorch's implementation, except for what a subclass spoils."""

    name = "corrupted"

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph of PyTorch after ``corrupt``."""
        joint = super().export(stack, module, args, kwargs, **options)
        self.corrupt(joint)
        return joint

    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        """The callable of PyTorch inside ``wrap``."""
        return self.wrap(super().compile(joint, **options))

    def corrupt(self, joint: Joint) -> None:
        """Spoil the joint graph in place."""

    def wrap(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """Something wrong to be called like ``compiled``: parameters, buffers, args and kwargs."""
        return compiled


def change_inputs(joint: Joint, change: Change) -> None:
    """Replace the descriptor of each placeholder."""
    for node in placeholders(joint):
        node.meta["desc"] = change(node.meta["desc"])


def change_outputs(joint: Joint, change: Change) -> None:
    """Replace the descriptor of each flat output."""
    set_output_descriptors(joint, list(map(change, output_descriptors(joint))))


def set_output_descriptors(joint: Joint, descriptors: list[Any]) -> None:
    """Give the output node these descriptors."""
    output_node(joint).meta["desc"] = descriptors


def set_results(joint: Joint, results: list[Any], descriptors: list[Any]) -> None:
    """Let the graph return these nodes and constants, under these descriptors."""
    output_node(joint).args = (results,)
    set_output_descriptors(joint, descriptors)
    joint.graph_module.recompile()


def add_input(joint: Joint, descriptor: Any) -> fx.Node:
    """Append a placeholder under this descriptor; it looks like the last one."""
    last = placeholders(joint)[-1]
    with joint.graph_module.graph.inserting_after(last):
        node = joint.graph_module.graph.placeholder("added")
    node.meta = {**last.meta, "desc": descriptor}
    joint.graph_module.recompile()
    return node


def add_output(joint: Joint, descriptor: Any) -> None:
    """Return the first result once more at the end, under this descriptor."""
    results = flat_results(joint)
    set_results(joint, [*results, results[0]], [*output_descriptors(joint), descriptor])


def drop_output(joint: Joint, unwanted: Callable[[Any], bool]) -> None:
    """Return no longer what is under an unwanted descriptor."""
    pairs = zip(flat_results(joint), output_descriptors(joint), strict=True)
    kept = [(node, descriptor) for node, descriptor in pairs if not unwanted(descriptor)]
    set_results(joint, [node for node, _ in kept], [descriptor for _, descriptor in kept])
