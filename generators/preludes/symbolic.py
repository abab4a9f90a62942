"""Arguments with symbolic sizes, as an export takes them."""

from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn


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


def shapes_told(sizes: Any, module: nn.Module, args: Any, kwargs: Any) -> Any:
    """What torch.export is told of the arguments' dimensions, given what stands for each size that is dynamic.

    It is in the structure in which this torch binds the arguments. What the module holds keeps its sizes.
    """
    from torch.export.dynamic_shapes import _combine_args

    held = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}

    def asked(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or id(leaf) in held:
            return None
        return {place: sizes[size] for place, size in enumerate(leaf.shape) if size in sizes}

    return pytree.tree_map(asked, _combine_args(module, args, kwargs))
