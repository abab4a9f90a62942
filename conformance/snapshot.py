"""A joint graph as text that a person can read and two versions of torch can be compared by (golden/snapshots/).

Names are canonical: inputs ``i0 i1 ..`` in their order, calls ``v0 v1 ..`` in the order in which the outputs need
them, symbols by first use. So neither the names of nodes nor the order of independent ones show, but in one line of
the header, which is there to tell a cosmetic change from none. Nothing depends on addresses or on the machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from conformance.graph import is_backward, output_descriptors
from generators.program import Program

if TYPE_CHECKING:
    from conformance.case import Case

_SYMBOL = re.compile(r"\b(?:s|u|j|zuf|zf)\d+\b")
#: How a line says that there is no descriptor.
_ABSENT = "  None"
_PLAIN = (torch.dtype, torch.device, torch.layout, torch.memory_format)


def snapshot(case: Case) -> str:
    """The graph of ``case.joint`` as it is now, "" where nothing was exported.

    A header of ``# `` lines; the FQNs; one line an input, ``i0: dtype[shape][strides]  descriptor``; one a call,
    ``v0: dtype[shape][strides] = target(operands)``, with what else is known of it after a ``#``; one a flat output,
    ``return v0  descriptor``; then the graphs that it calls, in the same form.
    """
    if case.joint is None:
        return ""
    name = case.stated.name if case.stated else ""
    module, writer = case.joint.graph_module, Writer()
    outputs = output_descriptors(case.joint)
    state = [f"{kind} {', '.join(getattr(case.joint, f'{kind}_spec'))}".rstrip() for kind in ("params", "buffers")]
    head = [*heading(case.program, name), f"# nodes {digest(module.graph)}"]
    inputs = [node.meta.get("desc") for node in module.graph.find_nodes(op="placeholder")]
    return "\n".join([*head, "", *state, "", *writer.lines(module, inputs, outputs), *writer.called()])


def heading(program: Program, name: str) -> list[str]:
    """What the snapshot is of: the case, if it has a name, the program's hash, the version of torch."""
    named = [f"# case {name}"] if name else []
    return [*named, f"# program {program.name}", f"# torch {torch.__version__.partition('+')[0]}"]


def without_graph(program: Program, name: str, reason: str) -> str:
    """What stands for the snapshot of a case that has no graph on this torch."""
    return "\n".join([*heading(program, name), "", f"no graph: {reason}"])


def digest(graph: fx.Graph) -> str:
    """One word for the names of the nodes in their order."""
    return hashlib.sha256(" ".join(node.name for node in graph.nodes).encode()).hexdigest()[:8]


