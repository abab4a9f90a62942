"""What nodes carry along for their consumers, and what a capture by Dynamo adds: J25, and J27 to J29."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import torch
from torch import fx

from conformance.case import Case
from conformance.graph import backward_nodes, is_backward, is_symbolic, placeholders, users_calls
from conformance.rule import Complaint, is_training, rule
from generators.printed import printed_file


@rule("J25", is_training)
def annotations_reach_the_backward(case: Case) -> Iterator[Complaint]:
    nodes = [node for node in case.joint.graph_module.graph.nodes if node.op == "call_function"]
    dependents = backward_nodes(case.joint)
    backward = [node for node in nodes if node in dependents or is_backward(node)]
    forward = defaultdict(list)
    for node in set(nodes) - set(backward):
        forward[node.meta.get("seq_nr")].append(node)
    for node in backward:
        if not _accumulates(node, set(backward)):
            yield from _unpaired(node, forward[node.meta.get("seq_nr")])
    seen: dict[int, fx.Node] = {}
    for node in nodes:
        if node.meta.get("custom") is not None and seen.setdefault(id(node.meta["custom"]), node) is not node:
            yield "custom of two nodes", "two dicts", "one and the same"


def _accumulates(node: fx.Node, backward: set[fx.Node]) -> bool:
    """Whether the node adds up gradients: it belongs to no forward node, and is to carry no annotation.

    A gradient may be made of zeros alone, and then depend on no tangent.
    """
    return node.target is torch.ops.aten.add.Tensor and all(operand in backward for operand in node.all_input_nodes)


def _unpaired(node: fx.Node, forward: list[fx.Node]) -> Iterator[Complaint]:
    """What is wrong between a backward node and the forward nodes of its seq_nr."""
    if not forward:
        yield "seq_nr of a backward node", "that of a forward node", "one of its own"
        return
    wanted = forward[0].meta.get("custom") or {}
    if any((other.meta.get("custom") or {}) != wanted for other in forward):
        return  # which of them it belongs to is not said
    found = node.meta.get("custom") or {}
    if not wanted.items() <= found.items():
        yield "custom of a backward node", f"that of its forward nodes, {wanted}", str(found or None)


@rule("J27", lambda case: bool(case.before))
def nothing_is_left_behind(case: Case) -> Iterator[Complaint]:
    for name, now in case.left_behind.items():
        yield f"{name} after the ExitStack is closed", "as before", now


def _is_captured(case: Case) -> bool:
    return case.captured is not None


@rule("J28", _is_captured)
def fresh_example_tensors_keep_their_sizes(case: Case) -> Iterator[Complaint]:
    if any(map(is_symbolic, placeholders(case.joint))):
        return  # the program itself asks for symbolic sizes
    if any(map(is_symbolic, placeholders(case.captured))):
        yield "sizes of an input, captured by Dynamo", "those of the example tensor", "symbolic"


@rule("J29", _is_captured)
def forward_calls_say_where_they_come_from(case: Case) -> Iterator[Complaint]:
    for node in users_calls(case.captured):
        if printed_file(case.program) not in (node.stack_trace or ""):
            replayed = ", a view replayed" if node.meta.get("is_functional_regenerated") else ""
            found = "none" if not node.stack_trace else "another"
            yield f"stack_trace of {node.target}{replayed}", "one into the forward", found
