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

    dimensions = [DimDynamic.DUCK if size in sizes else DimDynamic.STATIC for size in tensor.shape]
    if not is_traceable_wrapper_subclass(tensor):
        return StatelessSymbolicContext(dynamic_sizes=dimensions)
    attributes = tensor.__tensor_flatten__()[0]
    inner = {name: symbols_of(getattr(tensor, name), sizes, AttrSource(source, name)) for name in attributes}
    return SubclassSymbolicContext(dynamic_sizes=dimensions, tensor_source=source, inner_contexts=inner)
