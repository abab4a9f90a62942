"""Arguments with symbolic sizes, as an export takes them."""

from typing import Any

import torch
import torch.utils._pytree as pytree


def with_symbolic_sizes(arguments: Any, sizes: Any) -> Any:
    """Fake tensors in place of the tensors: each dimension of one of these sizes is a symbol, equal ones the same."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    mode = FakeTensorMode(shape_env=ShapeEnv())
    leaves, structure = pytree.tree_flatten(arguments)
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            dimensions = [DimDynamic.DUCK if size in sizes else DimDynamic.STATIC for size in leaf.shape]
            context: Any = StatelessSymbolicContext(dynamic_sizes=dimensions)
            leaves[index] = mode.from_tensor(leaf, source=ConstantSource(f"a{index}"), symbolic_context=context)
    return pytree.tree_unflatten(leaves, structure)
