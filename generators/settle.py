"""From loose choices to a program: eager is the type checker.

Each statement is run in eager on small real tensors as it is settled. A choice that eager refuses is
tried with other operands, and then dropped; a program that keeps one on purpose ends with it, since
errors have parity too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import torch

from generators.build import Scope, TooLarge, build, call, make_leaves
from generators.defined import check_defined
from generators.loose import FAMILIES, OUTPUT_CONSTANTS, SCALARS, Loose, LooseItem, LooseLeaf, LooseStatement
from generators.program import Const, Leaf, Literal, Node, Program, Ref, State, Statement, Tree
from generators.subclasses import storages
from generators.vocabulary import DTYPES, KINDS, Op

#: A drawn statement that makes a larger tensor is dropped: small programs say as much, sooner.
MAX_DRAWN_ELEMENTS = 200
MAX_DRAWN_RANK = 5

PARAMETER_FQNS = ("weight", "bias", "layer.weight", "layer.bias", "block.inner.weight", "head.scale")
BUFFER_FQNS = ("running", "layer.running", "block.inner.mean", "count", "layer.count", "mask")
TIED_FQNS = ("tied", "twin.weight", "block.twin")
KEYWORDS = ("key", "scale", "option")

#: What eager raises when it refuses a call; a subclass may assert what it can do.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, AttributeError, NotImplementedError, AssertionError)


def settle(loose: Loose) -> Program:
    """The program that the choices stand for; whatever eager refuses is left out."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # the same choices are the same program, whatever was random before
        return _settled(loose)


def _settled(loose: Loose) -> Program:
    leaves = tuple(_leaf(index, choice, loose.family) for index, choice in enumerate(loose.leaves))
    values = make_leaves(leaves)
    setup = tuple(_settle_setup(loose.setup, values))
    state = tuple(_states(loose, leaves, values))
    inputs = [name for name in values if name not in {s.value for s in state}] or list(values)
    args, kwargs = _arguments(loose, inputs)
    module = Program(leaves, setup, state, args, kwargs)
    inside = _inside(module, values)
    body = tuple(_settle_body(loose, inside))
    outputs = _outputs(loose, inside)
    program = Program(leaves, setup, state, args, kwargs, body, outputs, options=loose.options)
    return _dressed(replace(program, symbolic=tuple(_symbolic(loose.symbolic, program))), loose.dressing)


def _symbolic(choice: int, program: Program) -> Iterator[int]:
    """The sizes of what is passed as an argument of which the choice makes one a symbol, and at times all."""
    passed = {leaf.name for leaf in program.flat_args if isinstance(leaf, Ref)}
    sizes = sorted({size for leaf in program.leaves if leaf.name in passed for size in leaf.shape if size > 1})
    if choice and sizes:
        yield from sizes if choice % 3 == 0 else [sizes[choice % len(sizes)]]


def _dressed(program: Program, dressing: str) -> Program:
    """The program with its module dressed so, where eager runs it."""
    dressed = replace(program, dressing=(dressing,) if dressing else ())
    if dressing:
        try:
            built = build(dressed)
            built.module(*built.args, **built.kwargs)
        except REFUSALS:
            return program
    return dressed


def _leaf(index: int, loose: LooseLeaf, family: int) -> Leaf:
    shapes = FAMILIES[family % len(FAMILIES)]
    if loose.role == "buffer" and loose.shape % 4:
        shapes = tuple(shape for shape in shapes if len(shape) == 1)  # most buffers are statistics
    shape = shapes[loose.shape % len(shapes)]
    dtype = DTYPES[loose.dtype]
    differentiable = dtype.is_floating_point or dtype.is_complex
    parameter = loose.role in ("parameter", "frozen")
    wants_grad = loose.role == "parameter" or (loose.role == "input" and loose.requires_grad)
    stride = _stride(shape, loose.layout)
    made = Leaf(f"x{index}", shape, loose.dtype, stride, differentiable and wants_grad, parameter, loose.subclass)
    return made if _can_be_made(made) else replace(made, subclass="")


def _can_be_made(leaf: Leaf) -> bool:
    """Whether eager makes such a tensor: not every subclass takes any shape, dtype and layout."""
    try:
        make_leaves((leaf,))
    except REFUSALS:
        return False
    return True


def _stride(shape: tuple[int, ...], layout: str) -> tuple[int, ...] | None:
    if layout == "transposed" and len(shape) >= 2:
        return tuple(math.prod(shape[:d]) for d in range(len(shape)))
    if layout == "channels_last" and len(shape) == 4:
        _, c, h, w = shape
        return (c * h * w, 1, w * c, c)
    return None


