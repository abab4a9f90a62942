"""Other shapes for an exported program with dynamic sizes: those that it is to take, and those that it is to refuse (E10).

What may be a size is read off the exported program: the expressions in the ``val`` of its inputs, and the ranges of
their symbols. Whether these are what was asked for is for the rule to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch

from conformance.difference import Difference
from conformance.observation import Facts, Raised
from generators.build import with_shape
from generators.program import Program, Ref

#: Shapes by the name of the leaf.
Shapes: TypeAlias = "dict[str, tuple[int, ...]]"
#: Beyond the example size, where a range has no upper end; and no size is tried that is larger.
BEYOND, MOST = 3, 64
#: The trials whose shapes are in range; the others are to be refused.
IN_RANGE = ("smallest", "largest", "between")


@dataclass(frozen=True)
class Trial:
    """A call with these shapes: what eager did, the error of the exported program or None, and what differs."""

    shapes: Shapes
    eager: Facts
    error: Raised | None
    differences: tuple[Difference, ...]


def with_shapes(program: Program, shapes: Shapes) -> Program:
    """The program with other shapes of what is passed to it."""

    def changed(leaf: Any) -> Any:
        shape = shapes.get(leaf.name, leaf.shape)
        same_rank = len(shape) == len(leaf.shape)
        return with_shape(leaf, shape) if same_rank else replace(leaf, shape=shape, stride=None)

    return replace(program, leaves=tuple(map(changed, program.leaves)))


def told_sizes(program: Program, exported: Any) -> dict[str, tuple[Any, ...]]:
    """For each tensor that is passed, by name: its sizes as the exported program tells them, numbers or expressions.

    Without those that the module holds: another shape of such a one would be another module.
    """
    held = {state.value for state in program.state}
    named = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    vals = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    pairs = [(leaf, vals.get(name)) for leaf, name in zip(program.flat_args, named)]
    return {
        leaf.name: tuple(size.node.expr if isinstance(size, torch.SymInt) else size for size in val.shape)
        for leaf, val in pairs
        if isinstance(leaf, Ref) and leaf.name not in held and isinstance(val, torch.Tensor)
    }


def at(size: Any, symbols: Mapping[Any, int]) -> int:
    """A size under these values of its symbols."""
    return size if isinstance(size, int) else int(size.subs(symbols))


def bounds(symbol: Any, exported: Any) -> tuple[int, int | None]:
    """The least and the most that a symbol may be; None where there is no upper end."""
    told = exported.range_constraints[symbol]
    return max(int(told.lower), 0), None if told.upper > MOST else int(told.upper)


def shapes_tried(program: Program, exported: Any) -> dict[str, Shapes]:
    """The shapes of each trial, by its name; a trial that the exported program gives no occasion for is left out."""
    told = told_sizes(program, exported)
    symbols = {s for sizes in told.values() for size in sizes if not isinstance(size, int) for s in size.free_symbols}
    if not symbols or not symbols <= exported.range_constraints.keys():
        return {}
    example = {leaf.name: leaf.shape for leaf in program.leaves}
    within = {symbol: bounds(symbol, exported) for symbol in symbols}
    now = {symbol: _example(symbol, told, example) for symbol in symbols}
    values = {
        "smallest": {symbol: least for symbol, (least, _) in within.items()},
        "largest": {s: now[s] + BEYOND if most is None else most for s, (_, most) in within.items()},
        "between": {symbol: least + 1 for symbol, (least, most) in within.items() if most is None or least < most},
        "below": {symbol: least - 1 for symbol, (least, _) in within.items() if least and least != 2},
        "below two": {symbol: least - 1 for symbol, (least, _) in within.items() if least == 2},
        "above": {symbol: most + 1 for symbol, (_, most) in within.items() if most is not None},
    }
    shapes = {name: _shapes(told, now | chosen) for name, chosen in values.items() if chosen}
    return {name: shape for name, shape in (*shapes.items(), *_bent(told, example)) if _is_possible(shape)}


def _is_possible(shapes: Shapes) -> bool:
    return all(0 <= size <= MOST for shape in shapes.values() for size in shape)


def _shapes(told: Mapping[str, tuple[Any, ...]], symbols: Mapping[Any, int]) -> Shapes:
    return {name: tuple(at(size, symbols) for size in sizes) for name, sizes in told.items()}


def _example(symbol: Any, told: Mapping[str, tuple[Any, ...]], example: Shapes) -> int:
    """What the symbol stood for in the export: solved from the first size that it is in, each of which is it plus a number."""
    pairs = ((size, n) for name, sizes in told.items() for size, n in zip(sizes, example[name]))
    size, n = next((size, n) for size, n in pairs if not isinstance(size, int) and symbol in size.free_symbols)
    return n - at(size, dict.fromkeys(size.free_symbols, 0))


def _bent(told: Mapping[str, tuple[Any, ...]], example: Shapes) -> Iterator[tuple[str, Shapes]]:
    """Shapes that no values of the symbols give: sizes that are equal no more, one that is no symbol, one dimension more."""
    places = [(name, place) for name, sizes in told.items() for place in range(len(sizes))]
    for one, (name, place) in enumerate(places):
        size = told[name][place]
        if isinstance(size, int):
            yield "static", _one_more(example, told, name, place)
        elif any(told[other][there] == size for other, there in places[:one]):
            yield "unequal", _one_more(example, told, name, place)
    name = next(iter(told))
    yield "rank", {passed: example[passed] for passed in told} | {name: (*example[name], 1)}


def _one_more(example: Shapes, told: Mapping[str, tuple[Any, ...]], name: str, place: int) -> Shapes:
    shape = list(example[name])
    shape[place] += 1
    return {passed: example[passed] for passed in told} | {name: tuple(shape)}
