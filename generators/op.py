"""What an op of the vocabulary is: one row, whose template is the line of Python that a person would write.

``{x} {y} {z}`` stand for operands, ``{p} {q} {r}`` for arguments. A template serves twice: printed by
``source``, and compiled once, here, into the function that ``build`` and ``settle`` call. It may speak of
``torch``, ``F``, ``nn`` and whatever the preludes define (generators/prelude.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from generators import arguments as a
from generators.prelude import NAMES
from generators.program import Literal

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in ("float32", "float64", "bfloat16", "int64", "int32", "bool", "complex64", "float16", "uint8")
}


@dataclass(frozen=True)
class Op:
    """One row: how the call is written, of what kind it is, and how its arguments are chosen.

    ``{m}`` in the template stands for the module whose forward calls it.

    ``many`` marks an op whose result is a sequence of tensors, ``silent`` one that has no result and is called
    for an effect that is no write to ``{x}``. ``writes`` names the operands that it writes, where these are not
    the ``{x}`` of a mutation. Kinds: see KINDS (generators/vocabulary.py).
    """

    name: str
    kind: str
    template: str
    arguments: tuple[a.Chooser, ...] = ()
    many: bool = False
    silent: bool = False
    writes: str = ""

    @property
    def operands(self) -> int:
        """How many tensors (or numbers) it is called with."""
        return sum("{" + letter + "}" in self.template for letter in "xyz")

    @property
    def mutates(self) -> bool:
        """Whether it is called for its effect on operands alone, and has no result."""
        return self.kind in ("mutation", "metadata", "custom_mutation", "control_mutation", "rng_mutation")

    @property
    def targets(self) -> tuple[int, ...]:
        """The places of the operands that it writes, or whose metadata it changes."""
        return tuple(map("xyz".index, self.writes or ("x" if self.mutates else "")))

    @property
    def needs_module(self) -> bool:
        """Whether it speaks of the module: then it has no place in a setup."""
        return "{m}" in self.template

    @property
    def has_result(self) -> bool:
        """Whether a call of it gives something to bind."""
        return not self.mutates and not self.silent

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The template as a function of the module if it speaks of it, then the operands, then the arguments."""
        names = [letter for letter in "mxyzpqr" if "{" + letter + "}" in self.template]
        line = re.sub(r"\{(\w)\}", r"\1", self.template)
        scope: dict[str, Any] = dict(NAMES)
        exec(f"def op({', '.join(names)}):\n    {'return ' if self.has_result else ''}{line}", scope)
        return scope["op"]  # type: ignore[no-any-return]

    def line(self, operands: tuple[str, ...], arguments: tuple[Literal, ...]) -> str:
        """The call as a line of Python."""
        names = [letter for letter in "xyz" if "{" + letter + "}" in self.template]
        given = dict(zip(names, operands)) | dict(zip("pqr", map(written, arguments)))
        return self.template.format(m="self", **given)


def written(literal: Literal) -> str:
    """A literal as it is written in a script; the only strings are dtypes."""
    return f"torch.{literal}" if isinstance(literal, str) else repr(literal)


def runtime(literal: Literal) -> Any:
    """A literal as an op takes it; the only strings are dtypes."""
    return DTYPES[literal] if isinstance(literal, str) else literal
