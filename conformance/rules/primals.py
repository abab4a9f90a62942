"""What the descriptors of a case stand for: shared by the rules of several chapters."""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree

from conformance.case import Case
from conformance.graph import output_descriptors, placeholder_descriptors


def primals_of(case: Case) -> dict[Any, Any]:
    """Each primal's plain descriptor and what the caller passes there."""
    names = case.implementation.descriptors
    module = case.built.module
    found: dict[Any, Any] = {}
    for fqn, parameter in module.named_parameters(remove_duplicate=False):
        found[names.ParamAOTInput(target=fqn)] = parameter
    for fqn, buffer in module.named_buffers(remove_duplicate=False):
        found[names.BufferAOTInput(target=fqn)] = buffer
    for index, leaf in enumerate(pytree.tree_leaves((case.built.args, case.built.kwargs))):
        found[names.PlainAOTInput(idx=index)] = leaf
    return found


def both_sides(case: Case) -> tuple[tuple[str, list[Any]], tuple[str, list[Any]]]:
    return ("inputs", placeholder_descriptors(case.joint)), ("outputs", output_descriptors(case.joint))
