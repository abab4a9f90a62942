"""What a program may speak of beside torch: classes, functions and custom ops of our own, under generators/preludes/.

Each of those files is plain Python that a stand-alone script can carry: ``text_for`` gives the parts that a
piece of code needs, as they are written there. Their code may use ``torch``, ``nn``, ``F``, ``pytree`` and one another.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from torch import nn

from generators import preludes

MODULES: tuple[ModuleType, ...] = tuple(
    importlib.import_module(f"{preludes.__name__}.{module.name}") for module in pkgutil.iter_modules(preludes.__path__)
)


@dataclass(frozen=True)
class Block:
    """A top-level statement of a prelude: its text, what it defines, which name it adds to, all that it mentions."""

    text: str
    defines: frozenset[str]
    extends: str
    mentions: frozenset[str]


@cache
def blocks() -> tuple[Block, ...]:
    """Every block of the preludes, in an order in which they can be run."""
    return tuple(block for module in MODULES for block in _blocks_of(Path(str(module.__file__)).read_text(encoding="utf-8")))


def _blocks_of(text: str) -> Iterator[Block]:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_docstring:
            continue
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        called = decorators or ([node.value] if isinstance(node, ast.Expr) else [])
        yield Block(
            text="\n".join(lines[first - 1 : node.end_lineno]),
            defines=frozenset(_defined(node)) - {"_"},  # the name of what nobody calls by name
            extends=next((name for part in called if (name := _owner(part)) not in _GIVEN), ""),
            mentions=frozenset(_mentioned(node)),
        )


def _owner(call: ast.expr) -> str:
    """The name whose attribute is called: ``double`` of ``double.register_fake``, "torch" where there is none."""
    while isinstance(call, ast.Call):
        call = call.func
    if not isinstance(call, ast.Attribute):
        return "torch"
    while isinstance(call, ast.Attribute):
        call = call.value
    return call.id if isinstance(call, ast.Name) else "torch"


#: What every prelude has without defining it.
_GIVEN: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "pytree": pytree}


def _defined(node: ast.stmt) -> Iterator[str]:
    """The names that the statement binds. One called ``_`` is there for what it adds to: any code has a ``_``."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name != "_":
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _mentioned(node: ast.AST) -> list[str]:
    """The names in the code."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


#: Everything that a template may speak of, by name.
NAMES: dict[str, Any] = _GIVEN | {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if not name.startswith("__") and name not in _GIVEN
}


def text_for(code: str) -> list[str]:
    """The blocks that ``code`` needs, and those that they need in turn, in the order of the preludes."""
    wanted = set(_mentioned(ast.parse(code)))
    needed: set[Block] = set()
    while new := {b for b in blocks() if b not in needed and (b.defines & wanted or b.extends in wanted)}:
        needed |= new
        wanted |= {name for block in new for name in block.mentions}
    return [block.text for block in blocks() if block in needed]
