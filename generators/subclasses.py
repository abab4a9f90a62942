"""The tensor subclasses that a leaf may be of, and how to look into any that PyTorch can trace through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from generators.op import Op

#: Name -> how one is made of a plain tensor; the classes are in generators/preludes/subclasses.py.
SUBCLASSES: dict[str, Op] = {
    name: Op(name, "subclass", template)
    for name, template in {
        "pair": "pair({x})",
        "scaled": "Scaled({x}, 0.5)",
        "nested": "nested({x})",
        "mixed": "mixed({x})",
        "tilted": "tilted({x})",
        "coded": "Coded({x})",
        "two_tensor": "two_tensor({x})",
        "jagged": "jagged({x})",
        "dtensor": "dtensor({x})",
    }.items()
}


def wrapped(subclass: str, tensor: torch.Tensor) -> torch.Tensor:
    """What the subclass makes of a plain tensor; the tensor itself for "". Raises what eager raises."""
    return SUBCLASSES[subclass].function(tensor) if subclass else tensor


def inner_tensors(tensor: Any) -> list[tuple[str, torch.Tensor]]:
    """The inner tensors of a traceable wrapper subclass by attribute, in its own order; none for any other tensor."""
    if not is_traceable_wrapper_subclass(tensor):
        return []
    named = [(name, getattr(tensor, name)) for name in tensor.__tensor_flatten__()[0]]
    return [(name, value) for name, value in named if isinstance(value, torch.Tensor)]  # a DTensor's mesh is none


def pieces(tensor: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The plain tensors that a tensor consists of, by the path of attributes to them; "" leads to a plain one itself."""
    inner = inner_tensors(tensor)
    if not inner:
        yield path, tensor
    for name, value in inner:
        yield from pieces(value, f"{path}.{name}")


def storages(tensor: torch.Tensor) -> frozenset[int]:
    """What the storages under a tensor are known by: of a subclass those of its pieces, since it has none itself."""
    return frozenset(piece.untyped_storage()._cdata for _, piece in pieces(tensor))