def _settle_setup(loose: Sequence[LooseStatement], values: dict[str, Any]) -> Iterator[Statement]:
    for choice in loose:
        statement = _first_that_runs(choice, Scope(values), list(values), f"x{len(values)}")
        if statement is not None:
            yield statement


def _states(loose: Loose, leaves: Sequence[Leaf], values: dict[str, Any]) -> Iterator[State]:
    """The values to hang on the module, but for those that no module takes."""
    parameters, buffers, ties = iter(PARAMETER_FQNS), iter(BUFFER_FQNS), iter(TIED_FQNS)
    hung: list[str] = []
    for leaf, choice in zip(leaves, loose.leaves):
        if choice.role != "input" and _can_be_hung(values[leaf.name]):
            fqn = next(buffers if choice.role == "buffer" else parameters)
            hung.append(leaf.name)
            yield State(fqn, leaf.name, persistent=choice.layout != "transposed")
    made_in_setup = [name for name in list(values)[len(leaves) :] if _can_be_hung(values[name])]
    for tie in loose.ties:
        candidates = hung + made_in_setup
        if candidates:
            yield State(next(ties), candidates[tie % len(candidates)])


def _can_be_hung(value: Any) -> bool:
    """Whether a module takes it: a parameter that the setup wrote with a gradient is a leaf no more."""
    return not isinstance(value, torch.nn.Parameter) or value.is_leaf


def _arguments(loose: Loose, inputs: list[str]) -> tuple[tuple[Tree, ...], tuple[tuple[str, Tree], ...]]:
    trees = [_argument(item, index, inputs) for index, item in enumerate(loose.args)]
    split = max(len(trees) - loose.keywords, 0)
    return tuple(trees[:split]), tuple(zip(KEYWORDS, trees[split:]))


def _argument(item: LooseItem, index: int, inputs: list[str]) -> Tree:
    """Choice 0 of the i-th argument is the i-th value, so that equal choices mean different tensors."""
    if item.constant or not inputs:
        leaves: list[Tree] = [Const(SCALARS[choice % len(SCALARS)]) for choice in item.choices]
    else:
        leaves = [Ref(inputs[(index + offset + choice) % len(inputs)]) for offset, choice in enumerate(item.choices)]
    return _wrapped(leaves, item)


def _wrapped(leaves: list[Tree], item: LooseItem) -> Tree:
    """The leaves in the item's container, the last of them in its inner one."""
    if item.inner:
        leaves = [*leaves[:-1], _contained(leaves[-1:], item.inner)]
    return _contained(leaves, item.container)


def _contained(leaves: list[Tree], container: str) -> Tree:
    if not container:
        return leaves[0]
    keys = ("first", "second", "third", "fourth")[: len(leaves)] if container == "dict" else ()
    return Node(container, tuple(leaves[: len(keys)] if keys else leaves), keys)


def _inside(module: Program, values: dict[str, Any]) -> dict[str, Any]:
    """What the forward sees, newest last: the state, then the flat arguments."""
    state = {f"self.{s.fqn}": values[s.value] for s in module.state}
    flat = module.flat_args
    return state | {f"a{i}": values[x.name] if isinstance(x, Ref) else x.value for i, x in enumerate(flat)}


def _settle_body(loose: Loose, inside: dict[str, Any]) -> Iterator[Statement]:
    made = 0
    for choice in loose.body:
        names = [name for name, value in inside.items() if value is not None]
        statement = _first_that_runs(choice, StateScope(inside), names, f"v{made}")
        if statement is not None:
            made += len(statement.results)
            yield statement
        elif loose.keep_refused and (refused := _refused(choice, StateScope(inside), names)):
            yield refused
            return


