"""What counts as equal: NaN, tolerances by dtype, facts that one side lacks, errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from conformance.difference import TOLERANCES, Difference, brief, differences, same, unstable_paths
from conformance.observation import Facts, Raised
from generators.subclasses import wrapped
from generators.vocabulary import DTYPES

ERROR = Raised("forward", ValueError("no"))
NAN = float("nan")


@pytest.fixture
def fake() -> torch.Tensor:
    return FakeTensorMode().from_tensor(torch.ones(2))


def test_a_tensor_without_values_is_not_that_with_values(fake: torch.Tensor) -> None:
    assert not same(torch.ones(2), fake)


def test_tensors_without_values_are_the_same(fake: torch.Tensor) -> None:
    assert same(fake, fake)


def test_a_tensor_without_values_is_told_as_one(fake: torch.Tensor) -> None:
    assert brief(fake) == "no values float32[2]"


def facts(**named: Any) -> Facts:
    return {"error": None, **named}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1),
        ((1, None), (1, None)),
        (NAN, NAN),
        (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0])),
        (torch.tensor(complex(NAN, 1)), torch.tensor(complex(NAN, 1))),
        (torch.tensor([float("inf")]), torch.tensor([float("inf")])),
        (torch.zeros(0), torch.zeros(0)),
        (torch.tensor(-0.0), torch.tensor(0.0)),
        (torch.tensor([True]), torch.tensor([True])),
    ],
)
def test_these_are_the_same(one: Any, other: Any) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, True),
        (1, 1.0),
        (None, 0),
        (1.0, NAN),
        (NAN, 1.0),
        ((1,), [1]),
        (torch.tensor([NAN]), torch.tensor([1.0])),
        (torch.tensor([float("inf")]), torch.tensor([-float("inf")])),
        (torch.zeros(2), torch.zeros(1)),
        (torch.zeros(0), torch.zeros(0, 1)),
        (torch.zeros(1), torch.zeros(1, dtype=torch.float64)),
        (torch.tensor([1]), torch.tensor([2])),
        (torch.tensor([True]), torch.tensor([False])),
        (torch.zeros(1), None),
        (ERROR, None),
    ],
)
def test_these_are_not_the_same(one: Any, other: Any) -> None:
    assert not same(one, other)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize(("factor", "equal"), [(0.5, True), (3.0, False)])
def test_a_tolerance_is_that_of_the_dtype(dtype: torch.dtype, factor: float, equal: bool) -> None:
    (relative, absolute), _ = TOLERANCES[dtype]
    one = torch.tensor([100.0], dtype=dtype)
    assert same(one, one + factor * (100 * relative + absolute)) is equal


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_of_inexact_numbers_has_a_tolerance(name: str) -> None:
    dtype = DTYPES[name]
    assert (dtype in TOLERANCES) == (dtype.is_floating_point or dtype.is_complex)


def test_another_device_has_wider_tolerances() -> None:
    assert all(other >= cpu for cpu, other in TOLERANCES.values())


def test_equal_facts_have_no_differences() -> None:
    assert differences(facts(a=1), facts(a=1)) == []


def test_a_difference_names_the_path_and_both_sides() -> None:
    assert differences(facts(a=1, b=2), facts(a=1, b=3)) == [Difference("b", "2", "3")]


def test_every_difference_is_told() -> None:
    assert [d.path for d in differences(facts(a=1, b=2), facts(a=2, b=1))] == ["a", "b"]


def test_a_fact_that_one_side_lacks_is_no_difference() -> None:
    assert differences(facts(a=1), facts(b=1)) == []


def test_an_unjudged_path_is_not_compared() -> None:
    assert differences(facts(a=1), facts(a=2), frozenset({"a"})) == []


def test_an_error_of_one_side_is_the_only_difference() -> None:
    found = differences(facts(a=1), {"error": ERROR, "a": 2})
    assert found == [Difference("error", "None", "ValueError in forward: no")]


def test_an_error_of_both_sides_is_no_difference() -> None:
    assert differences({"error": ERROR, "a": 1}, {"error": Raised("export", TypeError()), "a": 2}) == []


def test_what_differs_between_two_runs_is_unstable() -> None:
    assert unstable_paths(facts(a=1, b=NAN, c=3), facts(a=1, b=NAN, c=4)) == {"c"}


def test_what_the_second_run_lacks_is_unstable() -> None:
    assert unstable_paths(facts(a=1), facts()) == {"a"}


def test_a_tensor_is_told_by_its_first_elements() -> None:
    assert brief(torch.arange(8.0)) == "[0, 1, 2, 3, 4, 5, ...] float32[8]"


def test_a_subclass_is_told_by_its_pieces() -> None:
    assert brief(wrapped("pair", torch.ones(1))) == ".a: [1] float32[1], .b: [2] float32[1]"


def test_a_long_fact_is_cut() -> None:
    assert len(brief("x" * 1000)) == 200


def test_a_subclass_without_an_allclose_is_compared_by_its_pieces() -> None:
    numbers = torch.tensor([1.0, 2.0])
    assert same(wrapped("dtensor", numbers), wrapped("dtensor", numbers * (1 + 1e-6)))
