"""A joint graph as text that two versions of torch can be compared by: descriptors, dtypes, shapes, ops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from conformance.graph import flat_results, output_descriptors

if TYPE_CHECKING:
    from conformance.case import Case

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def snapshot(case: Case) -> str:
    """The graph of ``case.joint`` as it is now, "" where nothing was exported.

    One line a placeholder, ``name: descriptor  dtype[shape] strides``, one a node, one a flat output, named by
    their place.
    """
    if case.joint is None:
        return ""
    names: dict[fx.Node, str] = {}
    lines = [line for node in case.joint.graph_module.graph.nodes if node.op != "output" for line in _line(node, names)]
    results, descriptors = flat_results(case.joint), output_descriptors(case.joint)
    descriptors += [None] * (len(results) - len(descriptors))
    lines += [f"return {_text(result, names)}: {descriptor}" for result, descriptor in zip(results, descriptors)]
    return _ADDRESS.sub("", "\n".join(lines))


def _line(node: fx.Node, names: dict[fx.Node, str]) -> Iterator[str]:
    letter = "p" if node.op == "placeholder" else "n"
    names[node] = f"{letter}{sum(name[0] == letter for name in names.values())}"
    if node.op == "placeholder":
        yield f"{names[node]}: {node.meta.get('desc')}  {_kind(node)}"
        return
    words = [_text(arg, names) for arg in node.args] + [f"{key}={_text(arg, names)}" for key, arg in node.kwargs.items()]
    yield f"{names[node]} = {node.target}({', '.join(words)})  {_kind(node)}"


def _kind(node: fx.Node) -> str:
    """dtype, shape and strides of what the node gives, or its type."""
    val = node.meta.get("val")
    if not isinstance(val, torch.Tensor):
        return type(val).__name__
    dtype = str(val.dtype).removeprefix("torch.")
    return f"{dtype}[{', '.join(map(str, val.shape))}] {tuple(map(str, val.stride()))}".replace("'", "")


def _text(value: Any, names: Mapping[fx.Node, str]) -> str:
    if isinstance(value, fx.Node):
        return names.get(value, "?")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_text(item, names) for item in value)}]"
    return str(value)