class StateScope(Scope):
    """A scope with the module's state among its values, under its full name: settle has no module yet."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values, torch.nn.Module())

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


#: So many ops of a kind are tried, the chosen one first: a convolution fits where no matmul does.
OPS_TRIED = 3
#: By the number of operands: how far each is moved from the one chosen, in the order in which this is tried.
SHIFTS: dict[int, list[tuple[int, ...]]] = {
    1: list(product(range(4))),
    2: list(product(range(2), range(6))),
    3: list(product(range(2), range(8), range(8))),
}


def _first_that_runs(choice: LooseStatement, scope: Scope, names: list[str], result: str) -> Statement | None:
    """The statement with the first op of its kind, and the first operands, that eager accepts, run and bound.

    None if eager refuses all that is tried.
    """
    kin = KINDS[choice.op.kind]
    at = kin.index(choice.op)
    for op in (kin + kin)[at : at + OPS_TRIED]:
        for shifts in SHIFTS[op.operands] if names else ():
            try:
                statement = _filled(op, choice, scope, names, shifts)
                values = small_results(statement, scope)
            except REFUSALS:
                continue
            return _bound(statement, values, scope, result)
    return None


def _bound(statement: Statement, values: Sequence[Any], scope: Scope, result: str) -> Statement:
    """The statement with names for its results, ``result`` and those after it, bound in the scope."""
    prefix, start = result[0], int(result[1:])
    results = tuple(f"{prefix}{start + i}" for i in range(len(values)))
    scope.values.update(zip(results, values))
    return replace(statement, results=results)


def _refused(choice: LooseStatement, scope: Scope, names: list[str]) -> Statement | None:
    """The statement as first chosen, though eager refuses it; None if it can't even be written down."""
    try:
        statement = _filled(choice.op, choice, scope, names, (0,) * choice.op.operands)
        check_defined(statement, scope)
        return statement
    except (*REFUSALS, ZeroDivisionError):
        return None


def _filled(op: Op, choice: LooseStatement, scope: Scope, names: list[str], shifts: tuple[int, ...]) -> Statement:
    """The choice with names, each moved by its shift, and with arguments that fit them."""
    newest_first = names[::-1]
    operands = tuple(newest_first[(c + s) % len(names)] for c, s in zip(choice.operands, shifts))
    values = [scope[name] for name in operands]
    return Statement(op.name, operands, fitting_arguments(op, values, choice.arguments), (), choice.mode)


def fitting_arguments(op: Op, operands: list[Any], numbers: Iterable[int]) -> tuple[Literal, ...]:
    """The op's arguments that these numbers choose of those that fit the operands, one number an argument.

    Raises one of REFUSALS or ZeroDivisionError where none fits.
    """
    literals: list[Literal] = []
    for chooser, number in zip(op.arguments, numbers):
        literals.append(chooser(number, operands, literals))
    return tuple(literals)


def small_results(statement: Statement, scope: Scope) -> list[Any]:
    """What the statement gives in eager. Raises one of REFUSALS where eager, or a drawn program, is not to have it."""
    check_defined(statement, scope)
    values = call(statement, scope)
    for value in values:
        if isinstance(value, torch.Tensor) and (value.numel() > MAX_DRAWN_ELEMENTS or value.dim() > MAX_DRAWN_RANK):
            raise TooLarge("larger than a drawn program needs")
    if len(values) > 4:
        raise TooLarge("more results than a drawn program needs")
    return values


def _outputs(loose: Loose, values: dict[str, Any]) -> Tree:
    names = _differentiable_last(values)
    items = [_output(item, index, names, values) for index, item in enumerate(loose.outputs)]
    return items[0] if not loose.output_container else _contained(items, loose.output_container)


def _differentiable_last(values: dict[str, Any]) -> list[str]:
    """Names in order, but those that require grad behind all others: a newest output should have a gradient."""
    return sorted(values, key=lambda name: isinstance(values[name], torch.Tensor) and values[name].requires_grad)


def _output(item: LooseItem, index: int, names: list[str], values: dict[str, Any]) -> Tree:
    """Choice 0 of the i-th output is the i-th newest value."""
    if item.constant or not names:
        leaves: list[Tree] = [Const(OUTPUT_CONSTANTS[choice % len(OUTPUT_CONSTANTS)]) for choice in item.choices]
    else:
        chosen = [names[::-1][(index + offset + choice) % len(names)] for offset, choice in enumerate(item.choices)]
        partners = _sharing_memory(chosen[-1], names[::-1], values)[:1] if item.aliased else []
        item = replace(item, container=item.container or "tuple") if partners else item
        leaves = [Ref(name) for name in (*chosen, *partners)]
    return _wrapped(leaves, item)


def _sharing_memory(name: str, names: list[str], values: dict[str, Any]) -> list[str]:
    """The other values, in that order, that are in the same memory."""
    tensors = {other: values[other] for other in names if isinstance(values[other], torch.Tensor)}
    own = storages(tensors[name]) if name in tensors else frozenset()
    return [other for other, tensor in tensors.items() if other != name and own & storages(tensor)]
