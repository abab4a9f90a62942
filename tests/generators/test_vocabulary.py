"""Every row of the vocabulary is a call that eager accepts somewhere, and prints as it runs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import torch

from generators import arguments
from generators.candidates import SIMPLER
from generators.program import Literal, Program
from generators.settle import settle
from generators.source import source
from generators.strategies import Mix
from generators.subclasses import SUBCLASSES
from generators.vocabulary import DTYPES, KINDS, OPS, VOCABULARY, Op, runtime, written
from tests.drawing import even

every_op = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)


@cache
def programs_with(kind: str) -> dict[str, Program]:
    """For each op of this kind the first program, of ops of this kind alone, that eager accepted whole."""
    found: dict[str, Program] = {}
    mix = Mix((kind,), statements=6, subclasses=("", *SUBCLASSES) if kind == "subclass" else ("",))
    for program in map(settle, even(1000, mix)):
        found |= {statement.op: program for statement in program.body if statement.op not in found}
        if len(found) == len(KINDS[kind]):
            break
    return found


def test_no_name_is_used_twice() -> None:
    assert len({op.name for op in OPS}) == len(OPS)


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
    if op.name == "printed" and not hasattr(torch.ops.higher_order, "print"):
        pytest.skip("this torch has no print that can be traced")
    assert op.name in programs_with(op.kind)


@every_op
def test_an_op_writes_operands_that_it_has(op: Op) -> None:
    assert all(place < op.operands for place in op.targets)


@every_op
def test_a_kind_has_simpler_ones(op: Op) -> None:
    assert set(SIMPLER[op.kind]) <= set(VOCABULARY)


#: Of every kind that speaks of a prelude, the program that calls the op and gives back what there is.
PRELUDE_KINDS = ("checkpoint", "custom", "custom_mutation", "custom_view", "custom_write", "effect")
PRELUDE_KINDS += ("function", "function_view", "function_write", "hook")


@pytest.mark.parametrize("op", [op for op in OPS if op.kind in PRELUDE_KINDS], ids=lambda op: op.name)
def test_a_script_carries_the_prelude_and_runs_twice_in_one_process(op: Op) -> None:
    program = programs_with(op.kind)[op.name]
    for _ in range(2):
        scope: dict[str, Any] = {"__name__": "script"}
        exec(compile(source(program), "script", "exec"), scope)
        module, args, kwargs, _ = scope["make"]()
        module(*args, **kwargs)


def test_settling_does_not_depend_on_what_was_random_before() -> None:
    def bodies(seed: int) -> list[Program]:
        torch.manual_seed(seed)
        return [settle(loose) for loose in even(60, Mix(("rng", "rng_mutation", "unbacked", "indexing"), statements=6))]

    with torch.random.fork_rng():
        assert bodies(0) == bodies(1)


def test_settling_leaves_the_generator_alone() -> None:
    before = torch.get_rng_state()
    for loose in even(20, Mix(("rng",), statements=6)):
        settle(loose)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("op", [op for op in OPS if op.kind in ("rng", "rng_mutation")], ids=lambda op: op.name)
def test_the_same_seed_gives_the_same_numbers(op: Op) -> None:
    def drawn() -> list[torch.Tensor]:
        torch.manual_seed(3)
        operands = [torch.full((2, 3), 0.5) for _ in range(op.operands)]
        result = op.function(*operands, *(chooser(0, operands, []) for chooser in op.arguments))
        return [*operands, *([result] if op.has_result else [])]

    with torch.random.fork_rng():
        assert all(map(torch.equal, drawn(), drawn()))


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


@pytest.mark.parametrize("chooser", [arguments.shape, arguments.expanded, arguments.columns])
def test_a_ragged_dimension_is_no_argument(chooser: arguments.Chooser) -> None:
    with pytest.raises(AttributeError):
        chooser(3, [SUBCLASSES["jagged"].function(torch.ones(3))], [])
