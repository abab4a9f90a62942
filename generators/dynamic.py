"""How torch.export is told that sizes are dynamic: one row a way, each size's dimension as Python writes it.

To add a way, add a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from generators.preludes.symbolic import shapes_told
from generators.program import Program


@dataclass(frozen=True)
class Way:
    """What stands for each symbolic size.

    ``is_named`` says that the export keeps to it or refuses: equal sizes are one, and nothing is found out beside.
    ``has_range`` says that both ends are given.
    """

    name: str
    texts: Callable[[tuple[int, ...]], dict[int, str]]
    is_named: bool = False
    has_range: bool = False


def least(size: int) -> int:
    """The lower end of what is asked for; 2 is the one that torch takes for granted, so only a size of 2 has it."""
    return min(size, 3)


def most(size: int) -> int:
    """The upper end of what is asked for."""
    return size + 2


def _derived(sizes: tuple[int, ...]) -> dict[int, str]:
    first = min(sizes)
    after = f'(after := torch.export.Dim("after", min={least(first) + 1}, max={most(first) + 1}))'
    return {first: f"{after} - 1"} | {size: f"after + {size - first - 1}" for size in sizes if size != first}


WAYS: tuple[Way, ...] = (
    Way(
        "a range",
        lambda sizes: {n: f'torch.export.Dim("size_{n}", min={least(n)}, max={most(n)})' for n in sizes},
        is_named=True,
        has_range=True,
    ),
    Way(
        "no upper end", lambda sizes: {n: f'torch.export.Dim("size_{n}", min={least(n)})' for n in sizes}, is_named=True
    ),
    Way("derived", _derived, is_named=True, has_range=True),
    Way("automatic", lambda sizes: dict.fromkeys(sizes, "torch.export.Dim.AUTO")),
    Way(
        "automatic in a range",
        lambda sizes: {n: f"torch.export.Dim.AUTO(min={least(n)}, max={most(n)})" for n in sizes},
        has_range=True,
    ),
    Way("dynamic", lambda sizes: dict.fromkeys(sizes, "torch.export.Dim.DYNAMIC")),
)


def ends(program: Program, way: Way, size: int) -> tuple[int, int | None]:
    """The least and the most of what is asked for; those of a derived size come of the size that it is derived from."""
    first = min(program.symbolic) if way.name == "derived" else size
    return least(first) + size - first, most(first) + size - first if way.has_range else None


def way_of(program: Program) -> Way:
    """The way that this program gets, by its hash."""
    return WAYS[int(program.name[6:8], 16) % len(WAYS)]


def dimensions_text(program: Program, way: Way) -> str:
    """What stands for each symbolic size, as a dict in Python."""
    return "{" + ", ".join(f"{size}: {text}" for size, text in way.texts(tuple(sorted(program.symbolic))).items()) + "}"


def dynamic_shapes(program: Program, way: Way, module: Any, args: Any, kwargs: Any) -> Any:
    """The ``dynamic_shapes`` of the program's export with these arguments, asked for in this way."""
    return shapes_told(eval(dimensions_text(program, way), {"torch": torch}), module, args, kwargs)
