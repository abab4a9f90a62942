"""A signature is the same for one fault in two programs, and another for another fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from conformance.rule import Violation
from conformance.signature import Signature, error_text, frame_of, signature_of, without_numbers

PLACE = Violation("C2", "train:outputs[1].stride", "(3, 1)", "(1, 2)")


def raised(shape: tuple[int, ...], view: tuple[int, ...]) -> BaseException:
    """An error that torch raises inside its own Python code."""
    try:
        torch.nn.functional.cross_entropy(torch.zeros(shape), torch.zeros(view))
    except Exception as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("train:outputs[1].stride", "train:outputs[#].stride"),
        ("alone1:grads.x12.value", "alone#:grads.x#.value"),
        ("(3, 1)", "(#..)"),
        ("(3,)", "(#,)"),
        ("shape [2, 3, 4] at 0x7fab12", "shape [#..] at #"),
        ("1e-05 or -2.5", "# or #"),
        ("float32", "float32"),
        ("PlainAOTInput(idx=3)", "PlainAOTInput(idx=#)"),
        ("a0 x1 v2", "a# x# v#"),
        ("", ""),
    ],
)
def test_numbers_are_left_out(text: str, expected: str) -> None:
    assert without_numbers(text) == expected


@pytest.mark.parametrize(
    "other",
    [
        replace(PLACE, path="train:outputs[7].stride"),
        replace(PLACE, expected="(30, 10)", found="(10, 20)"),
    ],
)
def test_other_numbers_are_the_same_fault(other: Violation) -> None:
    assert signature_of(other) == signature_of(PLACE)


@pytest.mark.parametrize(
    "other",
    [
        replace(PLACE, rule="C3"),
        replace(PLACE, path="train:outputs[1].shape"),
        replace(PLACE, path="again:outputs[1].stride"),
        replace(PLACE, found="None"),
    ],
)
def test_another_rule_place_or_kind_is_another_fault(other: Violation) -> None:
    assert signature_of(other) != signature_of(PLACE)


def test_values_are_no_part_of_a_signature() -> None:
    values = Violation("C2", "train:outputs[0].value", "[1]", "[2]")
    assert signature_of(values) == Signature("C2", "train:outputs[#].value", "", "")


def test_an_error_is_its_type_message_and_innermost_frame_of_torch() -> None:
    error = raised((2, 3), (5, 3))
    signature = signature_of(Violation("C6", "export:error", "no error", "text", error))
    assert (signature.found.partition(":")[0], signature.frame) == (type(error).__name__, "nn/functional.py:cross_entropy")


def test_one_error_with_other_numbers_is_the_same_fault() -> None:
    first, second = (signature_of(Violation("C6", "export:error", "", "", raised((n, 3), (n + 3, 3)))) for n in (2, 4))
    assert first == second


def test_an_error_outside_torch_has_no_frame() -> None:
    assert frame_of(ValueError("never raised")) == ""


def test_an_error_is_told_by_its_first_line() -> None:
    assert error_text(ValueError("\nfirst\nsecond")) == "ValueError: first"


def test_a_signature_reads_as_one_line() -> None:
    assert str(signature_of(PLACE)) == "C2 train:outputs[#].stride (#..) -> (#..)"


def test_a_signature_says_where_an_error_came_from() -> None:
    assert str(Signature("C6", "export:error", "", "E: no", "a.py:f")) == "C6 export:error  -> E: no in a.py:f"
