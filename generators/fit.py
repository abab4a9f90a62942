"""Arguments that fit again after a change to a program, and how large a program is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generators.build import TooLarge, call, make_leaves
from generators.defined import check_defined
from generators.program import Literal, Node, Program, Ref, Statement, Tree, map_refs
from generators.settle import REFUSALS, StateScope
from generators.subclasses import SUBCLASSES
from generators.vocabulary import DTYPES, OPS, VOCABULARY

#: In place of an argument: the first that its chooser offers.
FIRST = "first"

_RANKS = {op.name: rank for rank, op in enumerate(OPS)}
_DTYPE_RANKS = {dtype: rank for rank, dtype in enumerate(DTYPES)}
_SUBCLASS_RANKS = {subclass: rank for rank, subclass in enumerate(("", *SUBCLASSES))}

#: What eager raises at a statement, beside a result that is over the size limit.
_REFUSED = (*REFUSALS, TooLarge, ZeroDivisionError)


@dataclass(frozen=True)
class Fitted:
    """A program whose arguments fit; ``odd`` counts those that are not the first that their chooser offers."""

    program: Program
    odd: int

    @property
    def size(self) -> tuple[int, ...]:
        """What the reducer makes smaller, most weighty first: statements, values passed, nesting, ops, ..."""
        p = self.program
        statements = (*p.setup, *p.body)
        return (
            len(statements),
            2 * len(p.state) + len(p.flat_args) + len(p.flat_outputs) + len(p.leaves),
            sum(map(_nodes, (p.outputs, *p.args, *(tree for _, tree in p.kwargs)))) + len(p.kwargs),
            sum(s.fqn.count(".") + (not s.persistent) for s in p.state),
            sum(_RANKS[s.op] for s in statements),
            sum(bool(s.mode) for s in statements) + len(p.options) + len(p.dressing) + len(p.symbolic),
            sum(_SUBCLASS_RANKS[x.subclass] for x in p.leaves),
            sum(_DTYPE_RANKS[x.dtype] + (x.stride is not None) + x.requires_grad + x.parameter for x in p.leaves),
            sum(len(x.shape) + math.prod(x.shape) for x in p.leaves),
            self.odd,
            _operand_ranks(p),
        )


def _nodes(tree: Tree) -> int:
    """Containers in the tree; a tuple counts less than a list or dict."""
    return 0 if not isinstance(tree, Node) else 1 + (tree.kind != "tuple") + sum(map(_nodes, tree.children))


def _operand_ranks(program: Program) -> int:
    """How far from the front the operands of the body are."""
    names = names_inside(program)
    total = 0
    for statement in program.body:
        total += sum(names.index(operand) for operand in statement.operands)
        names += statement.results
    return total


def names_inside(program: Program) -> list[str]:
    """What the forward sees before its first statement: the arguments, then the state."""
    return [f"a{i}" for i in range(len(program.flat_args))] + [f"self.{state.fqn}" for state in program.state]


def fit(program: Program, may_raise: bool) -> Fitted | None:
    """The program with every FIRST chosen, and every argument and result that eager now refuses chosen again.

    With ``may_raise`` a statement that eager refuses stays as it is, and so does what follows it. None if
    eager refuses a statement whatever its arguments or leaves its result undefined, or what may raise can't be written down.
    """
    try:
        run = _Run(make_leaves(program.leaves), may_raise)
        setup = tuple(run.fitted(program.setup))
        state = tuple(replace(s, value=run.now(s.value)) for s in program.state)
        args = tuple(map(run.tree, program.args))
        kwargs = tuple((key, run.tree(tree)) for key, tree in program.kwargs)
        outer = replace(program, setup=setup, state=state, args=args, kwargs=kwargs)
        inside = {f"a{i}": run.values[x.name] if isinstance(x, Ref) else x.value for i, x in enumerate(outer.flat_args)}
        run.values = inside | {f"self.{s.fqn}": run.values[s.value] for s in state}
        body = tuple(run.fitted(program.body))
    except (_Unfit, KeyError, *_REFUSED):  # a KeyError: what a refused setup statement would have made; no such leaf
        return None
    return Fitted(replace(outer, body=body, outputs=run.tree(program.outputs)), run.odd)


class _Unfit(Exception):
    """No choice of arguments makes a statement run."""


@dataclass
class _Run:
    """Statements run in eager one after another; ``gone`` maps results that are no longer there."""

    values: dict[str, Any]
    may_raise: bool
    odd: int = 0
    raised: bool = False

    def __post_init__(self) -> None:
        self.gone: dict[str, str] = {}

    def now(self, name: str) -> str:
        """The name, or what stands for it since the result of that name is gone."""
        return self.gone.get(name, name)

    def tree(self, tree: Tree) -> Tree:
        """The tree with the names that are there."""
        return map_refs(lambda ref: Ref(self.now(ref.name)), tree)

    def fitted(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        """Each statement as it runs."""
        for statement in statements:
            yield self._run(replace(statement, operands=tuple(map(self.now, statement.operands))))

    def _run(self, statement: Statement) -> Statement:
        if self.raised:
            return _complete(statement)
        scope = StateScope(self.values)
        operands = [scope[name] for name in statement.operands]
        first = _chosen(statement, operands, 0)
        for arguments in _choices(statement, operands, first, self.may_raise):
            fitted = replace(statement, arguments=arguments)
            try:
                check_defined(fitted, scope)
                results = call(fitted, scope)
            except _REFUSED:
                continue
            self.odd += sum(a != b for a, b in zip(arguments, first, strict=True))
            return self._bound(fitted, results)
        if not self.may_raise:
            raise _Unfit
        self.raised = True
        return _complete(statement)

    def _bound(self, statement: Statement, results: list[Any]) -> Statement:
        """With as many results as eager gave: of fewer the last stands for the rest, others are new."""
        names = statement.results[: len(results)]
        names += tuple(f"{names[0]}_{i}" for i in range(len(names), len(results)) if names)
        self.gone |= {name: names[-1] for name in statement.results[len(results) :] if names}
        self.values.update(zip(names, results, strict=False))
        return replace(statement, results=names)


def _complete(statement: Statement) -> Statement:
    if FIRST in statement.arguments or len(statement.arguments) != len(VOCABULARY[statement.op].arguments):
        raise _Unfit
    return statement


def _choices(
    statement: Statement, operands: list[Any], first: tuple[Literal, ...], as_it_is: bool
) -> Iterator[tuple[Literal, ...]]:
    """The arguments as they are, with FIRST filled in, and unless ``as_it_is`` some others."""
    if len(first) == len(statement.arguments):
        yield tuple(b if a == FIRST else a for a, b in zip(statement.arguments, first, strict=True))
    if not as_it_is:
        yield first
        yield _chosen(statement, operands, 1)


def _chosen(statement: Statement, operands: list[Any], choice: int) -> tuple[Literal, ...]:
    """The arguments of that choice; none where the choosers can't make sense of the operands."""
    literals: list[Literal] = []
    try:
        for chooser in VOCABULARY[statement.op].arguments:
            literals.append(chooser(choice, operands, literals))
    except _REFUSED:
        return ()
    return tuple(literals)
