"""Chapter E: what is lifted beside parameters and buffers, as the program's module is known to hold it. Part of E3.

A tensor that the module holds as a plain attribute is a constant under the FQN of that attribute; a custom object is an
input of its own kind. Both are found among the constants of the exported program, with the buffers that do not persist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.export.graph_signature import CustomObjArgument

from conformance.difference import same
from conformance.exported.case import Exported
from conformance.exported.running import class_of
from conformance.observation import value_of
from conformance.rule import Complaint
from generators.preludes.objects import Factor


def constant_complaints(case: Exported, form: str, exported: Any) -> Iterator[Complaint]:
    """Where constants, custom objects and buffers that do not persist are other than the module holds them."""
    rows = [spec for spec in exported.graph_signature.input_specs if spec.kind.name in ("CONSTANT_TENSOR", "CUSTOM_OBJ")]
    for spec in rows:
        wanted = torch.Tensor if spec.kind.name == "CONSTANT_TENSOR" else Factor
        if not isinstance(exported.constants.get(spec.target), wanted):
            what = "a tensor" if wanted is torch.Tensor else "a custom object"
            yield f"{form}:target of a {spec.kind.name}", f"{what} among the constants", spec.target
    yield from _tensor_complaints(case.built.module, form, exported)
    yield from _object_complaints(case.built.module, form, exported)
    for fqn, buffer in case.built.module.named_buffers():
        if fqn in exported.graph_signature.non_persistent_buffers:
            yield from _value_complaints(f"{form}:constants of a non-persistent buffer", buffer, exported.constants.get(fqn))


def held_beside_state(module: nn.Module, kind: type) -> dict[str, Any]:
    """What of that kind the module and those in it hold as plain attributes, by FQN."""
    owners = module.named_modules()
    attributes = ((f"{path}.{name}".lstrip("."), value) for path, owner in owners for name, value in vars(owner).items())
    return {fqn: value for fqn, value in attributes if isinstance(value, kind)}


def _tensor_complaints(module: nn.Module, form: str, exported: Any) -> Iterator[Complaint]:
    """Each held tensor is a constant, by its FQN and with its value. Every layer of the vocabulary uses what it holds."""
    kinds = {spec.target: spec.kind.name for spec in exported.graph_signature.input_specs}
    for fqn, tensor in held_beside_state(module, torch.Tensor).items():
        if kinds.get(fqn) != "CONSTANT_TENSOR":
            yield f"{form}:inputs of kind CONSTANT_TENSOR", "one for each that the module holds, by its name", kinds.get(fqn)
        else:
            yield from _value_complaints(f"{form}:constants of a held tensor", tensor, exported.constants.get(fqn))


def _value_complaints(path: str, tensor: torch.Tensor, found: Any) -> Iterator[Complaint]:
    if not isinstance(found, torch.Tensor) or not same(value_of(tensor), value_of(found)):
        yield path, "the value that was lifted", "another, or none"


def _object_complaints(module: nn.Module, form: str, exported: Any) -> Iterator[Complaint]:
    """Each held object is an input of its kind and class, and what is lifted holds what it does.

    No document has it called by its FQN.
    """
    rows = [spec for spec in exported.graph_signature.input_specs if spec.kind.name == "CUSTOM_OBJ"]
    held = list(held_beside_state(module, Factor).values())
    if len(rows) != len(held):
        yield f"{form}:inputs of kind CUSTOM_OBJ", f"{len(held)}, one for each that the module holds", len(rows)
    for spec in rows:
        lifted = exported.constants.get(spec.target)
        if not isinstance(spec.arg, CustomObjArgument) or spec.arg.class_fqn != class_of(lifted):
            yield f"{form}:class of a CUSTOM_OBJ", class_of(lifted), getattr(spec.arg, "class_fqn", None)
        if not any(isinstance(lifted, Factor) and vars(lifted) == vars(value) for value in held):
            yield f"{form}:object of a CUSTOM_OBJ", "one that the module holds, or its like", "another"
