"""Decompositions and compilers of our own."""

from typing import Any

import torch


def sigmoid_by_exp(x: torch.Tensor) -> torch.Tensor:
    return 1 / (1 + torch.exp(-x))


def tanh_backward_by_hand(cotangent: torch.Tensor, tanh: torch.Tensor) -> torch.Tensor:
    return cotangent * (1 - tanh * tanh)


OWN_DECOMPOSITIONS = {
    torch.ops.aten.sigmoid.default: sigmoid_by_exp,
    torch.ops.aten.tanh_backward.default: tanh_backward_by_hand,
}


def views_folded(graph_module: Any, examples: Any) -> Any:
    """A compiler that folds views which change nothing, as optimizing compilers do."""
    graph = graph_module.graph
    for node in graph.nodes:
        source = node.args[0] if node.args and node.target is torch.ops.aten.view.default else None
        if source is not None and tuple(source.meta["val"].shape) == tuple(node.meta["val"].shape):
            node.replace_all_uses_with(source)
    graph.eliminate_dead_code()
    graph_module.recompile()
    return graph_module
