"""What a caller can notice, as facts by path: ``outputs[1].stride`` -> ``(3, 1)``.

Everything is flat on purpose: two observations are compared key by key, and a rule, a finding or a
report names a fact by its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

#: Path -> fact. A fact is a plain comparable value, or a detached tensor under a path ending in ``.value``.
Facts = dict[str, Any]


def observe_tensor(facts: Facts, path: str, tensor: torch.Tensor) -> None:
    """Record what can be read off one tensor (C2): metadata, autograd state, values."""
    facts[f"{path}.type"] = type(tensor).__name__
    facts[f"{path}.shape"] = tuple(tensor.shape)
    facts[f"{path}.dtype"] = str(tensor.dtype)
    facts[f"{path}.device"] = tensor.device.type
    facts[f"{path}.layout"] = str(tensor.layout)
    facts[f"{path}.stride"] = significant_stride(tensor)
    facts[f"{path}.autograd"] = autograd_state(tensor)
    facts[f"{path}.bits"] = (tensor.is_conj(), tensor.is_neg())
    facts[f"{path}.value"] = tensor.detach().clone()


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
    return tuple(None if empty or size == 1 else stride for size, stride in zip(tensor.shape, tensor.stride()))


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
        storage = storage_key(tensor)
        facts[f"{path}.is"] = next((name for name, other, _ in earlier if other is tensor), None)
        facts[f"{path}.shares"] = tuple(name for name, _, key in earlier if key == storage)
        earlier.append((path, tensor, storage))
    for path, tensor in sight.items():
        if autograd_state(tensor) == "grad_fn":
            facts[f"{path}.base"] = _base_of(tensor, sight)


def _base_of(tensor: torch.Tensor, sight: Mapping[str, torch.Tensor]) -> str | None:
    """The name of the tensor in sight that this is a differentiable view of, or None.

    A base that only the forward has seen tells the caller nothing, so it counts as none.
    """
    return next((name for name, other in sight.items() if other is tensor._base), None) if tensor._is_view() else None


def storage_key(tensor: torch.Tensor) -> int:
    """What is equal exactly for tensors that share a storage."""
    return tensor.untyped_storage()._cdata  # type: ignore[no-any-return]


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
    """The first line of an error's message that says anything, cut to 200 characters."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip()[:200] if lines else ""


def roots_of(candidates: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors that a backward can start from; one that comes twice has two cotangents, as two equal ones would.

    Not a view taken under no_grad: it says that it requires grad as its base does, and has no edge.
    """
    tensors = [leaf for leaf in candidates if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    return [tensor for tensor in tensors if has_grad_fn(tensor) is True or not tensor._is_view()]


def cotangents_for(roots: Iterable[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Random cotangents, one for each root, of its shape and dtype, contiguous."""
    stream = torch.Generator().manual_seed(1000 + seed)
    return [torch.randn(root.shape, generator=stream, dtype=root.dtype).to(root.device) for root in roots]
