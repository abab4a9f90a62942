"""Each fact changes when exactly the thing that it speaks of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from conformance.difference import differences
from conformance.observation import (
    Facts,
    Raised,
    autograd_state,
    cotangents_for,
    first_line,
    observe_aliasing,
    observe_error,
    observe_leaf,
    observe_tensor,
    roots_of,
    significant_stride,
)


def base() -> torch.Tensor:
    return torch.arange(6.0).view(2, 3).clone()


def facts_of(tensor: torch.Tensor) -> Facts:
    facts: Facts = {"error": None}
    observe_tensor(facts, "t", tensor)
    return facts


def no_grad_view(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return tensor.requires_grad_()[:]


#: One thing done to the tensor, and the facts that must differ; all others must not.
CHANGES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], set[str]]] = {
    "nothing": (lambda t: t, set()),
    "a copy": (lambda t: t.clone(), set()),
    "one value": (lambda t: t.index_fill(0, torch.tensor([1]), 9.0), {"value"}),
    "the type": (lambda t: torch.nn.Parameter(t, requires_grad=False), {"type"}),
    "the shape": (lambda t: t.view(6), {"shape", "stride", "value"}),
    "the dtype": (lambda t: t.double(), {"dtype", "value"}),
    "the stride": (lambda t: t.t().contiguous().t(), {"stride"}),
    "requires_grad": (lambda t: t.requires_grad_(), {"autograd"}),
    "a grad_fn": (lambda t: t.requires_grad_() * 1, {"autograd"}),
    "a view under no_grad": (no_grad_view, {"autograd"}),
    "the negative bit": (lambda t: torch._neg_view(-t), {"bits"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_in_its_own_facts_alone(change: str) -> None:
    make, names = CHANGES[change]
    found = {d.path for d in differences(facts_of(base()), facts_of(make(base())))}
    assert found == {f"t.{name}" for name in names}


def test_the_conjugate_bit_is_a_fact() -> None:
    tensor = torch.ones(2, dtype=torch.complex64)
    assert {d.path for d in differences(facts_of(tensor), facts_of(tensor.conj()))} == {"t.bits"}


@pytest.mark.parametrize(
    ("make", "state"),
    [
        (lambda t: t, "no grad"),
        (lambda t: t.requires_grad_(), "leaf"),
        (lambda t: t.requires_grad_().sin(), "grad_fn"),
        (lambda t: t.requires_grad_().detach(), "no grad"),
        (no_grad_view, "no_grad view"),
    ],
)
def test_the_autograd_state_is_one_word(make: Callable[[torch.Tensor], torch.Tensor], state: str) -> None:
    assert autograd_state(make(base())) == state


def test_a_view_gone_stale_is_told_as_such() -> None:
    whole = base().requires_grad_().clone()
    with torch.no_grad():
        view = whole[:]
    view_of_two = torch.zeros(2, 3).requires_grad_().clone().unbind(0)[0]
    assert {autograd_state(view), autograd_state(view_of_two)} <= {"no_grad view", "grad_fn", "stale view"}


def test_a_value_is_kept_as_it_was() -> None:
    tensor = base()
    facts = facts_of(tensor)
    tensor.zero_()
    assert facts["t.value"].sum() == 15


@pytest.mark.parametrize(
    ("shape", "stride", "significant"),
    [((2, 3), (3, 1), (3, 1)), ((1, 3), (99, 1), (None, 1)), ((0, 3), (3, 1), (None, None)), ((), (), ())],
)
def test_strides_that_address_nothing_do_not_count(
    shape: tuple[int, ...], stride: tuple[int, ...], significant: tuple[int | None, ...]
) -> None:
    assert significant_stride(torch.empty_strided(shape, stride)) == significant


@pytest.mark.parametrize(("one", "other"), [(True, 1), (1, 1.0), (None, 0), (1, 2)])
def test_plain_values_differ_by_value_and_type(one: Any, other: Any) -> None:
    first: Facts = {"error": None}
    second: Facts = {"error": None}
    observe_leaf(first, "o", one)
    observe_leaf(second, "o", other)
    assert differences(first, second)


def aliasing(**sight: torch.Tensor) -> Facts:
    facts: Facts = {}
    observe_aliasing(facts, sight)
    return facts


def test_one_object_twice_is_told_from_two() -> None:
    a = base()
    assert (aliasing(a=a, b=a)["b.is"], aliasing(a=a, b=a.clone())["b.is"], aliasing(a=a, b=a[:])["b.is"]) == ("a", None, None)


def test_sharing_a_storage_is_told_from_a_copy() -> None:
    a = base()
    assert (aliasing(a=a, b=a[1])["b.shares"], aliasing(a=a, b=a.clone())["b.shares"]) == (("a",), ())


def test_every_earlier_sharer_is_named() -> None:
    a = base()
    assert aliasing(a=a, b=base(), c=a[0], d=a[1])["d.shares"] == ("a", "c")


def test_a_differentiable_view_names_its_base_in_sight() -> None:
    a = base().requires_grad_().clone()
    assert aliasing(a=a, b=a[1])["b.base"] == "a"


def test_a_base_out_of_sight_is_none() -> None:
    assert aliasing(b=base().requires_grad_().clone()[1])["b.base"] is None


def test_a_base_is_named_even_where_it_comes_later() -> None:
    a = base().requires_grad_().clone()
    assert aliasing(b=a[1], a=a)["b.base"] == "a"


def test_what_is_no_differentiable_view_has_no_base_fact() -> None:
    assert "b.base" not in aliasing(a=base(), b=base()[1])


def test_an_error_is_a_fact_with_its_stage() -> None:
    facts: Facts = {}
    observe_error(facts, "backward", ValueError("no\nmore"))
    assert repr(facts["error"]) == "ValueError in backward: no"


def test_an_error_keeps_the_exception() -> None:
    error = ValueError("no")
    assert Raised("export", error).error is error


@pytest.mark.parametrize(
    ("text", "line"),
    [("", ""), ("\n \n a \nb", "a"), ("x" * 300, "x" * 200), ("backend='b' raised:\nE: no\nmore", "backend='b' raised: E: no")],
)
def test_the_first_line_of_a_message_says_something(text: str, line: str) -> None:
    assert first_line(ValueError(text)) == line


def test_roots_are_the_tensors_that_require_grad() -> None:
    root = base().requires_grad_() * 2
    assert [id(t) for t in roots_of([root, 1, None, base(), root])] == [id(root), id(root)]


def test_a_view_taken_under_no_grad_is_no_root() -> None:
    assert roots_of([no_grad_view(base())]) == []


def test_a_leaf_is_a_root() -> None:
    assert len(roots_of([base().requires_grad_()])) == 1


def test_cotangents_have_shape_and_dtype_of_the_roots() -> None:
    roots = [torch.zeros(2, 3), torch.zeros((), dtype=torch.complex64)]
    assert [(c.shape, c.dtype) for c in cotangents_for(roots, 0)] == [(r.shape, r.dtype) for r in roots]


def test_cotangents_are_the_same_for_a_seed_and_others_for_another() -> None:
    first, again, other = (cotangents_for([base()], seed)[0] for seed in (0, 0, 1))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_two_roots_have_two_cotangents() -> None:
    first, second = cotangents_for([base(), base()], 0)
    assert not torch.equal(first, second)
