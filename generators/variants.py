"""Programs that differ from another in how the caller holds its inputs, in sizes, or in precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from generators.program import Program, Ref, Statement, Tree, map_refs

#: The scenarios that take other sizes than the symbolic ones exported with (C16): what each of them becomes.
OTHER_SIZES: dict[str, Callable[[int], int]] = {"larger": lambda size: size + 2, "smaller": lambda size: max(size - 1, 2)}


def sizes_in(scenario: str, program: Program) -> dict[int, int]:
    """For each symbolic size the one that this scenario takes."""
    return {size: OTHER_SIZES[scenario](size) for size in program.symbolic} if scenario in OTHER_SIZES else {}


def cloned_leaves(program: Program) -> tuple[str, ...]:
    """The leaves that a clone can stand in for: they require grad, are no parameters, and nothing views them."""
    viewed = {operand for statement in program.setup for operand in statement.operands}
    held = {state.value for state in program.state}
    return tuple(
        leaf.name
        for leaf in program.leaves
        if leaf.requires_grad and not leaf.parameter and leaf.name not in viewed and leaf.name not in held
    )


def with_non_leaves(program: Program) -> Program:
    """The program with a clone, which is no leaf, passed in place of each of its ``cloned_leaves``."""
    cloned = {name: f"{name}c" for name in cloned_leaves(program)}
    clones = tuple(Statement("clone", (name,), (), (clone,)) for name, clone in cloned.items())

    def swapped(tree: Tree) -> Tree:
        return map_refs(lambda ref: Ref(cloned.get(ref.name, ref.name)), tree)

    kwargs = tuple((key, swapped(tree)) for key, tree in program.kwargs)
    return replace(program, setup=program.setup + clones, args=tuple(map(swapped, program.args)), kwargs=kwargs)


def in_double(program: Program) -> Program:
    """The program with every floating-point leaf, and every cast to a floating-point dtype, in float64."""
    leaves = tuple(replace(leaf, dtype=_doubled(leaf.dtype)) for leaf in program.leaves)
    return replace(program, leaves=leaves, setup=_casts_doubled(program.setup), body=_casts_doubled(program.body))


def _casts_doubled(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return tuple(
        replace(s, arguments=tuple(_doubled(a) if isinstance(a, str) else a for a in s.arguments)) if s.op == "to" else s
        for s in statements
    )


def _doubled(dtype: str) -> str:
    return "float64" if dtype in ("float32", "float16", "bfloat16") else dtype
