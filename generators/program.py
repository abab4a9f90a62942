"""What a program is: pure data that says how to make a module, its inputs, and what its forward does.

A program holds no torch object. It reads in the order in which a person would write the script:
*leaves* are the tensors that the caller makes, *setup* is what the caller does with them, *state* hangs
some of them on the module, *args* and *kwargs* pass others in, *body* is the forward, *outputs* its result.

Names
-----
``x0 x1 ..``    leaves and setup results, seen by the caller;
``a0 a1 ..``    the i-th flat leaf of ``(args, kwargs)``, seen by the forward (the index of PlainAOTInput);
``self.<fqn>``  a parameter or buffer, seen by the forward;
``v0 v1 ..``    results of body statements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

Literal: TypeAlias = "bool | int | float | str | tuple[Literal, ...] | None"

#: The context that a statement may be under, and how it is written ("" inherits the caller's).
MODES: dict[str, str] = {
    "": "",
    "no_grad": "torch.no_grad()",
    "enable_grad": "torch.enable_grad()",
    "autocast": 'torch.autocast("cpu", torch.bfloat16)',
    "inference_mode": "torch.inference_mode()",
    "saved_tensors_hooks": "torch.autograd.graph.saved_tensors_hooks(kept_as_it_is, given_back_doubled)",
    "annotated": 'torch.fx.traceback.annotate({"part": "one"})',
}
CONTAINERS = ("tuple", "list", "dict")


@dataclass(frozen=True)
class Ref:
    """A leaf of a tree: the value of that name."""

    name: str


@dataclass(frozen=True)
class Const:
    """A leaf of a tree: a plain Python value that pytree passes through."""

    value: bool | int | float | None


@dataclass(frozen=True)
class Node:
    """A tuple, list or dict of subtrees; ``keys`` belong to a dict, in insertion order."""

    kind: str
    children: tuple[Tree, ...]
    keys: tuple[str, ...] = ()


Tree: TypeAlias = "Ref | Const | Node"


def _shown(thing: Any, optional: frozenset[str]) -> str:
    """As a dataclass prints, but for optional fields that hold their default: a program without them keeps its name."""
    shown = [f for f in fields(thing) if f.name not in optional or getattr(thing, f.name) != f.default]
    return f"{type(thing).__name__}({', '.join(f'{f.name}={getattr(thing, f.name)!r}' for f in shown)})"


@dataclass(frozen=True, repr=False)
class Leaf:
    """A tensor that the caller makes; ``stride`` is None for a contiguous one, in elements otherwise.

    ``subclass`` names what is made of it (generators/subclasses.py), "" for a plain tensor.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    stride: tuple[int, ...] | None = None
    requires_grad: bool = False
    parameter: bool = False
    subclass: str = ""

    def __repr__(self) -> str:
        return _shown(self, frozenset({"subclass"}))


@dataclass(frozen=True)
class Statement:
    """One call of an op of the vocabulary, under a mode of its own (a key of MODES)."""

    op: str
    operands: tuple[str, ...]
    arguments: tuple[Literal, ...] = ()
    results: tuple[str, ...] = ()
    mode: str = ""


@dataclass(frozen=True)
class State:
    """A parameter or buffer of the module. Two entries of one value are tied."""

    fqn: str
    value: str
    persistent: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """A module and its inputs as data. Programs are equal when their content is, to the type: 1, 1.0 and True differ.

    ``dressing`` names what else is done to the module, and ``options`` how it is exported and compiled (rows of
    generators/dressings.py and generators/options.py). Dimensions of a ``symbolic`` size are dynamic in what is
    passed as an argument, those of equal size being one symbol.
    """

    leaves: tuple[Leaf, ...] = ()
    setup: tuple[Statement, ...] = ()
    state: tuple[State, ...] = ()
    args: tuple[Tree, ...] = ()
    kwargs: tuple[tuple[str, Tree], ...] = ()
    body: tuple[Statement, ...] = ()
    outputs: Tree = field(default=Node("tuple", ()))
    dressing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    symbolic: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return _shown(self, frozenset({"dressing", "options", "symbolic"}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def name(self) -> str:
        """The content hash, 12 hex digits: the program's name in records, findings and on the command line."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]

    @property
    def flat_args(self) -> tuple[Ref | Const, ...]:
        """The leaves of ``(args, kwargs)`` in pytree order."""
        trees = (*self.args, *(tree for _, tree in self.kwargs))
        return tuple(leaf for tree in trees for leaf in leaves_of(tree))

    @property
    def flat_outputs(self) -> tuple[Ref | Const, ...]:
        """The leaves of the outputs in pytree order."""
        return tuple(leaves_of(self.outputs))

    @property
    def parameter_leaves(self) -> frozenset[str]:
        """Names of the leaves that are ``nn.Parameter``."""
        return frozenset(leaf.name for leaf in self.leaves if leaf.parameter)


def leaves_of(tree: Tree) -> Iterator[Ref | Const]:
    """The leaves of a tree, left to right."""
    if isinstance(tree, Node):
        for child in tree.children:
            yield from leaves_of(child)
    else:
        yield tree


def map_refs(change: Callable[[Ref], Tree], tree: Tree) -> Tree:
    """The same tree with each Ref replaced by what ``change`` makes of it."""
    if isinstance(tree, Node):
        return Node(tree.kind, tuple(map_refs(change, child) for child in tree.children), tree.keys)
    return change(tree) if isinstance(tree, Ref) else tree


def unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The Python structure of ``tree`` filled with ``leaves``, taken left to right."""
    if not isinstance(tree, Node):
        return next(leaves)
    children = [unflatten(child, leaves) for child in tree.children]
    if tree.kind == "dict":
        return dict(zip(tree.keys, children))
    return tuple(children) if tree.kind == "tuple" else children
