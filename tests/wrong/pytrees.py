"""Exporters that are wrong in what passes their boundary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from conformance.pytorch import PyTorch


@dataclass(frozen=True)
class Called:
    """An ExportedProgram whose module does something to what it is given, and to what it gives back."""

    exported: Any
    before: Callable[[Any], Any]
    after: Callable[[Any], Any]

    def module(self) -> Callable[..., Any]:
        plain = self.exported.module()

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.after(plain(*self.before(args), **kwargs))

        return call


@dataclass(frozen=True)
class WrongBoundary(PyTorch):
    """What is done to a type: ``before`` to the arguments, ``after`` to what comes back, loaded alone if ``loaded``."""

    title: str
    type: str
    before: Callable[[Any], Any] = lambda args: args
    after: Callable[[Any], Any] = lambda result: result
    loaded: bool = False

    def export_ir(self, *given: Any, **options: Any) -> Any:
        exported = super().export_ir(*given, **options)
        return exported if self.loaded else Called(exported, self.before, self.after)

    def save_ir(self, exported: Any, file: Any) -> None:
        super().save_ir(getattr(exported, "exported", exported), file)

    def load_ir(self, file: Any) -> Any:
        return Called(super().load_ir(file), self.before, self.after) if self.loaded else super().load_ir(file)


class Accepting(WrongBoundary):
    """Refuses nothing."""

    def export_ir(self, module: Any, args: Any, kwargs: Any, **options: Any) -> Any:
        return torch.export.export(torch.nn.ReLU(), args[:1])


class Refusing(WrongBoundary):
    """Refuses everything, in words that name no type."""

    def export_ir(self, *given: Any, **options: Any) -> Any:
        raise ValueError("this type is not supported")


class Asserting(WrongBoundary):
    """Refuses what it has to, by an assertion."""

    def export_ir(self, *given: Any, **options: Any) -> Any:
        try:
            return super().export_ir(*given, **options)
        except Exception as error:
            raise AssertionError(str(error)) from None


def value(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The change, of the value that is returned beside a tensor."""
    return lambda result: (change(result[0]), result[1]) if isinstance(result, tuple) else result


def swapped(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with the two entries of the dict that is one of them exchanged."""
    return tuple(dict(zip(arg, reversed(arg.values()))) if isinstance(arg, dict) else arg for arg in args)


WRONG_BOUNDARIES: tuple[WrongBoundary, ...] = (
    WrongBoundary("a tensor that is passed is a copy of ones", "Tensor", before=lambda args: tuple(map(torch.ones_like, args))),
    WrongBoundary("a zero-dimensional tensor comes back as a float", "zero-dimensional Tensor", after=value(float)),
    WrongBoundary("an int comes back one greater", "int", after=value(lambda number: number + 1)),
    WrongBoundary("a float comes back as an int", "float", after=value(int)),
    WrongBoundary("a bool comes back as an int", "bool", after=value(int)),
    WrongBoundary("None is dropped", "None", after=lambda result: result[1:] if isinstance(result, tuple) else result),
    WrongBoundary("a list comes back as a tuple", "list", after=value(tuple)),
    WrongBoundary("a dict comes back as a list", "dict by str", after=value(lambda found: list(found.values()))),
    WrongBoundary("keys come back as texts", "dict by int", after=value(lambda found: {str(k): v for k, v in found.items()})),
    WrongBoundary("a dict takes its entries in another order", "dict by float", before=swapped),
    WrongBoundary("an OrderedDict is loaded as a dict", "OrderedDict", after=value(dict), loaded=True),
    WrongBoundary("a namedtuple comes back as a tuple", "namedtuple", after=value(tuple)),
    WrongBoundary("a dataclass comes back as a dict", "dataclass", after=value(vars)),
    WrongBoundary("a custom class comes back the other way round", "custom class", after=value(lambda c: type(c)(c.b, c.a))),
    Refusing("a registered class is refused", "custom class"),
    Accepting("a class that nobody registered is taken", "Unregistered"),
    Refusing("the error does not name the type", "UnregisteredData"),
    Asserting("the error is an assertion", "set"),
)
