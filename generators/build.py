"""From a program to a module and fresh inputs: the same bits each time, on any device."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn

from generators.dressings import dress
from generators.prelude import NAMES
from generators.program import MODES, Leaf, Program, Ref, Statement, Tree, leaves_of, unflatten
from generators.subclasses import wrapped
from generators.vocabulary import DTYPES, VOCABULARY, runtime

#: No statement of a program may make a tensor of more elements than this.
MAX_RESULT_ELEMENTS = 1 << 20


#: No other sizes than those of the program.
NO_SIZES: Mapping[int, int] = MappingProxyType({})


class TooLarge(ValueError):
    """A statement made a tensor larger than a program may."""


class Forward(nn.Module):
    """A program's module: its parameters and buffers by FQN, and a forward that runs its body."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the body on the arguments; the result has the structure of the program's outputs."""
        values: dict[str, Any] = {f"a{i}": leaf for i, leaf in enumerate(pytree.tree_leaves((args, kwargs)))}
        scope = Scope(values, self)
        for statement in self.program.body:
            execute(statement, scope)
        return scope.fill(self.program.outputs)


@dataclass
class Scope:
    """The names in sight of a statement: plain values, and those of the module behind ``self.``."""

    values: dict[str, Any]
    module: nn.Module | None = None

    def __getitem__(self, name: str) -> Any:
        return attrgetter(name[5:])(self.module) if name.startswith("self.") else self.values[name]

    def fill(self, tree: Tree) -> Any:
        """The Python structure that ``tree`` stands for."""
        return unflatten(tree, (self[leaf.name] if isinstance(leaf, Ref) else leaf.value for leaf in leaves_of(tree)))


@dataclass
class Built:
    """A module with inputs made for one call. ``values`` holds what the caller has in hand, by name."""

    program: Program
    module: Forward
    values: dict[str, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Every tensor that the caller holds, by name: leaves and setup results."""
        return {name: value for name, value in self.values.items() if isinstance(value, torch.Tensor)}

    def state(self, fqn: str) -> torch.Tensor:
        """The parameter or buffer of that FQN."""
        return attrgetter(fqn)(self.module)  # type: ignore[no-any-return]


def build(program: Program, device: str = "cpu", variant: int = 0, sizes: Mapping[int, int] = NO_SIZES) -> Built:
    """The program's module and fresh inputs on ``device``.

    Each call gives equal bits in new tensors; another ``variant`` gives the same program other values, ``sizes``
    give other sizes to what is passed as an argument: the size that each stands for.
    Raises whatever eager raises in a setup statement, or as the module is dressed.
    """
    values = make_leaves(leaves_at(program, sizes), device, variant)
    scope = Scope(values)
    for statement in program.setup:
        execute(statement, scope)
    module = Forward(program)
    for state in program.state:
        _hang(module, state.fqn, values[state.value], state.persistent)
    for name in program.dressing:
        dress(module, name)
    args = tuple(scope.fill(tree) for tree in program.args)
    kwargs = {key: scope.fill(tree) for key, tree in program.kwargs}
    return Built(program, module, values, args, kwargs)


def leaves_at(program: Program, sizes: Mapping[int, int]) -> tuple[Leaf, ...]:
    """The program's leaves with other sizes; what the module holds, and what that is made of, keeps its own."""
    held = {state.value for state in program.state}
    for statement in reversed(program.setup):
        if held.intersection(statement.results):
            held.update(statement.operands)
    return tuple(leaf if leaf.name in held else resized(leaf, sizes) for leaf in program.leaves)


def resized(leaf: Leaf, sizes: Mapping[int, int]) -> Leaf:
    """The leaf with other sizes, its dimensions in memory in the order in which they were."""
    return with_shape(leaf, tuple(sizes.get(size, size) for size in leaf.shape))


def with_shape(leaf: Leaf, shape: tuple[int, ...]) -> Leaf:
    """The leaf with that shape, of as many dimensions, in memory in the order in which they were."""
    if leaf.stride is None or shape == leaf.shape:
        return replace(leaf, shape=shape)
    inner_first = sorted(range(len(shape)), key=lambda dim: leaf.stride[dim])  # type: ignore[index]
    stride = {dim: math.prod(shape[inner] for inner in inner_first[:place]) for place, dim in enumerate(inner_first)}
    return replace(leaf, shape=shape, stride=tuple(stride[dim] for dim in range(len(shape))))


def make_leaves(leaves: tuple[Leaf, ...], device: str = "cpu", variant: int = 0) -> dict[str, Any]:
    """The leaves as tensors, drawn one after another from one CPU stream seeded with ``variant``."""
    stream = torch.Generator().manual_seed(variant)
    return {leaf.name: make_leaf(leaf, stream, device) for leaf in leaves}


def make_leaf(leaf: Leaf, stream: torch.Generator, device: str) -> torch.Tensor:
    """One leaf: random numbers of its dtype, laid out with its stride, of its subclass, parameter or not.

    Raises what eager raises where the subclass does not take such a tensor.
    """
    dtype = DTYPES[leaf.dtype]
    if dtype.is_floating_point or dtype.is_complex:
        tensor = torch.randn(leaf.shape, generator=stream, dtype=dtype)
    elif dtype == torch.bool:
        tensor = torch.randint(0, 2, leaf.shape, generator=stream).bool()
    else:
        tensor = torch.randint(0, 2, leaf.shape, generator=stream, dtype=dtype)
    tensor = tensor.to(device)
    if leaf.stride is not None:
        tensor = torch.empty_strided(leaf.shape, leaf.stride, dtype=dtype, device=device).copy_(tensor)
    tensor = wrapped(leaf.subclass, tensor)
    if leaf.parameter:
        return nn.Parameter(tensor, requires_grad=leaf.requires_grad)
    return tensor.requires_grad_(leaf.requires_grad)


def execute(statement: Statement, scope: Scope) -> None:
    """Run one statement and bind its results. Raises what eager raises, TooLarge, or ValueError for another number of them."""
    results = call(statement, scope)
    for value in results:
        elements = value.numel() if isinstance(value, torch.Tensor) else 0
        if isinstance(elements, int) and elements > MAX_RESULT_ELEMENTS:  # asking a symbol would bound it
            raise TooLarge(f"{statement.op} made {value.numel()} elements, the limit is {MAX_RESULT_ELEMENTS}")
    scope.values.update(zip(statement.results, results, strict=True))  # as an unpacking does, whatever a trace made of it


def call(statement: Statement, scope: Scope) -> list[Any]:
    """The results of one statement, none for a mutation. Raises what eager raises."""
    op = VOCABULARY[statement.op]
    operands = [scope[name] for name in statement.operands]
    of_module = [scope.module] if op.needs_module else []
    with mode_of(statement):
        result = op.function(*of_module, *operands, *map(runtime, statement.arguments))
    return [] if not op.has_result else list(result) if op.many else [result]


def mode_of(statement: Statement) -> contextlib.AbstractContextManager[Any]:
    """The context that a statement runs under."""
    return _MODES[statement.mode]() if statement.mode else contextlib.nullcontext()


_MODES: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    mode: eval(f"lambda: {text}", dict(NAMES)) for mode, text in MODES.items() if text
}


def _hang(module: nn.Module, fqn: str, tensor: torch.Tensor, persistent: bool) -> None:
    *path, name = fqn.split(".")
    for part in path:
        if not hasattr(module, part):
            module.add_module(part, nn.Module())
        module = getattr(module, part)
    if isinstance(tensor, nn.Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor, persistent=persistent)
