"""Arguments with symbolic sizes, as an export takes them."""

from typing import Any

import torch
import torch.utils._pytree as pytree


def with_symbolic_sizes(arguments: Any, sizes: Any) -> Any:
    """Fake tensors in place of the tensors: each dimension of one of these sizes is a symbol, equal ones the same."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv())
    leaves, structure = pytree.tree_flatten(arguments)
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            source = ConstantSource(f"a{index}")
            leaves[index] = mode.from_tensor(leaf, source=source, symbolic_context=symbols_of(leaf, sizes, source))
    return pytree.tree_unflatten(leaves, structure)


def symbols_of(tensor: Any, sizes: Any, source: Any) -> Any:
    """Which dimensions of the tensor at ``source`` are symbols, and which of its inner tensors, if it has any."""
    from torch._dynamo.source import AttrSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext, SubclassSymbolicContext
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    is_symbol = [not isinstance(size, int) or size in sizes for size in tensor.shape]  # a ragged size always is
    dimensions = [DimDynamic.DUCK if symbol else DimDynamic.STATIC for symbol in is_symbol]
    if not is_traceable_wrapper_subclass(tensor):
        return StatelessSymbolicContext(dynamic_sizes=dimensions)
    attributes = tensor.__tensor_flatten__()[0]
    inner = {name: symbols_of(getattr(tensor, name), sizes, AttrSource(source, name)) for name in attributes}
    return SubclassSymbolicContext(dynamic_sizes=dimensions, tensor_source=source, inner_contexts=inner)
