"""Programs that are a little simpler than a given one: each pass yields some, what removes most first.

A candidate may be no program at all (a name without a definition, an argument that doesn't fit): the
reducer checks. Where an argument has to be chosen anew it is FIRST.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from generators.fit import FIRST, names_inside
from generators.program import Leaf, Node, Program, Ref, State, Statement, Tree, leaves_of, map_refs
from generators.vocabulary import VOCABULARY

T = TypeVar("T")

#: Kind -> the ops that one of this kind may become, the simplest first.
SIMPLER: dict[str, tuple[str, ...]] = {
    "pointwise": ("sin",),
    "binary": ("sin", "mul"),
    "reduction": ("sin", "sum"),
    "view": ("sin", "view", "row", "slice", "t"),
    "mutation": ("mul_", "copy_"),
    "multi_view": ("sin", "view", "unbind"),
    "multi": ("sin", "unbind", "max_dim"),
    "matrix": ("sin", "mul", "matmul"),
    "norm": ("sin", "mul"),
    "indexing": ("sin", "mul", "index_list"),
    "metadata": ("mul_", "t_"),
    "control": ("sin", "mul", "cond"),
    "control_mutation": ("mul_", "copy_"),
    "control_effect": ("sin", "noted", "cond_noted"),
    "size": ("sin", "times_size", "size"),
    "size_view": ("sin", "view", "view_rows"),
    "unbacked": ("sin", "item"),
    "rng": ("sin", "rand_like"),
    "rng_mutation": ("mul_", "uniform_"),
    "checkpoint": ("sin", "checkpoint"),
    "function": ("sin", "mul", "exponential"),
    "function_view": ("sin", "view", "same"),
    "function_write": ("sin", "mul_", "tripled_in_place"),
    "custom": ("sin", "mul", "doubled"),
    "custom_view": ("sin", "row", "first_of_library"),
    "custom_mutation": ("mul_", "copy_", "triple_"),
    "custom_write": ("sin", "mul_", "count_"),
    "effect": ("sin", "note", "noted"),
    "hook": ("gradient_hook",),
    "subclass": ("sin", "to_pair"),
}
#: What an op of any other kind may become.
SIMPLEST = ("sin", "mul", "mul_")
#: The shapes that a leaf may shrink to, before its own sizes are tried smaller.
SMALL_SHAPES: tuple[tuple[int, ...], ...] = ((), (2,), (2, 2))


def without_body(program: Program) -> Iterator[Program]:
    """Without some neighbouring statements of the body, half of it first."""
    for start, stop in _spans(len(program.body)):
        gone = program.body[start:stop]
        rest = replace(program, body=program.body[:start] + program.body[stop:])
        for which in (0, 1):
            stand_ins = _stand_ins(gone, which)
            yield _renamed_inside(rest, stand_ins)
            yield _renamed_inside(_without_outputs(rest, _is_named(stand_ins)), stand_ins)


def without_setup(program: Program) -> Iterator[Program]:
    """Without one setup statement; its first operand stands for its results."""
    for index in reversed(range(len(program.setup))):
        rest = replace(program, setup=program.setup[:index] + program.setup[index + 1 :])
        yield _renamed_outside(rest, _stand_ins(program.setup[index : index + 1], 0))


def with_own_memory(program: Program) -> Iterator[Program]:
    """With the result of one setup statement made by itself, so that it is no view of another tensor."""
    made = {leaf.name: leaf for leaf in program.leaves}
    for index, statement in enumerate(program.setup):
        source = made.get(statement.operands[0])
        if source is not None and len(statement.results) == 1:
            own = replace(source, name=statement.results[0], stride=None, parameter=False)
            yield replace(program, leaves=(*program.leaves, own), setup=_without(program.setup, index))


def _spans(length: int) -> Iterator[tuple[int, int]]:
    width = length
    while width:
        yield from ((stop - width, stop) for stop in range(length, width - 1, -1))
        width //= 2


def _stand_ins(statements: tuple[Statement, ...], which: int) -> dict[str, str]:
    """For each result the operand ``which`` of its statement, or what stands for that."""
    names: dict[str, str] = {}
    for statement in statements:
        operand = statement.operands[min(which, len(statement.operands) - 1)]
        names |= {result: names.get(operand, operand) for result in statement.results}
    return names


def _is_named(names: Container[str]) -> Callable[[Tree], bool]:
    return lambda leaf: isinstance(leaf, Ref) and leaf.name in names


def _renamed_inside(program: Program, names: Mapping[str, str]) -> Program:
    body = tuple(_renamed(statement, names) for statement in program.body)
    return replace(program, body=body, outputs=_renamed_tree(program.outputs, names))


def _renamed_outside(program: Program, names: Mapping[str, str]) -> Program:
    return replace(
        program,
        setup=tuple(_renamed(statement, names) for statement in program.setup),
        state=tuple(replace(state, value=names.get(state.value, state.value)) for state in program.state),
        args=tuple(_renamed_tree(tree, names) for tree in program.args),
        kwargs=tuple((key, _renamed_tree(tree, names)) for key, tree in program.kwargs),
    )


def _renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    operands, results = (tuple(names.get(n, n) for n in some) for some in (statement.operands, statement.results))
    return replace(statement, operands=operands, results=results)


def _renamed_tree(tree: Tree, names: Mapping[str, str]) -> Tree:
    return map_refs(lambda ref: Ref(names.get(ref.name, ref.name)), tree)


def without_outputs(program: Program) -> Iterator[Program]:
    """With one output alone, or without one."""
    count = len(program.flat_outputs)
    for alone in range(count):
        yield _only_outputs(program, lambda index, alone=alone: index == alone)  # type: ignore[misc]
    for dropped in reversed(range(count)):
        yield _only_outputs(program, lambda index, dropped=dropped: index != dropped)  # type: ignore[misc]


def _only_outputs(program: Program, keep: Callable[[int], bool]) -> Program:
    places = iter(range(len(program.flat_outputs)))
    return _without_outputs(program, lambda leaf: not keep(next(places)))


def _without_outputs(program: Program, drop: Callable[[Tree], bool]) -> Program:
    return replace(program, outputs=_pruned(program.outputs, drop) or Node("tuple", ()))


def _pruned(tree: Tree, drop: Callable[[Tree], bool]) -> Tree | None:
    """The tree without the leaves to drop, and without containers that this leaves empty."""
    if not isinstance(tree, Node):
        return None if drop(tree) else tree
    children = [_pruned(child, drop) for child in tree.children]
    keys = tuple(key for key, child in zip(tree.keys, children, strict=False) if child is not None)
    kept = tuple(child for child in children if child is not None)
    return Node(tree.kind, kept, keys) if kept else None


def less_nested(program: Program) -> Iterator[Program]:
    """With outputs, arguments or keywords less nested: as flat as can be first."""
    flat = tuple(leaves_of(program.outputs))
    yield replace(program, outputs=flat[0] if len(flat) == 1 else Node("tuple", flat))
    yield replace(program, outputs=Node("tuple", flat))
    yield replace(program, args=program.flat_args, kwargs=())
    yield replace(program, args=(*program.args, *(tree for _, tree in program.kwargs)), kwargs=())
    for index, tree in enumerate(program.args):
        yield replace(program, args=(*program.args[:index], *leaves_of(tree), *program.args[index + 1 :]))


def without_inputs(program: Program) -> Iterator[Program]:
    """Without what the body doesn't use: all of it, one argument, one entry of the state, one leaf."""
    used = _used_inside(program)
    idle = [i for i in range(len(program.flat_args)) if f"a{i}" not in used]
    state = tuple(s for s in program.state if f"self.{s.fqn}" in used)
    yield _without_idle_leaves(replace(_without_args(program, set(idle)), state=state))
    yield from (_without_args(program, {index}) for index in idle)
    yield from (replace(program, state=_without(program.state, i)) for i in range(len(program.state)))
    yield _without_idle_leaves(program)
    yield from (replace(program, leaves=_without(program.leaves, i)) for i in range(len(program.leaves)))


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]


