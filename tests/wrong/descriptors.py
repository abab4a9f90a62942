"""Descriptor namespaces that are wrong: torch's classes, with one of them spoilt or missing."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch._functorch._aot_autograd.descriptors as torch_descriptors

from tests.wrong.base import Wrong


def namespace(**spoilt: Any) -> SimpleNamespace:
    """Torch's descriptors with some of the names taken by other classes."""
    return SimpleNamespace(**{**vars(torch_descriptors), **spoilt})


def without(name: str) -> SimpleNamespace:
    """Torch's descriptors but for one."""
    return SimpleNamespace(**{key: value for key, value in vars(torch_descriptors).items() if key != name})


class Assignable(torch_descriptors.PlainAOTInput):
    """A field can be assigned."""

    __setattr__ = object.__setattr__


class EqualByIdentity(torch_descriptors.PlainAOTInput):
    """Equal fields do not make it equal."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class EqualToAll(torch_descriptors.PlainAOTOutput):
    """Equal to every other descriptor."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Unhashable(torch_descriptors.PlainAOTOutput):
    """Has no hash."""

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class OnNoSide:
    """Derives from neither base."""

    idx: int

    def expr(self) -> str:
        return f"args[{self.idx}]"


class OtherExpression(torch_descriptors.PlainAOTInput):
    """Says ``arg0``, not ``args[0]``."""

    def expr(self) -> str:
        return f"arg{self.idx}"


class ForgetsTheInside(torch_descriptors.SubclassGetAttrAOTInput):
    """Leaves out the base of a nested piece."""

    def expr(self) -> str:
        return f"{type(self.base).__name__}.{self.attr}"


class SilentBase(torch_descriptors.AOTInput):
    """A base with an expression."""

    def expr(self) -> str:
        return ""


class PieceOfNothing(torch_descriptors.SubclassGetAttrAOTInput):
    """Does not ask what it is a piece of."""

    def is_param(self) -> bool:
        return False


class BufferAndParameter(torch_descriptors.BufferAOTInput):
    """A buffer that is a parameter too."""

    def is_param(self) -> bool:
        return True


class GradientUnaware(torch_descriptors.GradAOTOutput):
    """A gradient that does not know it."""

    def is_grad(self) -> bool:
        return False


class TangentOfAnything(torch_descriptors.TangentAOTInput):
    """Takes whatever it is given."""

    def __post_init__(self) -> None:
        pass


class GradOfParametersOnly(torch_descriptors.GradAOTOutput):
    """Refuses plain inputs."""

    def __post_init__(self) -> None:
        assert isinstance(self.grad_of, torch_descriptors.ParamAOTInput)


class RaisesTypeError(torch_descriptors.GradAOTOutput):
    """Refuses with another error."""

    def __post_init__(self) -> None:
        if not isinstance(self.grad_of, torch_descriptors.DifferentiableAOTInput):
            raise TypeError("not differentiable")


@dataclass(frozen=True)
class DifferentiableToken(torch_descriptors.DifferentiableAOTInput):
    """A token that passes for a tensor."""

    idx: int

    def expr(self) -> str:
        return f"__forward_token{self.idx}"


@dataclass(frozen=True)
class BufferWithoutGradient(torch_descriptors.AOTInput):
    """A buffer that can have no gradient."""

    target: str

    def expr(self) -> str:
        return f"self.get_buffer({self.target!r})"


class ShortRepr(torch_descriptors.ParamAOTInput):
    """Leaves its field out of its repr."""

    def __repr__(self) -> str:
        return "ParamAOTInput()"


class PickledAsFirst(torch_descriptors.MetadataMutationAOTOutput):
    """Comes back from a copy as another one."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.idx + 1,)


_SPOILT: tuple[tuple[str, str, SimpleNamespace], ...] = (
    ("D1", "a descriptor is missing", without("IntermediateBaseAOTOutput")),
    ("D1", "the base is missing", without("AOTOutput")),
    ("D1", "a field can be assigned", namespace(PlainAOTInput=Assignable)),
    ("D1", "equal fields are not equal", namespace(PlainAOTInput=EqualByIdentity)),
    ("D1", "different fields are equal", namespace(PlainAOTOutput=EqualToAll)),
    ("D1", "no hash", namespace(PlainAOTOutput=Unhashable)),
    ("D1", "derives from neither base", namespace(PlainAOTInput=OnNoSide)),
    ("D2", "another expression", namespace(PlainAOTInput=OtherExpression)),
    ("D2", "the inside is left out of a nested expression", namespace(SubclassGetAttrAOTInput=ForgetsTheInside)),
    ("D2", "a base has an expression", namespace(AOTInput=SilentBase)),
    ("D3", "a piece of a parameter is none", namespace(SubclassGetAttrAOTInput=PieceOfNothing)),
    ("D3", "a buffer is a parameter", namespace(BufferAOTInput=BufferAndParameter)),
    ("D3", "a gradient is none", namespace(GradAOTOutput=GradientUnaware)),
    ("D4", "a tangent of anything", namespace(TangentAOTInput=TangentOfAnything)),
    ("D4", "no gradient of a plain input", namespace(GradAOTOutput=GradOfParametersOnly)),
    ("D4", "refused with a TypeError", namespace(GradAOTOutput=RaisesTypeError)),
    ("D5", "a token is differentiable", namespace(ForwardTokenAOTInput=DifferentiableToken)),
    ("D5", "a buffer is not differentiable", namespace(BufferAOTInput=BufferWithoutGradient)),
    ("D6", "repr without the field", namespace(ParamAOTInput=ShortRepr)),
    ("D6", "another one after a copy", namespace(MetadataMutationAOTOutput=PickledAsFirst)),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(rule, title, namespace=names) for rule, title, names in _SPOILT)
