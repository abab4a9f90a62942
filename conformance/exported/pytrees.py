"""The types that may pass the boundary of torch.export, each as a small value: what no Program can say (E9).

The table is that of the IR specification, "Pytree-able Types": leaves and containers; a type of neither is to be refused.
None is no row of it, and is passed as a leaf by all of torch.export (torch/export/graph_signature.py, ConstantArgument). Each
value is passed to a module as an argument and as a keyword, and returned by one, exported, and saved and loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn

from conformance.exported import nodes
from conformance.exported.forms import EXPORTED, LOADED, saved_and_loaded
from conformance.observation import Raised
from conformance.rule import Complaint, pytree_rule

LEAF, CONTAINER, UNREGISTERED = "leaf", "container", "unregistered"


@dataclass(frozen=True)
class Type:
    """One type: ``made`` is a value of it for a tensor ``x``, ``used`` what a module makes of ``x`` and such a ``value``.

    Both are expressions, over torch, OrderedDict and conformance/exported/nodes.py: a script shows them as they are. A type
    that is unregistered goes by the name that an error is to call it by.
    """

    name: str
    kind: str
    made: str
    used: str

    @property
    def make(self) -> Callable[[Tensor], Any]:
        """Gives a value of the type, for a tensor of two elements."""
        return eval(f"lambda x: {self.made}", _NAMES)  # type: ignore[no-any-return]

    @property
    def use(self) -> Callable[[Tensor, Any], Any]:
        """Gives what a module makes of a tensor and a value."""
        return eval(f"lambda x, value: {self.used}", _NAMES)  # type: ignore[no-any-return]


#: What the expressions may speak of.
_NAMES: dict[str, Any] = {**vars(nodes), "OrderedDict": OrderedDict}

_BY_ATTRIBUTE = "x + value.a - value.b"
_BY_PLACE = "x + value[0] - value[1]"
_ROWS: tuple[Type, ...] = (
    Type("Tensor", LEAF, "x * 2", "x + value"),
    Type("zero-dimensional Tensor", LEAF, "x.sum()", "x * value"),
    Type("int", LEAF, "3", "x * value"),
    Type("float", LEAF, "2.5", "x * value"),
    Type("complex", LEAF, "1 + 2j", "x * value"),
    Type("bool", LEAF, "True", "x if value else -x"),
    Type("str", LEAF, "'sine'", "x.sin() if value == 'sine' else x"),
    Type("None", LEAF, "None", "x.sin() if value is None else x"),
    Type("dtype", LEAF, "torch.float64", "x.to(value)"),
    Type("layout", LEAF, "torch.strided", "torch.ones_like(x, layout=value)"),
    Type("memory_format", LEAF, "torch.contiguous_format", "x.clone(memory_format=value)"),
    Type("device", LEAF, "torch.device('cpu')", "torch.ones(2, device=value) + x"),
    Type("tuple", CONTAINER, "(x, x * 2)", _BY_PLACE),
    Type("list", CONTAINER, "[x, x * 2]", _BY_PLACE),
    Type("dict by str", CONTAINER, "{'b': x, 'a': x * 2}", "by_key(x, value)"),
    Type("dict by int", CONTAINER, "{2: x, 1: x * 2}", "by_key(x, value)"),
    Type("dict by float", CONTAINER, "{2.5: x, 1.5: x * 2}", "by_key(x, value)"),
    Type("dict by bool", CONTAINER, "{True: x, False: x * 2}", "by_key(x, value)"),
    Type("OrderedDict", CONTAINER, "OrderedDict(b=x, a=x * 2)", "by_key(x, value)"),
    Type("namedtuple", CONTAINER, "Named(x, x * 2)", _BY_ATTRIBUTE),
    Type("dataclass", CONTAINER, "Data(x, x * 2)", _BY_ATTRIBUTE),
    Type("custom class", CONTAINER, "Custom(x, x * 2)", _BY_ATTRIBUTE),
    Type("nested", CONTAINER, "nested(x)", "use_nested(x, value)"),
    Type("Unregistered", UNREGISTERED, "Unregistered(x, x * 2)", _BY_ATTRIBUTE),
    Type("UnregisteredData", UNREGISTERED, "UnregisteredData(x, x * 2)", _BY_ATTRIBUTE),
    Type("set", UNREGISTERED, "{1, 2}", "x * len(value)"),
)
TYPES: dict[str, Type] = {row.name: row for row in _ROWS}


class Taking(nn.Module):
    """Is passed a value, beside a tensor."""

    def __init__(self, type: Type) -> None:
        super().__init__()
        self.use = type.use

    def forward(self, x: Tensor, value: Any) -> Any:
        """What is made of both."""
        return self.use(x, value)


class Giving(nn.Module):
    """Returns a value, beside a tensor."""

    def __init__(self, type: Type) -> None:
        super().__init__()
        self.make = type.make

    def forward(self, x: Tensor) -> tuple[Any, Tensor]:
        """The value, and a tensor."""
        return self.make(x), x + 1


@dataclass(frozen=True)
class Passage:
    """A value that is passed in one ``place``, through one ``form`` of the export: what eager gave, and what came back.

    An error is in the place of what came back.
    """

    place: str
    form: str
    eager: Any
    found: Any


@dataclass(frozen=True)
class Passed:
    """A type with all its passages."""

    type: Type
    passages: tuple[Passage, ...]


def passed(type: Type, implementation: Any) -> Passed:
    """The type's value in each place, exported, and where that works saved and loaded."""
    x = torch.tensor([1.0, 2.0])
    given: dict[str, tuple[nn.Module, tuple[Any, ...], dict[str, Any]]] = {
        "input": (Taking(type), (x, type.make(x)), {}),
        "keyword": (Taking(type), (x,), {"value": type.make(x)}),
        "output": (Giving(type), (x,), {}),
    }
    return Passed(type, tuple(p for place, call in given.items() for p in _passages(place, implementation, *call)))