def _used_inside(program: Program) -> set[str]:
    outputs = {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}
    return outputs | {name for statement in program.body for name in statement.operands}


def _without_args(program: Program, dropped: set[int]) -> Program:
    count = len(program.flat_args)
    kept = [index for index in range(count) if index not in dropped]
    places = iter(range(count))
    drop = lambda leaf: next(places) in dropped  # noqa: E731
    args = tuple(tree for old in program.args if (tree := _pruned(old, drop)) is not None)
    kwargs = tuple((key, tree) for key, old in program.kwargs if (tree := _pruned(old, drop)) is not None)
    fewer = replace(program, args=args, kwargs=kwargs)
    return _renamed_inside(fewer, {f"a{old}": f"a{new}" for new, old in enumerate(kept)})


def _without_idle_leaves(program: Program) -> Program:
    used = {name for statement in program.setup for name in statement.operands}
    used |= {state.value for state in program.state} | {x.name for x in program.flat_args if isinstance(x, Ref)}
    return replace(program, leaves=tuple(leaf for leaf in program.leaves if leaf.name in used))


def simpler_state(program: Program) -> Iterator[Program]:
    """With an entry of the state passed as an argument or untied; with plain FQNs; all persistent."""
    for index, state in enumerate(program.state):
        name = f"self.{state.fqn}"
        rest = replace(program, state=_without(program.state, index))
        passed = [i for i, leaf in enumerate(program.flat_args) if leaf == Ref(state.value)]
        twins = [f"self.{other.fqn}" for other in rest.state if other.value == state.value]
        yield from (_renamed_inside(rest, {name: other}) for other in (*twins[:1], *(f"a{i}" for i in passed[:1])))
        if not program.kwargs:
            more = replace(rest, args=(*rest.args, Ref(state.value)))
            leaves = (replace(x, parameter=x.parameter and x.name != state.value) for x in more.leaves)
            plain = replace(more, leaves=tuple(leaves))
            yield from (_renamed_inside(p, {name: f"a{len(program.flat_args)}"}) for p in (plain, more))
        fqn = state.fqn.rpartition(".")[2]
        flat = (*program.state[:index], State(fqn, state.value), *program.state[index + 1 :])
        yield _renamed_inside(replace(program, state=flat), {name: f"self.{fqn}"})


