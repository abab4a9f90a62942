"""What a descriptor stands for, as a value: the documented meaning of each kind, one row each.

An input descriptor says how to get a value from what the caller passes, an output descriptor how to find one
in what eager gives back (torch/_functorch/_aot_autograd/descriptors.py, ``expr`` of each class).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from conformance.graph import chain, kind_of
from generators.build import Built


class Meaningless(LookupError):
    """There is nothing that the descriptor stands for."""


@dataclass
class Inputs:
    """The value of each input descriptor, for one built program under given cotangents (by output descriptor).

    A value is the caller's own tensor, looked up once: what is written to it, or hung on it, is seen later.
    """

    built: Built
    cotangents: Mapping[Any, Any] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)

    def value(self, descriptor: Any) -> Any:
        """What the descriptor stands for. Raises Meaningless."""
        if descriptor not in self.known:
            self.known[descriptor] = _looked_up(INPUTS, self, descriptor)
        return self.known[descriptor]


@dataclass
class Outputs:
    """The value of each output descriptor after eager ran: flat outputs, inputs, gradients by input descriptor."""

    leaves: list[Any]
    inputs: Inputs
    gradients: Mapping[Any, Any] = field(default_factory=dict)

    def value(self, descriptor: Any) -> Any:
        """What the descriptor stands for. Raises Meaningless."""
        return _looked_up(OUTPUTS, self, descriptor)


def gradient_in(descriptor: Any) -> Any:
    """The GradAOTOutput that an output's descriptor is, or is a piece of; None if there is none."""
    return next((part for part in chain(descriptor) if kind_of(part) == "GradAOTOutput"), None)


def _looked_up(table: Mapping[str, Callable[[Any, Any], Any]], scope: Any, descriptor: Any) -> Any:
    try:
        return table[kind_of(descriptor)](scope, descriptor)
    except (LookupError, AttributeError, TypeError) as error:
        raise Meaningless(f"there is no such {kind_of(descriptor)}") from error


def _plain(inputs: Inputs, descriptor: Any) -> Any:
    return pytree.tree_leaves((inputs.built.args, inputs.built.kwargs))[descriptor.idx]


def whole_storage(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor over all that the storage holds: how a synthetic base is made (runtime_wrappers.py, merge_view_inputs)."""
    return torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage())


def _base(view: torch.Tensor) -> torch.Tensor:
    if view._base is None:
        raise Meaningless("the input is no view")
    return view._base


def _base_or_itself(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor._base is None else tensor._base


def _attribute(of: Any, name: str) -> Any:
    """What a subclass is flattened into under that name; anything else that it may have is no piece of it."""
    if not is_traceable_wrapper_subclass(of) or name not in of.__tensor_flatten__()[0]:
        raise Meaningless(f"{type(of).__name__} has no piece {name}")
    return getattr(of, name)


#: The pieces of a subclass are looked up alike on either side.
_PIECES: dict[str, Callable[[Any, Any], Any]] = {
    "GetAttr": lambda scope, d: _attribute(scope.value(d.base), d.attr),
    "Size": lambda scope, d: scope.value(d.base).size(d.idx),
    "Stride": lambda scope, d: scope.value(d.base).stride(d.idx),
}

INPUTS: dict[str, Callable[[Inputs, Any], Any]] = {
    "ParamAOTInput": lambda inputs, d: inputs.built.state(d.target),
    "BufferAOTInput": lambda inputs, d: inputs.built.state(d.target),
    "PlainAOTInput": _plain,
    "ViewBaseAOTInput": lambda inputs, d: _base(inputs.value(d.base_of)),
    "SyntheticBaseAOTInput": lambda inputs, d: whole_storage(inputs.value(d.base_of)),
    "TangentAOTInput": lambda inputs, d: inputs.cotangents[d.output],
    "ForwardTokenAOTInput": lambda inputs, d: torch.empty(0),
    "BackwardTokenAOTInput": lambda inputs, d: torch.empty(0),
    **{f"Subclass{what}AOTInput": row for what, row in _PIECES.items()},
}

OUTPUTS: dict[str, Callable[[Outputs, Any], Any]] = {
    "PlainAOTOutput": lambda outputs, d: outputs.leaves[d.idx],
    "InputMutationAOTOutput": lambda outputs, d: outputs.inputs.value(d.mutated_input),
    "IntermediateBaseAOTOutput": lambda outputs, d: _base_or_itself(outputs.value(d.base_of)),
    "GradAOTOutput": lambda outputs, d: outputs.gradients[d.grad_of],
    **{f"Subclass{what}AOTOutput": row for what, row in _PIECES.items()},
}
