"""What a caller can notice, as facts by path: ``outputs[1].stride`` -> ``(3, 1)``.

Everything is flat on purpose: two observations are compared key by key, and a rule, a finding or a
report names a fact by its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from generators.subclasses import inner_tensors, pieces, storages

#: Path -> fact. A fact is a plain comparable value, or under a path ending in ``.value`` what a tensor holds.
Facts = dict[str, Any]


def observe_tensor(facts: Facts, path: str, tensor: torch.Tensor) -> None:
    """Record what can be read off one tensor (C2): metadata, autograd state, values; of a subclass all that it is made of."""
    facts[f"{path}.type"] = type(tensor).__name__
    facts[f"{path}.shape"] = shape_of(tensor)
    facts[f"{path}.dtype"] = str(tensor.dtype)
    facts[f"{path}.device"] = tensor.device.type
    facts[f"{path}.layout"] = str(tensor.layout)
    facts[f"{path}.stride"] = significant_stride(tensor)
    facts[f"{path}.autograd"] = autograd_state(tensor)
    facts[f"{path}.bits"] = (tensor.is_conj(), tensor.is_neg())
    observe_contents(facts, path, tensor)


def observe_contents(facts: Facts, path: str, tensor: torch.Tensor, strides: bool = True) -> None:
    """Record the values, and of a traceable wrapper subclass its pieces and what it notes beside them."""
    facts[f"{path}.value"] = value_of(tensor)
    if is_traceable_wrapper_subclass(tensor):
        facts[f"{path}.pieces"] = tuple(piece if strides else piece[:5] for piece in structure_of(tensor))
        facts[f"{path}.notes"] = tensor.detach().__tensor_flatten__()[1]  # some note requires_grad, which is told already


def value_of(tensor: torch.Tensor) -> torch.Tensor | dict[str, torch.Tensor]:
    """What a tensor holds, kept: a detached copy, or for a traceable wrapper subclass one of each of its pieces by path."""
    held = {path: piece.detach().clone() for path, piece in pieces(tensor)}
    return held.get("", held)


def structure_of(value: Any) -> tuple[tuple[Any, ...], ...]:
    """Everything that a subclass is made of, in its own order: path, type, and of a tensor shape, dtype, layout, stride.

    Nothing for what is no traceable wrapper subclass.
    """
    return tuple(_structure(value, ""))


def _structure(tensor: Any, path: str) -> Iterator[tuple[Any, ...]]:
    if not is_traceable_wrapper_subclass(tensor):
        return
    for name in tensor.__tensor_flatten__()[0]:
        value, place = getattr(tensor, name), f"{path}.{name}"
        if isinstance(value, torch.Tensor):
            kind = (shape_of(value), str(value.dtype), str(value.layout), significant_stride(value))
        yield (place, type(value).__name__, *(kind if isinstance(value, torch.Tensor) else ()))
        yield from _structure(value, place)


def is_leaf(tensor: torch.Tensor) -> bool | str:
    """Whether it is a leaf; "refused" where autograd won't say, for a view gone stale under no_grad."""
    try:
        return tensor.is_leaf
    except RuntimeError:
        return "refused"


def has_grad_fn(tensor: torch.Tensor) -> bool | str:
    """Whether it has a grad_fn; "refused" where autograd won't say."""
    try:
        return tensor.grad_fn is not None
    except RuntimeError:
        return "refused"


def autograd_state(tensor: torch.Tensor) -> str:
    """What requires_grad, is_leaf and grad_fn say together, as one fact."""
    leaf = is_leaf(tensor)
    if leaf == "refused":
        return "stale view"
    if not tensor.requires_grad:
        return "no grad"
    if leaf is False:
        return "grad_fn"
    return "no_grad view" if tensor._is_view() else "leaf"


def significant_stride(tensor: torch.Tensor) -> tuple[int | None, ...]:
    """The strides that address anything: None for a dimension of one element, all None without elements."""
    empty = tensor.numel() == 0
    return tuple(None if empty or size == 1 else _number(stride) for size, stride in zip(tensor.shape, tensor.stride()))


