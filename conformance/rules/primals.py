"""What the descriptors of a case stand for: shared by the rules of several chapters."""

from __future__ import annotations

from typing import Any

import torch
from torch._guards import detect_fake_mode

from conformance.case import Case
from conformance.graph import chain, kind_of, output_descriptors, placeholder_descriptors
from conformance.observation import Facts

GET_ATTR = ("SubclassGetAttrAOTInput", "SubclassGetAttrAOTOutput")


def passed_at(case: Case, descriptor: Any) -> Any:
    """What the caller passes at a primal, or at a piece of one; None for any other descriptor."""
    if kind_of(descriptor) == "SubclassGetAttrAOTInput":
        return getattr(passed_at(case, descriptor.base), descriptor.attr, None)
    return case.primals.get(descriptor)


def exported_at(case: Case, descriptor: Any) -> Any:
    """What the export was given there: as ``passed_at``, but a fake tensor where the program has symbolic sizes.

    What the module holds and the caller passes as well, or passes a view of, is one tensor, and one fake tensor.
    """
    if kind_of(descriptor) == "SubclassGetAttrAOTInput":
        return getattr(exported_at(case, descriptor.base), descriptor.attr, None)
    passed, mode = case.primals.get(descriptor), detect_fake_mode(case.arguments)
    return mode.from_tensor(passed, static_shapes=True) if mode and isinstance(passed, torch.Tensor) else passed


def output_of(case: Case, tangent: Any) -> Any:
    """The output that a tangent is of, for a piece of a tangent the same piece of it; None for any other descriptor."""
    if kind_of(tangent) == "TangentAOTInput":
        return tangent.output
    base = output_of(case, tangent.base) if kind_of(tangent) == "SubclassGetAttrAOTInput" else None
    return None if base is None else case.implementation.descriptors.SubclassGetAttrAOTOutput(base=base, attr=tangent.attr)


def name_of(case: Case, primal: Any) -> str | None:
    """The caller's name of what is passed there and nowhere else; None for a base, a number, a twin."""
    passed = case.primals.get(primal)
    if sum(other is passed for other in case.primals.values()) > 1:
        return None
    return next((name for name, tensor in case.built.tensors.items() if tensor is passed), None)


def kept_as_a_copy(facts: Facts, name: str) -> bool:
    """Whether autograd may have kept the gradient of a subclass as a copy of another class: what flowed in can't be told.

    For a leaf that is not contiguous it copies a gradient of other strides into what new_empty_strided makes of it.
    """
    value = facts.get(f"grads.{name}.value")
    return f"caller.{name}.pieces" in facts and isinstance(value, torch.Tensor) and not value.is_contiguous()


def attributes(descriptor: Any) -> str:
    """The path of attributes from the whole to a piece, as in the facts: ``.a.b``; "" for a whole."""
    return "".join(f".{part.attr}" for part in reversed(list(chain(descriptor))) if kind_of(part) in GET_ATTR)


def both_sides(case: Case) -> tuple[tuple[str, list[Any]], tuple[str, list[Any]]]:
    return ("inputs", placeholder_descriptors(case.joint)), ("outputs", output_descriptors(case.joint))
