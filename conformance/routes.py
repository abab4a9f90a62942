"""Other ways from an export to a callable than the plain one: options, a second compile, a pass in between.

A route is a row of ROUTES. Each makes an export of its own, since a joint is used up by its compile, and its
callable then goes through "train" like the plain one, with which the rules compare it (C9-C12, C15, C17): what
the plain compile itself does wrong is told once, and not again for each route.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree
from torch._functorch.partitioners import min_cut_rematerialization_partition

from conformance import passes, scenarios
from conformance.exporting import arguments_for, caller, export
from conformance.implementation import Joint
from conformance.observation import Facts, Raised
from conformance.spies import spied, spies_report
from generators.build import Built, build
from generators.options import of_stage
from generators.program import Program

if TYPE_CHECKING:
    from conformance.case import Case

#: A callable of parameters, buffers, and the user's args and kwargs.
Compiled = Callable[..., Any]
#: A program that is thorough by its hash takes the routes of one of these groups, chosen by its hash too.
IN_TURN = (("C9", "J20", "C11"), ("C10",), ("C12",), ("C15", "C17"))


@dataclass
class Way:
    """One program on one route. ``facts`` are what the route itself sees, ``stage`` what it is at, should it fail.

    ``stack`` is that of the export, open until the callable is there; ``after`` is closed when it has been watched.
    """

    case: Case
    stack: ExitStack
    after: ExitStack
    facts: Facts = field(default_factory=dict)
    stage: str = "export"
    joint: Joint | None = None

    def export(self, stack: ExitStack | None = None) -> Joint:
        """A joint of the program, built afresh; what comes next is the compile."""
        built = build(self.case.program, self.case.device)
        self.joint = export(self.case.implementation, stack or self.stack, built, arguments_for(built))
        self.stage = "compile"
        return self.joint

    def compile(self, joint: Joint, **options: Any) -> Compiled:
        """The joint compiled, with these options in place of the program's own."""
        return self.case.implementation.compile(joint, **(options or of_stage(self.case.program.options, "compile")))

    def watch(self, compiled: Compiled, prepare: Callable[[Built], None] = lambda built: None) -> Facts:
        """The facts of "train" through the callable; ``prepare`` changes what the caller holds before the call."""
        assert self.joint is not None
        plain = caller(self.joint, compiled)

        def call(built: Built) -> Any:
            prepare(built)
            return plain(built)

        return scenarios.run("train", call, self.case.program, self.case.device)


@dataclass(frozen=True)
class Route:
    """``take`` gives the callable, ``applies`` says for which cases there is one to expect.

    ``prepare`` changes what was built for a call before it. ``expected`` makes of the facts of the plain compile
    those that are due here. ``may_refuse`` says that the documents leave it open whether this works at all: then
    a clear error is right as well.
    """

    name: str
    requirements: tuple[str, ...]
    take: Callable[[Way], Compiled]
    applies: Callable[[Case], bool] = lambda case: True
    prepare: Callable[[Case, Built], None] = lambda case, built: None
    expected: Callable[[Case], Facts] = lambda case: case.compiled["train"]
    may_refuse: bool = False


def take_routes(case: Case, requirements: Collection[str]) -> None:
    """Take every route of these requirements that applies to a thorough case, and keep what each showed.

    There is none where the plain way did not go through "train" without an error.
    """
    if not case.thorough or not case.compiled or case.eager["train"]["error"] or case.compiled["train"]["error"]:
        return
    for route in ROUTES.values():
        if not set(route.requirements).isdisjoint(requirements) and route.applies(case):
            case.routes[route.name] = _take(route, case)


def in_turn(program: Program) -> tuple[str, ...]:
    """The requirements whose routes a program takes that is thorough by its hash."""
    return IN_TURN[int(program.name[6:8], 16) % len(IN_TURN)]


def _take(route: Route, case: Case) -> Facts:
    with ExitStack() as after:
        with ExitStack() as stack:
            way = Way(case, stack, after)
            try:
                compiled = route.take(way)
            except Exception as error:
                return {**way.facts, "error": Raised(way.stage, error)}
        return way.watch(compiled, lambda built: route.prepare(case, built)) | way.facts


def _offers(option: str) -> Callable[[Case], bool]:
    """Whether the compile takes that option, and the program itself asks for nothing of the kind."""

    def applies(case: Case) -> bool:
        return option in case.implementation.compile_options() and not of_stage(case.program.options, "compile")

    return applies