def as_usual(program: Program) -> Iterator[Program]:
    """Without one of the options, without what else is done to the module, with static sizes."""
    yield replace(program, options=(), dressing=(), symbolic=())
    yield from (replace(program, options=_without(program.options, index)) for index in range(len(program.options)))
    yield from (replace(program, dressing=_without(program.dressing, index)) for index in range(len(program.dressing)))
    yield from (replace(program, symbolic=_without(program.symbolic, index)) for index in range(len(program.symbolic)))


def simpler_ops(program: Program) -> Iterator[Program]:
    """With one statement's op replaced by a simpler one, on its first operands, or under no grad mode."""
    yield from _changed_statements(program, lambda s: [replace(s, mode="")] if s.mode else [])
    yield from _changed_statements(program, lambda s: [_as(s, name) for name in SIMPLER.get(VOCABULARY[s.op].kind, SIMPLEST)])


def _as(statement: Statement, name: str) -> Statement:
    op = VOCABULARY[name]
    operands = (*statement.operands, *statement.operands[-1:] * op.operands)[: op.operands]
    results = () if not op.has_result else statement.results if op.many else statement.results[:1]
    return replace(statement, op=name, operands=operands, arguments=(FIRST,) * len(op.arguments), results=results)


def first_arguments(program: Program) -> Iterator[Program]:
    """With all arguments, or one, the first that its chooser offers."""
    yield from _changed_statements(program, lambda s: [replace(s, arguments=(FIRST,) * len(s.arguments))])
    yield from _changed_statements(
        program,
        lambda s: [
            replace(s, arguments=(*s.arguments[:i], FIRST, *s.arguments[i + 1 :])) for i in range(len(s.arguments))
        ],
    )


