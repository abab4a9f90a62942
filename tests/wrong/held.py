"""Exporters that are wrong in what is lifted beside state, and in what is held among the constants."""

from __future__ import annotations

from typing import Any

import torch
from torch.export.graph_signature import CustomObjArgument, InputKind

from conformance.exported.corruptions import EFFECT
from conformance.exported.forms import DECOMPOSED
from conformance.exported.held import HELD
from conformance.exported.spoiling import Spoil, inputs, of_input
from conformance.named import read_case
from generators.preludes.objects import Factor
from tests.wrong.exporting import WrongExport

CONSTANTS, OBJECT = (read_case(HELD[name], name).program for name in ("held_constants", "held_object"))


def spec_of(exported: Any, kind: str) -> Any:
    return next(spec for spec in exported.graph_signature.input_specs if spec.kind.name == kind)


def called_otherwise(exported: Any) -> None:
    """The first constant has another FQN than the module's, in the signature and among the constants."""
    spec = spec_of(exported, "CONSTANT_TENSOR")
    exported.constants["other"] = exported.constants.pop(spec.target)
    spec.target = "other"


def swapped_constants(exported: Any) -> None:
    """The values of two constants are swapped, and nothing else: each is there under the name of the other."""
    held = exported.constants
    held["layer.offset"], held["layer.inner.offset"] = held["layer.inner.offset"], held["layer.offset"]


def with_constant(kind: str, value: Any) -> Spoil:
    """What is lifted of this kind has that value."""

    def spoil(exported: Any) -> None:
        exported.constants[spec_of(exported, kind).target] = value

    return spoil


def with_buffer(value: Any) -> Spoil:
    """The buffer that does not persist has that value among the constants, None for none."""

    def spoil(exported: Any) -> None:
        exported.constants["scale"] = value

    return spoil


def without_object(exported: Any) -> None:
    exported.constants.pop(spec_of(exported, "CUSTOM_OBJ").target)


def of_another_class(exported: Any) -> None:
    spec = spec_of(exported, "CUSTOM_OBJ")
    spec.arg = CustomObjArgument(spec.arg.name, "other.Class")


def val_of_another_class(exported: Any) -> None:
    spec = spec_of(exported, "CUSTOM_OBJ")
    node = next(node for node in inputs(exported) if node.name == spec.arg.name)
    node.meta["val"] = CustomObjArgument(node.name, "other.Class")


def after_the_users(kind: str) -> Spoil:
    """The input of this kind stands last, with its row."""

    def spoil(exported: Any) -> None:
        specs = exported.graph_signature.input_specs
        place = specs.index(spec_of(exported, kind))
        inputs(exported)[-1].append(inputs(exported)[place])
        specs.append(specs.pop(place))

    return spoil


_ROWS: tuple[tuple[Any, ...], ...] = (
    ("E3", "a tensor that the module holds has another name", called_otherwise, CONSTANTS),
    ("E3", "two constants have each the value of the other", swapped_constants, CONSTANTS),
    ("E3", "a held tensor is said to be a buffer", of_input(2, kind=InputKind.BUFFER, persistent=False), CONSTANTS),
    ("E3", "no value of a constant", with_constant("CONSTANT_TENSOR", None), CONSTANTS),
    ("E3", "another value of a buffer that does not persist", with_buffer(torch.zeros(2)), CONSTANTS),
    ("E3", "no value of a buffer that does not persist", with_buffer(None), CONSTANTS),
    ("E3", "a custom object is called a constant", of_input(1, kind=InputKind.CONSTANT_TENSOR), OBJECT),
    ("E3", "a custom object that is not there", without_object, OBJECT),
    ("E3", "a tensor in the place of a custom object", with_constant("CUSTOM_OBJ", torch.ones(2)), OBJECT),
    ("E3", "another custom object of the class", with_constant("CUSTOM_OBJ", Factor(5)), OBJECT),
    ("E3", "a custom object of another class", of_another_class, OBJECT),
    ("E3", "a custom object after the user's inputs", after_the_users("CUSTOM_OBJ"), OBJECT),
    ("E3", "a token after the user's inputs", after_the_users("TOKEN"), EFFECT, DECOMPOSED),
    ("E6", "a val says that an object is of another class", val_of_another_class, OBJECT),
)
WRONG_HELD = tuple(WrongExport(*row) for row in _ROWS)
