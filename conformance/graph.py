"""Reading a joint graph: its placeholders, its output, their descriptors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx

from conformance.implementation import Joint


def placeholders(joint: Joint) -> list[fx.Node]:
    """The graph's placeholders, in order."""
    return list(joint.graph_module.graph.find_nodes(op="placeholder"))


def output_node(joint: Joint) -> fx.Node:
    """The graph's output node."""
    return joint.graph_module.graph.output_node()


def flat_results(joint: Joint) -> list[Any]:
    """What the graph returns: a node, None or a constant for each flat output."""
    return list(output_node(joint).args[0])  # type: ignore[arg-type]


def placeholder_descriptors(joint: Joint) -> list[Any]:
    """``meta['desc']`` of each placeholder, None where there is none."""
    return [node.meta.get("desc") for node in placeholders(joint)]


def output_descriptors(joint: Joint) -> list[Any]:
    """``meta['desc']`` of the output node: one entry a flat output; empty where there is none."""
    return list(output_node(joint).meta.get("desc") or ())


def sizes_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Its shape; a symbolic size is what it was at the export. No guard is added, as a comparison would.

    The ragged size of a nested tensor is "j".
    """
    return tuple(map(_at_export, tensor.shape))


def strides_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Its strides, likewise."""
    return tuple(map(_at_export, tensor.stride()))


def _at_export(number: Any) -> Any:
    if not isinstance(number, torch.SymInt):
        return number
    return "j" if number.node.is_nested_int() else number.node.hint


def lines_of(joint: Joint) -> list[str]:
    """The graph as text: one line a node, with its descriptors."""
    return [f"{node.format_node()} {node.meta.get('desc')}" for node in joint.graph_module.graph.nodes]


def kind_of(descriptor: object) -> str:
    """The class name of a descriptor: descriptors are told apart by their documented names alone."""
    return type(descriptor).__name__


def kinds_of(descriptor: Any) -> str:
    """The kinds of a descriptor and of what it wraps: ``TangentAOTInput(PlainAOTOutput)``."""
    kinds = [kind_of(part) for part in chain(descriptor)]
    return "(".join(kinds) + ")" * (len(kinds) - 1)


def wrapped(descriptor: Any) -> Any | None:
    """The descriptor that this one wraps, or None: the field that itself holds a descriptor."""
    if not dataclasses.is_dataclass(descriptor):
        return None
    inner = [getattr(descriptor, field.name) for field in dataclasses.fields(descriptor)]
    return next((value for value in inner if kind_of(value).endswith(("AOTInput", "AOTOutput"))), None)


PIECES = frozenset(f"Subclass{what}{side}" for what in ("GetAttr", "Size", "Stride") for side in ("AOTInput", "AOTOutput"))


def whole(descriptor: Any) -> Any:
    """What a piece of a subclass is a piece of, at any depth; a descriptor of anything else itself."""
    return next((part for part in chain(descriptor) if kind_of(part) not in PIECES), descriptor)


def chain(descriptor: Any) -> Iterator[Any]:
    """The descriptor, what it wraps, what that wraps, and so on."""
    while descriptor is not None:
        yield descriptor
        descriptor = wrapped(descriptor)


def is_symbolic(node: fx.Node) -> bool:
    """Whether what the node gives is a symbolic number, or a tensor of symbolic sizes."""
    val = node.meta.get("val")
    return val._has_symbolic_sizes_strides if isinstance(val, torch.Tensor) else isinstance(val, torch.SymInt)


def is_backward(node: fx.Node) -> bool:
    """Whether the graph itself says that the node belongs to the backward (J14)."""
    return node.meta.get("partitioner_tag") == "is_backward"


#: What only the backward takes, and what only it gives.
OF_BACKWARD = ("TangentAOTInput", "BackwardTokenAOTInput", "GradAOTOutput", "BackwardTokenAOTOutput")


def backward_nodes(joint: Joint) -> set[fx.Node]:
    """The nodes that depend on what only the backward takes, tangents and its tokens; these included."""
    found: set[fx.Node] = set()
    for node in joint.graph_module.graph.nodes:
        is_taken = node.op == "placeholder" and kind_of(whole(node.meta.get("desc"))) in OF_BACKWARD
        if is_taken or any(operand in found for operand in node.all_input_nodes):
            found.add(node)
    return found


#: The ops that stand for the tokens where the graph neither takes nor returns them.
TOKEN_OPS = ("prims._make_token.default", "prims._sink_tokens.default")


def users_calls(joint: Joint) -> list[fx.Node]:
    """The calls of the forward for which a line of the user's stands."""
    calls = [node for node in joint.graph_module.graph.nodes if node.op == "call_function"]
    return [node for node in calls if not is_backward(node) and not _is_added(node, joint)]


def _is_added(node: fx.Node, joint: Joint) -> bool:
    """Whether AOTAutograd itself asks for the node.

    It computes with symbolic sizes, clones inputs that are written, takes the views that the caller passed
    from their base, and makes and sinks tokens.
    """
    if str(node.target) in TOKEN_OPS or not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)):
        return True
    if node.target is torch.ops.aten.as_strided.default:
        return any("Base" in kind_of(descriptor) for descriptor in placeholder_descriptors(joint))
    return node.target is torch.ops.aten.clone.default and node.all_input_nodes[0].op == "placeholder"