def shape_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """The shape as a fact."""
    return tuple(map(_number, tensor.shape))


def _number(size: Any) -> Any:
    """A size or stride as a fact; of one that stands for the ragged dimension of a nested tensor no more than that."""
    return size if isinstance(size, int) else re.sub(r"j\d+", "j", str(size))


def observe_leaf(facts: Facts, path: str, leaf: Any) -> None:
    """Record one leaf of a structure: a tensor, or a plain value with its type (True is not 1)."""
    if isinstance(leaf, torch.Tensor):
        observe_tensor(facts, path, leaf)
    else:
        facts[f"{path}.type"] = type(leaf).__name__
        facts[f"{path}.plain"] = leaf


def observe_aliasing(facts: Facts, sight: Mapping[str, torch.Tensor]) -> None:
    """Record, for each tensor in sight, which earlier ones it is, shares storage with, and is a view of (C5)."""
    earlier: list[tuple[str, torch.Tensor, Any]] = []
    for path, tensor in sight.items():
        own = storages(tensor)
        facts[f"{path}.is"] = next((name for name, other, _ in earlier if other is tensor), None)
        facts[f"{path}.shares"] = tuple(name for name, _, theirs in earlier if own & theirs)
        earlier.append((path, tensor, own))
    for path, tensor in sight.items():
        if autograd_state(tensor) == "grad_fn":
            facts[f"{path}.base"] = _base_of(tensor, sight)


def _base_of(tensor: torch.Tensor, sight: Mapping[str, torch.Tensor]) -> str | None:
    """The name of the tensor in sight that this is a differentiable view of, or None.

    A base that only the forward has seen tells the caller nothing, so it counts as none.
    """
    return next((name for name, other in sight.items() if other is tensor._base), None) if tensor._is_view() else None


def share_storage(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether what is written to the one may show in the other."""
    return bool(storages(one) & storages(other))


def observe_error(facts: Facts, stage: str, error: BaseException) -> None:
    """Record that ``stage`` (export, compile, forward, backward) raised."""
    facts["error"] = Raised(stage, error)


class Raised:
    """An error as a fact: where it was raised, and what. The exception is kept for its traceback."""

    def __init__(self, stage: str, error: BaseException) -> None:
        self.stage = stage
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__} in {self.stage}: {first_line(self.error)}"


def first_line(error: BaseException) -> str:
    """The first line of an error's message that says anything, cut to 200 characters, with the next if it leads up to that."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    leads_up = bool(lines) and lines[0].endswith("raised:")
    return " ".join(lines[: 1 + leads_up])[:200]


def roots_of(candidates: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors that a backward can start from; one that comes twice has two cotangents, as two equal ones would.

    Not a view taken under no_grad: it says that it requires grad as its base does, and has no edge.
    """
    tensors = [leaf for leaf in candidates if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    return [tensor for tensor in tensors if has_grad_fn(tensor) is True or not tensor._is_view()]


def cotangents_for(roots: Iterable[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Random cotangents, one for each root, of its shape, dtype and class, contiguous."""
    stream = torch.Generator().manual_seed(1000 + seed)
    return [_cotangent_for(root.detach(), stream) for root in roots]


def _cotangent_for(root: torch.Tensor, stream: torch.Generator) -> torch.Tensor:
    """Random numbers in the place of every piece; what is not differentiable (the offsets of a nested tensor) is shared."""
    if is_traceable_wrapper_subclass(root):
        names, notes = root.__tensor_flatten__()
        inner = {name: getattr(root, name) for name in names}
        inner |= {name: _cotangent_for(piece, stream) for name, piece in inner_tensors(root)}
        stride = root.stride() if root.is_nested else torch.empty(root.shape, device="meta").stride()
        return type(root).__tensor_unflatten__(inner, notes, root.size(), stride)
    if not (root.is_floating_point() or root.is_complex()):
        return root
    return torch.randn(root.shape, generator=stream, dtype=root.dtype).to(root.device)
