"""Containers of our own, made known to torch.export as a user makes them known; a stand-alone script carries this file."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch import Tensor


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


# The names are what a saved program finds the types by, and they are allowed in files: such a program holds its inputs.
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
    flatten_with_keys_fn=lambda custom: ([(pytree.GetAttrKey("a"), custom.a), (pytree.GetAttrKey("b"), custom.b)], None),
)


def by_key(x: Tensor, value: dict[Any, Tensor]) -> Tensor:
    """What depends on the order of the two keys, and on what they are."""
    first, second = value
    return x + value[first] - value[second]


def nested(x: Tensor) -> Any:
    """Containers in one another, with nothing in some of them."""
    return [{"a": (x, Data(x * 2, x * 3)), "b": Named(Custom(x * 4, 5), x * 6)}, None, ()]


def use_nested(x: Tensor, value: Any) -> Any:
    """A sum of all tensors in what ``nested`` gives, each with a sign or factor of its own."""
    first, data = value[0]["a"]
    named = value[0]["b"]
    return x + data.a - data.b + first + named.a.a - named.a.b + named.b