def _changed_statements(program: Program, changes: Callable[[Statement], list[Statement]]) -> Iterator[Program]:
    """Each change to each statement, of the body first."""
    for index, old in enumerate(program.body):
        for new in changes(old):
            changed = replace(program, body=(*program.body[:index], new, *program.body[index + 1 :]))
            yield _renamed_inside(changed, _lost(old, new))
    for index, old in enumerate(program.setup):
        for new in changes(old):
            changed = replace(program, setup=(*program.setup[:index], new, *program.setup[index + 1 :]))
            yield _renamed_outside(changed, _lost(old, new))


def _lost(old: Statement, new: Statement) -> dict[str, str]:
    """The results that the new statement has no more: its first stands for them."""
    return {name: new.results[0] for name in old.results[len(new.results) :] if new.results}


def simpler_leaves(program: Program) -> Iterator[Program]:
    """With all leaves, or one, plainer: no subclass, float32, contiguous, small, without grad, no parameter."""
    plainer: tuple[Callable[[Leaf], Leaf], ...] = (
        lambda leaf: replace(leaf, subclass=""),
        lambda leaf: replace(leaf, subclass=leaf.subclass and "pair"),
        lambda leaf: replace(leaf, dtype="float32"),
        lambda leaf: replace(leaf, stride=None),
        *(lambda leaf, s=shape: _shaped(leaf, s) for shape in SMALL_SHAPES),
        lambda leaf: _shaped(leaf, tuple(min(size, 1) for size in leaf.shape)),
        lambda leaf: _shaped(leaf, tuple(min(size, 2) for size in leaf.shape)),
        lambda leaf: _shaped(leaf, leaf.shape[1:]),
        lambda leaf: _shaped(leaf, leaf.shape[:-1]),
        lambda leaf: replace(leaf, requires_grad=False),
        lambda leaf: replace(leaf, parameter=False),
    )
    for change in plainer:
        yield replace(program, leaves=tuple(map(change, program.leaves)))
    for index, leaf in enumerate(program.leaves):
        for change in plainer:
            yield replace(program, leaves=(*program.leaves[:index], change(leaf), *program.leaves[index + 1 :]))


def _shaped(leaf: Leaf, shape: tuple[int, ...]) -> Leaf:
    """Of that shape; a layout other than contiguous becomes the transposed one."""
    if len(shape) < 2 or leaf.stride is None:
        return replace(leaf, shape=shape, stride=None)
    return replace(leaf, shape=shape, stride=tuple(math.prod(shape[:d]) for d in range(len(shape))))


def earlier_operands(program: Program) -> Iterator[Program]:
    """With one operand of the body replaced by the first value in sight."""
    first = names_inside(program)[:1]
    for index, statement in enumerate(program.body):
        for place in range(len(statement.operands)):
            operands = (*statement.operands[:place], *first, *statement.operands[place + 1 :])
            changed = replace(statement, operands=operands)
            yield replace(program, body=(*program.body[:index], changed, *program.body[index + 1 :]))


def canonical(program: Program) -> Program:
    """The same program under the names x0 x1 .. and v0 v1 .., in order: equal programs get equal hashes."""
    outside = [leaf.name for leaf in program.leaves] + [name for s in program.setup for name in s.results]
    names = {name: f"x{index}" for index, name in enumerate(outside)}
    leaves = tuple(replace(leaf, name=names[leaf.name]) for leaf in program.leaves)
    results = [name for statement in program.body for name in statement.results]
    renamed = _renamed_outside(replace(program, leaves=leaves), names)
    return _renamed_inside(renamed, {name: f"v{index}" for index, name in enumerate(results)})


#: In order of how much they remove.
PASSES: tuple[Callable[[Program], Iterator[Program]], ...] = (
    without_body,
    without_setup,
    with_own_memory,
    without_outputs,
    less_nested,
    without_inputs,
    simpler_state,
    as_usual,
    simpler_ops,
    simpler_leaves,
    first_arguments,
    earlier_operands,
)