def _passages(
    place: str, implementation: Any, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Passage]:
    through = partial(Passage, place, eager=module(*args, **kwargs))
    try:
        exported = implementation.export_ir(module, args, kwargs)
    except Exception as error:
        yield through(form=EXPORTED, found=Raised("export", error))
        return
    forms: dict[str, Callable[[], Any]] = {
        EXPORTED: lambda: exported,
        LOADED: lambda: saved_and_loaded(implementation, exported),
    }
    for form, make in forms.items():
        try:
            found = make().module()(*args, **kwargs)
        except Exception as error:
            found = Raised(form, error)
        yield through(form=form, found=found)


@pytree_rule("E9")
def types_pass_the_boundary(passed: Passed) -> Iterator[Complaint]:
    for passage in passed.passages:
        path = f"{passage.form}:{passed.type.kind} {passed.type.name} as {passage.place}"
        judge = _refusal_complaints if passed.type.kind == UNREGISTERED else _passage_complaints
        yield from judge(passed.type, path, passage)


def _refusal_complaints(type: Type, path: str, passage: Passage) -> Iterator[Complaint]:
    error = getattr(passage.found, "error", None)
    if error is None:
        yield path, "an error: nobody registered the type", "no error"
    elif isinstance(error, AssertionError) or type.name not in str(error):
        yield f"{path}:message", "an error that names the type", passage.found


def _passage_complaints(type: Type, path: str, passage: Passage) -> Iterator[Complaint]:
    if isinstance(passage.found, Raised):
        yield f"{path}:error", "no error", passage.found
    elif structure(passage.found) != structure(passage.eager):
        yield f"{path}:structure", structure(passage.eager), structure(passage.found)
    elif not all(map(_same, pytree.tree_leaves(passage.eager), pytree.tree_leaves(passage.found))):
        yield f"{path}.value", passage.eager, passage.found


def structure(value: Any) -> str:
    """The containers of a value, with the types of its leaves."""
    return repr(pytree.tree_map(lambda leaf: Leaf(leaf.__class__.__name__), value))


class Leaf(str):
    """A leaf's type, which prints without quotes."""

    __repr__ = str.__str__


def _same(eager: Any, found: Any) -> bool:
    if not isinstance(eager, Tensor):
        return bool(eager == found)
    with suppress(RuntimeError):  # of other devices
        return eager.dtype == found.dtype and torch.equal(eager, found)
    return False