@dataclass
class Writer:
    """Writes one graph and those that it calls; symbols, called graphs and calls are numbered through all of them."""

    symbols: dict[str, str] = field(default_factory=dict)
    graphs: dict[fx.GraphModule, str] = field(default_factory=dict)
    calls: dict[Any, int] = field(default_factory=dict)

    def lines(self, module: fx.GraphModule, taken: Sequence[Any] = (), given: Sequence[Any] = ()) -> list[str]:
        """The lines of one graph, with the descriptors of what is ``taken`` and ``given``: none where it is called."""
        nodes, names = in_canonical_order(module.graph), Names(self, module)
        inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
        names.nodes = {node: f"i{place}" for place, node in enumerate(inputs)}
        taken = [*taken, *[None] * (len(inputs) - len(taken))]
        lines = [_line(f"{names.nodes[node]}: {self.kind(node)}", desc) for node, desc in zip(inputs, taken)]
        sensitive = [node for node in nodes if is_order_sensitive(node)]
        for node in nodes:
            if node.op == "call_function" or not names.is_graph(node):
                names.nodes[node] = f"v{len(names.nodes) - len(inputs)}"
                lines.append(f"{names.nodes[node]}: {self.kind(node)} = {names.call(node)}{self._notes(node, sensitive)}")
        returned = module.graph.output_node().args[0]
        results = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        given = [*given, *[None] * (len(results) - len(given))]
        return lines + [_line(f"return {names.text(result)}", desc) for result, desc in zip(results, given)]

    def called(self) -> list[str]:
        """The lines of the graphs that were called, and of those that they call, each under its name."""
        lines: list[str] = []
        written: set[fx.GraphModule] = set()
        while waiting := [module for module in self.graphs if module not in written]:
            written.add(waiting[0])
            lines += ["", self.graphs[waiting[0]], *(f"  {line.removesuffix(_ABSENT)}" for line in self.lines(waiting[0]))]
        return lines

    def _notes(self, node: fx.Node, sensitive: list[fx.Node]) -> str:
        custom = dict(sorted((node.meta.get("custom") or {}).items()))
        if "call_id" in custom:  # counted through the life of the process
            custom["call_id"] = self.calls.setdefault(custom["call_id"], len(self.calls))
        notes = [
            *(["backward"] if is_backward(node) else []),
            *([f"in order {sensitive.index(node)}"] if node in sensitive else []),
            *([f"custom {custom}"] if custom else []),
        ]
        return f"  # {', '.join(notes)}" if notes else ""

    def kind(self, node: fx.Node) -> str:
        """dtype, shape and strides of what the node gives, with the device if it is another than the CPU."""
        return self._kind(node.meta.get("val"))

    def _kind(self, val: Any) -> str:
        if isinstance(val, torch.Tensor):
            device = "" if val.device.type == "cpu" else val.device.type
            return f"{str(val.dtype).removeprefix('torch.')}{self._sizes(val.shape)}{self._sizes(val.stride())}{device}"
        if isinstance(val, (list, tuple)):
            return f"({', '.join(map(self._kind, val))})"
        if isinstance(val, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.symbolic(val)
        return "None" if val is None else type(val).__name__

    def _sizes(self, sizes: Any) -> str:
        return f"[{', '.join(map(self.symbolic, sizes))}]"

    def symbolic(self, number: Any) -> str:
        """A number, its symbols by their canonical names."""
        return _SYMBOL.sub(lambda match: self.symbols.setdefault(match[0], self._next(match[0])), str(number))

    def _next(self, symbol: str) -> str:
        letter = symbol.rstrip("0123456789")
        return f"{letter}{sum(known.startswith(letter) for known in self.symbols.values())}"


@dataclass
class Names:
    """The names in sight within one graph, and values written with them."""

    writer: Writer
    module: fx.GraphModule
    nodes: dict[fx.Node, str] = field(default_factory=dict)

    def is_graph(self, node: fx.Node) -> bool:
        """Whether the node is only there to name a graph."""
        return node.op == "get_attr" and isinstance(getattr(self.module, str(node.target), None), fx.GraphModule)

    def call(self, node: fx.Node) -> str:
        """The node's target with its operands; a tensor that the graph holds is a constant."""
        if node.op == "get_attr":
            return "constant"
        words = [self.text(arg) for arg in node.args] + [f"{key}={self.text(arg)}" for key, arg in node.kwargs.items()]
        return f"{_target(node.target)}({', '.join(words)})"

    def text(self, value: Any) -> str:
        """A value that a node is given. What has no text of its own is told by its type."""
        if isinstance(value, fx.Node):
            return self._graph(value) if self.is_graph(value) else self.nodes.get(value, "?")
        if isinstance(value, (list, tuple)):
            inside = ", ".join(map(self.text, value))
            return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key}: {self.text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.writer.symbolic(value)
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return repr(value)
        return str(value) if isinstance(value, (*_PLAIN, torch._ops.OpOverload)) else type(value).__name__

    def _graph(self, node: fx.Node) -> str:
        graphs = self.writer.graphs
        return graphs.setdefault(getattr(self.module, str(node.target)), f"graph{len(graphs)}")


def in_canonical_order(graph: fx.Graph) -> list[fx.Node]:
    """What the graph calls, operands first, as far as possible in the order in which the outputs need it.

    In a graph that writes the order may mean something anywhere, so it stays.
    """
    inner = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
    if any(map(writes, inner)):
        return inner
    waiting = [*reversed([*graph.output_node().all_input_nodes, *inner])]
    ordered: dict[fx.Node, None] = {}
    while waiting:
        operands = [operand for operand in waiting[-1].all_input_nodes if operand not in ordered]
        waiting += reversed(operands)
        if not operands:
            ordered.setdefault(waiting.pop())
    return [node for node in ordered if node.op not in ("placeholder", "output")]


def writes(node: fx.Node) -> bool:
    """Whether the node writes one of its operands."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def is_order_sensitive(node: fx.Node) -> bool:
    """Whether the order among such calls may mean something: those that write, draw numbers, or are used by nothing."""
    is_random = isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags
    return node.op == "call_function" and (is_random or writes(node) or not node.users)


def _line(text: str, descriptor: Any) -> str:
    return f"{text}  {descriptor}"


def _target(target: Any) -> str:
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", type(target).__name__)
