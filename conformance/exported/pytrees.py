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
from functools import cache, partial
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn

from conformance.exported.forms import EXPORTED, LOADED, saved_and_loaded
from conformance.observation import Raised
from conformance.rule import Complaint, pytree_rule

LEAF, CONTAINER, UNREGISTERED = "leaf", "container", "unregistered"


class Named(NamedTuple):
    """A named tuple."""

    a: Any
    b: Any


@dataclass
class Data:
    """A dataclass that is registered."""

    a: Tensor
    b: Tensor


class Custom:
    """A class that is registered as a node."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __repr__(self) -> str:
        return f"Custom({self.a!r}, {self.b!r})"


class Unregistered(Custom):
    """A class that nobody registered."""


@dataclass
class UnregisteredData:
    """A dataclass that nobody registered."""

    a: Tensor
    b: Tensor


@cache
def register() -> None:
    """Make the types of the table known, as users do, with names that a saved program finds them by.

    They are allowed in files too: a saved program holds its example inputs.
    """
    torch.serialization.add_safe_globals([Data, Named, Custom])
    torch.export.register_dataclass(Data, serialized_type_name="conformance.Data")
    pytree._register_namedtuple(Named, serialized_type_name="conformance.Named")
    pytree.register_pytree_node(
        Custom,
        lambda custom: ([custom.a, custom.b], None),
        lambda leaves, context: Custom(*leaves),
        serialized_type_name="conformance.Custom",
        to_dumpable_context=lambda context: "",
        from_dumpable_context=lambda text: None,
        flatten_with_keys_fn=_with_keys,
    )


def _with_keys(custom: Custom) -> tuple[list[tuple[Any, Any]], None]:
    return [(pytree.GetAttrKey("a"), custom.a), (pytree.GetAttrKey("b"), custom.b)], None


@dataclass(frozen=True)
class Type:
    """One type: ``make`` gives a value of it for a tensor, ``use`` what a module makes of the tensor and such a value.

    A type that is unregistered goes by the name that an error is to call it by.
    """

    name: str
    kind: str
    make: Callable[[Tensor], Any]
    use: Callable[[Tensor, Any], Any]


def _by_attribute(x: Tensor, value: Any) -> Any:
    return x + value.a - value.b


def _by_key(x: Tensor, value: Any) -> Any:
    first, second = value
    return x + value[first] - value[second]


def _by_place(x: Tensor, value: Any) -> Any:
    return x + value[0] - value[1]


def _product(x: Tensor, value: Any) -> Any:
    return x * value


def _nested(x: Tensor) -> Any:
    return [{"a": (x, Data(x * 2, x * 3)), "b": Named(Custom(x * 4, 5), x * 6)}, None, ()]


def _use_nested(x: Tensor, value: Any) -> Any:
    first, data = value[0]["a"]
    named = value[0]["b"]
    return _by_attribute(_by_attribute(x, data) + first, named.a) + named.b


_ROWS: tuple[Type, ...] = (
    Type("Tensor", LEAF, lambda x: x * 2, lambda x, v: x + v),
    Type("zero-dimensional Tensor", LEAF, lambda x: x.sum(), _product),
    Type("int", LEAF, lambda x: 3, _product),
    Type("float", LEAF, lambda x: 2.5, _product),
    Type("complex", LEAF, lambda x: 1 + 2j, _product),
    Type("bool", LEAF, lambda x: True, lambda x, v: x if v else -x),
    Type("str", LEAF, lambda x: "sine", lambda x, v: x.sin() if v == "sine" else x),
    Type("None", LEAF, lambda x: None, lambda x, v: x.sin() if v is None else x),
    Type("dtype", LEAF, lambda x: torch.float64, lambda x, v: x.to(v)),
    Type("layout", LEAF, lambda x: torch.strided, lambda x, v: torch.ones_like(x, layout=v)),
    Type("memory_format", LEAF, lambda x: torch.contiguous_format, lambda x, v: x.clone(memory_format=v)),
    Type("device", LEAF, lambda x: torch.device("cpu"), lambda x, v: torch.ones(2, device=v) + x),
    Type("tuple", CONTAINER, lambda x: (x, x * 2), _by_place),
    Type("list", CONTAINER, lambda x: [x, x * 2], _by_place),
    Type("dict by str", CONTAINER, lambda x: {"b": x, "a": x * 2}, _by_key),
    Type("dict by int", CONTAINER, lambda x: {2: x, 1: x * 2}, _by_key),
    Type("dict by float", CONTAINER, lambda x: {2.5: x, 1.5: x * 2}, _by_key),
    Type("dict by bool", CONTAINER, lambda x: {True: x, False: x * 2}, _by_key),
    Type("OrderedDict", CONTAINER, lambda x: OrderedDict(b=x, a=x * 2), _by_key),
    Type("namedtuple", CONTAINER, lambda x: Named(x, x * 2), _by_attribute),
    Type("dataclass", CONTAINER, lambda x: Data(x, x * 2), _by_attribute),
    Type("custom class", CONTAINER, lambda x: Custom(x, x * 2), _by_attribute),
    Type("nested", CONTAINER, _nested, _use_nested),
    Type("Unregistered", UNREGISTERED, lambda x: Unregistered(x, x * 2), _by_attribute),
    Type("UnregisteredData", UNREGISTERED, lambda x: UnregisteredData(x, x * 2), _by_attribute),
    Type("set", UNREGISTERED, lambda x: {1, 2}, lambda x, v: x * len(v)),
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
    register()
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