def _has_no_switch(case: Case) -> bool:
    """Whether the program sets no switch of the config: it is set until the stack is closed."""
    return not of_stage(case.program.options, "config")


def _spied(way: Way) -> Compiled:
    """The caller's own partition and compilers, which write down what they get (C9, J20)."""
    return way.compile(way.export(), **spied(way.facts))


def _min_cut(way: Way) -> Compiled:
    """Partitioned by min-cut: the backward computes again what is cheap to compute (C9)."""
    return way.compile(way.export(), partition_fn=min_cut_rematerialization_partition)


def _compiled_again(way: Way) -> Compiled:
    """The callable called inside ``torch.compile(fullgraph=True)`` (C10)."""
    compiled = way.compile(way.export())

    @torch.compile(fullgraph=True, backend="aot_eager")
    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    way.after.callback(torch._dynamo.reset)  # not before: what is open on the stack reads Dynamo's counters
    return call


def _serializable(way: Way) -> Compiled:
    """``serializable=True`` and nothing else, never saved (C11)."""
    return way.compile(way.export(), serializable=True)


def _loaded(way: Way) -> Compiled:
    """Saved, and loaded back from nothing but the bytes, when the stack of the export is closed (C11)."""
    implementation = way.case.implementation
    with ExitStack() as stack:
        joint = way.export(stack)
        compiled = way.compile(joint, **implementation.serializable_options())
    way.stage = "save"
    data = bytes(implementation.saved(compiled))
    way.stage = "load"
    loaded = implementation.loaded(data)
    return lambda *args, **kwargs: pytree.tree_unflatten(loaded(*pytree.tree_leaves((args, kwargs))), joint.out_spec)


def _closed(way: Way) -> Compiled:
    """The stack closed before the compile (C15)."""
    with ExitStack() as stack:
        joint = way.export(stack)
    return way.compile(joint)


def _second_of_two(way: Way) -> Compiled:
    """The second of two callables of one export, the first having been used before it (C17)."""
    with ExitStack() as stack:
        joint = way.export(stack)
        first, second = way.compile(joint), way.compile(joint)
    way.watch(first)
    return second


def _first_of_two(way: Way) -> Compiled:
    """The first of two callables of one export, whatever became of the second (C17)."""
    joint = way.export()
    first = way.compile(joint)
    with contextlib.suppress(Exception):  # what is wrong with the second is told of the second
        way.compile(joint)
    return first


def _edited(edit: Callable[[Joint, Case], None], **options: Any) -> Callable[[Way], Compiled]:
    """A pass over the joint graph between export and compile (C12)."""

    def take(way: Way) -> Compiled:
        joint = way.export()
        way.stage = "pass"
        edit(joint, way.case)
        way.stage = "compile"
        return way.compile(joint, **options)

    return take


_ROWS: tuple[Route, ...] = (
    Route("caller's functions", ("C9", "J20"), _spied, _offers("partition_fn"), expected=spies_report),
    Route("min-cut", ("C9",), _min_cut, _offers("partition_fn")),
    Route("torch.compile", ("C10",), _compiled_again),
    Route("serializable", ("C11",), _serializable, _offers("serializable")),
    Route("saved and loaded", ("C11",), _loaded, _offers("serializable")),
    Route("graph replaced", ("C12",), _edited(passes.replace_graph)),
    Route("dead code", ("C12",), _edited(passes.eliminate_dead_code)),
    Route("renamed", ("C12",), _edited(passes.rename)),
    Route("gradients doubled", ("C12",), _edited(passes.double), passes.is_doubled, expected=passes.doubled),
    Route(
        "recomputed",
        ("C12",),
        _edited(passes.recompute, partition_fn=min_cut_rematerialization_partition),
        lambda case: _offers("partition_fn")(case) and passes.writes_nothing(case),
    ),
    Route("sharded", ("C12",), _edited(passes.shard), passes.is_sharded, passes.hold_shard, passes.sharded),
    Route("stack closed", ("C15",), _closed, _has_no_switch, may_refuse=True),
    Route("second of two", ("C17",), _second_of_two, may_refuse=True),
    Route("first of two", ("C17",), _first_of_two),
)

ROUTES: dict[str, Route] = {route.name: route for route in _ROWS}
#: The requirements that are judged on routes.
ROUTED = frozenset(requirement for route in _ROWS for requirement in route.requirements)
