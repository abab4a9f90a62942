"""Exporters that are wrong about dynamic sizes: in what they say of them, in what they do with them, in what they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._sympy.value_ranges import ValueRanges

from conformance.exported.forms import EXPORTED, LOADED
from conformance.exported.spoiling import Spoil, calls, inputs
from generators.preludes.symbolic import with_symbolic_sizes
from generators.program import Leaf, Program, Ref
from tests.programs import let, outputs
from tests.wrong.exporting import WrongExport

#: Two inputs that share a size, each with another beside it; a transpose knows its rank.
SHARED = Program(
    leaves=(Leaf("x0", (3, 4)), Leaf("x1", (3, 5))),
    args=(Ref("x0"), Ref("x1")),
    body=(let("v0", "t", "a0"), let("v1", "sin", "a1")),
    outputs=outputs("v0", "v1"),
    symbolic=(3,),
)
#: Two sizes, one of them derived from the other.
RELATED = Program(
    leaves=(Leaf("x0", (3, 4)),), args=(Ref("x0"),), body=(let("v0", "t", "a0"),), outputs=outputs("v0"), symbolic=(3, 4)
)  # fmt: skip
#: A size that is a number of the graph.
MEASURED = Program(
    leaves=(Leaf("x0", (3, 4)),),
    args=(Ref("x0"),),
    body=(let("v0", "size", "a0", 0), let("v1", "t", "a0")),
    outputs=outputs("v0", "v1"),
    symbolic=(3,),
)

#: Shapes of the two inputs.
Shapes = tuple[Any, ...]


def called(do: Callable[..., Any], where: Callable[[Shapes], bool]) -> Spoil:
    """The module does this where the shapes are so: it gets the module of the right export and the inputs."""

    def spoil(exported: Any) -> None:
        make = exported.module

        def module() -> Any:
            inner = make()

            class Other(torch.nn.Module):
                def forward(self, *args: Any) -> Any:
                    return do(inner, *args) if where(tuple(tuple(x.shape) for x in args)) else inner(*args)

            return Other()

        exported.module = module

    return spoil


def taking(inner: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    return x.mT, y.sin()


def refusing(text: str) -> Callable[..., Any]:
    def refuse(*given: Any) -> Any:
        raise RuntimeError(text)

    return refuse


def other_values(inner: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    return x.t() + 1, y.sin()


def of_size(*sizes: int) -> Callable[[Shapes], bool]:
    return lambda shapes: shapes[0][0] in sizes and shapes[1][0] in sizes


def with_range(lower: int, upper: int) -> Spoil:
    def spoil(exported: Any) -> None:
        for symbol in exported._range_constraints:
            exported._range_constraints[symbol] = ValueRanges(lower, upper)

    return spoil


def told(place: int, shape: Callable[[Any], tuple[Any, ...]]) -> Spoil:
    """The input at that place is said to have the shape that is made of the first one's dynamic size."""

    def spoil(exported: Any) -> None:
        first = inputs(exported)[0].meta["val"]
        inputs(exported)[place].meta["val"] = first.new_empty(shape(first.shape[0]))

    return spoil


def one_symbol_too_many(exported: Any) -> None:
    inputs(exported)[0].meta["val"] = with_symbolic_sizes(((torch.ones(3, 4),), {}), (3, 4))[0][0]


def result_of_other_size(exported: Any) -> None:
    node = calls(exported)[0]
    rows, columns = node.meta["val"].shape
    node.meta["val"] = node.meta["val"].new_empty((rows, columns + 1))


def constant_result(exported: Any) -> None:
    """The size of the example, whatever the call's."""
    calls(exported)[0].meta["val"] = calls(exported)[0].meta["val"].new_empty((4, 3))


def other_number(exported: Any) -> None:
    node = next(node for node in calls(exported) if isinstance(node.meta["val"], torch.SymInt))
    node.meta["val"] = node.meta["val"] + 1


_ROWS: tuple[tuple[Any, ...], ...] = (
    ("E6", "a size that is another under the symbols", result_of_other_size),
    ("E6", "a size that is that of the example", constant_result),
    ("E6", "a number that is another under the symbols", other_number, MEASURED),
    ("E10", "a dynamic size is told as a number", told(1, lambda size: (3, 5))),
    ("E10", "another size is told as a symbol", one_symbol_too_many),
    ("E10", "equal sizes are told as two", told(1, lambda size: (size + 1, 5))),
    ("E10", "a derived size is another", told(0, lambda size: (size, size + 2)), RELATED, EXPORTED, "derived"),
    ("E10", "a narrower range", with_range(3, 4)),
    ("E10", "a wider range", with_range(2, 9)),
    ("E10", "no upper end where one was asked for", with_range(3, 99), SHARED, EXPORTED, "automatic in a range"),
    ("E10", "an upper end where none was asked for", with_range(3, 9), SHARED, EXPORTED, "no upper end"),
    ("E10", "other values at the upper end", called(other_values, of_size(5))),
    ("E10", "other values at the upper end, loaded", called(other_values, of_size(5)), SHARED, LOADED),
    ("E10", "other values between the ends", called(other_values, of_size(4))),
    ("E10", "the lower end is refused", called(refusing("of size 3"), of_size(3))),
    ("E10", "one below is taken", called(taking, of_size(2))),
    ("E10", "one above is taken", called(taking, of_size(6))),
    ("E10", "sizes that differ are taken", called(taking, lambda shapes: shapes[0][0] != shapes[1][0])),
    ("E10", "another size is taken for a constant one", called(taking, lambda shapes: (shapes[0][1], shapes[1][1]) != (4, 5))),
    ("E10", "another rank is taken", called(taking, lambda shapes: len(shapes[0]) == 3)),
    ("E10", "the refusal tells nothing", called(refusing("internal"), of_size(6))),
)
WRONG_SIZES = tuple(WrongExport(*(*row, *(SHARED, EXPORTED, "a range")[len(row) - 3 :])) for row in _ROWS)
