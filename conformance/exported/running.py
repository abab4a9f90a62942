"""A graph of torch.export run on real tensors, with nothing but what the signature and the caller say of its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch.export.graph_signature import CustomObjArgument

from conformance.observation import Raised, significant_stride
from generators.build import Built

#: The values of symbols in one call.
Symbols: TypeAlias = "dict[Any, int]"

#: What a symbolic number may be at run time, by the type of its ``val``.
NUMBERS: dict[type, tuple[type, ...]] = {torch.SymInt: (int,), torch.SymFloat: (float, int), torch.SymBool: (bool,)}


def inputs_of(exported: Any, built: Built) -> list[Any]:
    """What the graph takes, placeholder by placeholder: lifted values by their target, then the caller's flat arguments.

    Raises LookupError where the signature names what is not there, or no longer as much as the caller passes.
    """
    user = iter(pytree.tree_leaves((built.args, built.kwargs)))
    return [_value_of(spec, exported, built, user) for spec in exported.graph_signature.input_specs]


def _value_of(spec: Any, exported: Any, built: Built, user: Iterator[Any]) -> Any:
    kind = spec.kind.name
    if kind == "USER_INPUT":
        value = next(user, LookupError)
        if value is LookupError:
            raise LookupError("more user inputs than the caller passes")
        return value
    if kind in ("PARAMETER", "BUFFER"):
        return built.state(spec.target)
    if kind == "TOKEN":
        return torch.zeros(0)
    return exported.constants[spec.target]


@dataclass
class Run:
    """A graph run node by node: what it gave, the error that ended it, and what of the nodes' ``val`` was not true.

    The last are node, place, expected, found.
    """

    outputs: list[Any] = field(default_factory=list)
    error: Raised | None = None
    untrue: list[tuple[fx.Node, str, object, object]] = field(default_factory=list)


def interpret(exported: Any, built: Built) -> Run:
    """The exported program's graph, run as FX graphs are: an error is part of what is seen."""
    run = Run()
    try:
        told = Told(exported.graph_module, run)
        run.outputs = pytree.tree_leaves(told.run(*inputs_of(exported, built)))
    except Exception as error:
        run.error = Raised("interpreted", error)
    return run


def run_code(exported: Any, built: Built) -> list[Any]:
    """What the graph's generated Python gives, executed by itself. Raises whatever that raises."""
    code = exported.graph.python_code("self")
    names = dict(code.globals)
    exec(code.src, names)
    return pytree.tree_leaves(names["forward"](exported.graph_module, *inputs_of(exported, built)))


class Told(fx.Interpreter):
    """Runs the graph node by node and notes what of each node's ``val`` is not true."""

    def __init__(self, module: fx.GraphModule, seen: Run) -> None:
        super().__init__(module)
        self.seen = seen
        self.symbols: Symbols = {}

    def run_node(self, node: fx.Node) -> Any:
        """What the node gives, compared with what is told of it."""
        result = super().run_node(node)
        if node.op in ("placeholder", "call_function") and "val" in node.meta:
            self.seen.untrue += [(node, *rest) for rest in untrue(node.meta["val"], result, self.symbols)]
        return result


def untrue(val: Any, result: Any, symbols: Symbols, place: str = "val") -> Iterator[tuple[str, object, object]]:
    """Where a ``val`` is not what came out: place, told, found.

    A symbolic number is what it is under the values of its ``symbols``: a symbol gets its value where it stands alone
    for the first time.
    """
    if isinstance(val, torch.Tensor):
        yield from _untrue_tensor(val, result, symbols, place)
    elif isinstance(val, (tuple, list)):
        if not isinstance(result, (tuple, list)) or len(result) != len(val):
            yield f"{place} structure", f"{len(val)} results", _kind(result)
            return
        for index, (told, found) in enumerate(zip(val, result)):
            yield from untrue(told, found, symbols, f"{place}[{index}]")
    elif type(val) in NUMBERS:
        if not isinstance(result, NUMBERS[type(val)]):
            yield f"{place} kind", type(val).__name__, _kind(result)
        elif isinstance(val, torch.SymInt) and _other(val, result, symbols):
            yield f"{place} number", f"{val} under {_shown(symbols)}", str(result)
    elif isinstance(val, CustomObjArgument):
        if val.class_fqn != class_of(result):
            yield f"{place} class", val.class_fqn, class_of(result)
    elif val is None:
        if isinstance(result, torch.Tensor):
            yield f"{place} kind", "no tensor", _kind(result)
    elif type(val) is not type(result) or (val != result and val == val):
        yield f"{place} constant", repr(val), repr(result)[:80]


def class_of(value: Any) -> str:
    """The class of a custom object, as a signature names it."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _untrue_tensor(val: torch.Tensor, result: Any, symbols: Symbols, place: str) -> Iterator[tuple[str, object, object]]:
    if not isinstance(result, torch.Tensor):
        yield f"{place} kind", "a tensor", _kind(result)
        return
    for fact in ("dtype", "device", "layout"):
        if str(getattr(val, fact)) != str(getattr(result, fact)):
            yield f"{place} {fact}", str(getattr(val, fact)), str(getattr(result, fact))
    sizes = zip(val.shape, result.shape)
    if len(val.shape) != len(result.shape) or any(_other(told, found, symbols) for told, found in sizes):
        under = f" under {_shown(symbols)}" if symbols else ""
        yield f"{place} shape", f"{tuple(val.shape)}{under}", str(tuple(result.shape))
    elif not val._has_symbolic_sizes_strides and significant_stride(val) != significant_stride(result):
        yield f"{place} stride", str(significant_stride(val)), str(significant_stride(result))


def _other(told: Any, found: Any, symbols: Symbols) -> bool:
    """Whether a number is another than was told; a symbol that stands alone for the first time gets its value here.

    Nothing is known of an expression of symbols without a value.
    """
    if isinstance(told, int):
        return bool(told != found)
    expression = told.node.expr
    if expression.is_Symbol:
        return bool(symbols.setdefault(expression, found) != found)
    now = expression.subs(symbols)
    return bool(now.is_number and int(now) != found)


def _shown(symbols: Symbols) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in symbols.items())


def _kind(result: Any) -> str:
    if isinstance(result, (tuple, list)):
        return f"{len(result)} results"
    return "a tensor" if isinstance(result, torch.Tensor) else type(result).__name__
