"""Every row of the vocabulary is a call that eager accepts somewhere, and prints as it runs."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
import torch

from generators import arguments
from generators.program import Literal
from generators.settle import settle
from generators.strategies import Mix
from generators.subclasses import SUBCLASSES
from generators.vocabulary import DTYPES, KINDS, OPS, VOCABULARY, Op, runtime, written
from tests.drawing import even

every_op = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)


@cache
def settled_ops(kind: str) -> Counter[str]:
    """How often each op is in programs of this kind that eager accepted whole."""
    mix = Mix((kind,), statements=6, subclasses=("", *SUBCLASSES) if kind == "subclass" else ("",))
    return Counter(statement.op for loose in even(500, mix) for statement in settle(loose).body)


def test_no_name_is_used_twice() -> None:
    assert len(VOCABULARY) == len(OPS)


def test_every_op_is_of_a_kind() -> None:
    assert sum(KINDS.values(), ()) == tuple(sorted(OPS, key=lambda op: list(KINDS).index(op.kind)))


@every_op
def test_a_template_compiles(op: Op) -> None:
    assert callable(op.function)


@every_op
def test_a_template_names_its_operands_and_arguments_in_order(op: Op) -> None:
    letters = set(re.findall(r"\{(\w)\}", op.template))
    assert letters == set("xyz"[: op.operands]) | set("pqr"[: len(op.arguments)])


@every_op
def test_the_printed_line_is_the_template_filled(op: Op) -> None:
    operands = ("a0", "a1", "a2")[: op.operands]
    literals: tuple[Literal, ...] = tuple(range(len(op.arguments)))
    assert "{" not in op.line(operands, literals) and all(name in op.line(operands, literals) for name in operands)


@every_op
def test_an_op_is_drawn_and_runs_in_eager(op: Op) -> None:
    assert settled_ops(op.kind)[op.name] > 0


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_is_written_and_passed_as_the_torch_attribute(name: str) -> None:
    assert eval(written(name), {"torch": torch}) == runtime(name) == DTYPES[name]


@pytest.mark.parametrize("literal", [None, True, 3, 0.5, (2, -1), ()])
def test_another_literal_is_written_and_passed_as_it_is(literal: Literal) -> None:
    assert eval(written(literal)) == runtime(literal) == literal


A = torch.zeros(2, 3)


@pytest.mark.parametrize("choice", [0, 1, 7, 255])
@pytest.mark.parametrize("tensor", [A, torch.zeros(()), torch.zeros(0, 3), torch.zeros(1), torch.zeros(2, 1, 4)], ids=str)
def test_a_dim_is_one_of_the_operand(tensor: torch.Tensor, choice: int) -> None:
    assert arguments.dim(choice, [tensor], []) in range(max(tensor.dim(), 1))


@pytest.mark.parametrize("choice", range(12))
def test_a_shape_has_as_many_elements_as_the_operand(choice: int) -> None:
    assert A.view(arguments.shape(choice, [A], [])).numel() == 6  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", range(8))
def test_an_expanded_shape_is_one_that_the_operand_expands_to(choice: int) -> None:
    column = torch.zeros(2, 1)
    assert column.expand(arguments.expanded(choice, [column], [])).numel() >= 2  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", range(8))
def test_a_permutation_permutes(choice: int) -> None:
    assert A.unsqueeze(0).permute(arguments.permutation(choice, [A.unsqueeze(0)], [])).dim() == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", range(8))
def test_a_slice_is_not_empty(choice: int) -> None:
    start = arguments.index(choice, [A], [])
    end = arguments.end(choice, [A], [start])
    assert isinstance(start, int) and isinstance(end, int) and A[start:end].numel() > 0


@pytest.mark.parametrize("choice", range(8))
def test_a_resized_tensor_reads_nothing_uninitialized(choice: int) -> None:
    shape = arguments.resized(choice, [A], [])
    assert isinstance(shape, tuple) and torch.Size(shape).numel() <= A.numel()  # type: ignore[arg-type]


def test_some_strides_overlap_in_memory() -> None:
    strides = {arguments.strided_stride(choice, [A], [(2, 2)]) for choice in range(3)}
    assert (0, 0) in strides and len(strides) == 3


def test_a_split_takes_a_dimension_that_can_be_split() -> None:
    assert {arguments.split_dim(choice, [torch.zeros(1, 4, 1)], []) for choice in range(5)} == {1}
