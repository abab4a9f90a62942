"""Any choices settle into a program that eager runs, the same one each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from generators.build import build
from generators.codec import check_names, from_json, to_json
from generators.loose import Loose, LooseItem, LooseLeaf, LooseStatement
from generators.program import Const, Program, Ref
from generators.settle import MAX_DRAWN_ELEMENTS, settle
from generators.strategies import EVERYTHING, MIXES, Mix, loose_programs
from generators.vocabulary import KINDS, VOCABULARY
from tests.drawing import even

many = settings(max_examples=100, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
SIN = LooseStatement(VOCABULARY["sin"], (0, 0, 0), (0, 0, 0), "")
INPUT = LooseLeaf(0, "float32", "contiguous", True, "input")
FIRST = LooseItem((0,), "", False)
SIMPLE = Loose(0, (INPUT,), (), (), (FIRST,), 0, (SIN,), (FIRST,), "tuple", False)


def runs(program: Program) -> bool:
    """Whether eager goes through the whole program."""
    built = build(program)
    try:
        built.module(*built.args, **built.kwargs)
    except Exception:
        return False
    return True


@many
@given(loose_programs(EVERYTHING))
def test_choices_settle_into_a_program_whose_names_are_sound(loose: Loose) -> None:
    check_names(settle(loose))


@many
@given(loose_programs(EVERYTHING))
def test_a_settled_program_runs_in_eager_unless_a_refused_statement_is_kept(loose: Loose) -> None:
    assert loose.keep_refused or runs(settle(loose))


@many
@given(loose_programs(MIXES["metadata"]))
def test_a_program_settles_the_same_way_twice(loose: Loose) -> None:
    assert settle(loose) == settle(loose)


@pytest.mark.parametrize("kind", KINDS)
def test_any_choices_of_a_kind_settle_into_a_program_that_can_be_stored(kind: str) -> None:
    for loose in even(60, Mix((kind,), setup_kinds=(kind,)), seed=1):
        program = settle(loose)
        assert from_json(to_json(program)) == program and runs(program)


def kept_refused() -> Iterator[Program]:
    """Programs that keep the first statement that eager refuses, and those where there was one."""
    for loose in even(200, seed=2):
        kept = settle(replace(loose, keep_refused=True))
        if kept.body and kept != settle(loose):
            yield kept


def test_a_refused_statement_ends_the_body_and_has_no_result() -> None:
    assert all(not program.body[-1].results for program in kept_refused())


def test_most_kept_statements_are_refused_by_eager() -> None:
    kept = list(kept_refused())
    assert sum(not runs(program) for program in kept) > len(kept) // 2 > 10


def test_the_simplest_choices_are_the_simplest_program() -> None:
    program = settle(SIMPLE)
    assert (program.flat_args, [s.op for s in program.body], program.flat_outputs) == ((Ref("x0"),), ["sin"], (Ref("v0"),))


def test_a_statement_that_eager_refuses_for_all_operands_is_dropped() -> None:
    refused = replace(SIN, op=VOCABULARY["index_select"])
    assert settle(replace(SIMPLE, body=(refused, SIN))).body == settle(SIMPLE).body


def test_a_refused_operand_is_exchanged_for_another() -> None:
    leaves = (replace(INPUT, dtype="complex64"), replace(INPUT, dtype="float32"))
    args = (FIRST, FIRST)
    real = replace(SIN, op=VOCABULARY["imag"])
    assert settle(replace(SIMPLE, leaves=leaves, args=args, body=(real,))).body[0].operands == ("a0",)


def test_an_integer_leaf_never_requires_grad() -> None:
    assert not settle(replace(SIMPLE, leaves=(replace(INPUT, dtype="int64"),))).leaves[0].requires_grad


def test_a_frozen_parameter_does_not_require_grad() -> None:
    leaf = settle(replace(SIMPLE, leaves=(replace(INPUT, role="frozen"),))).leaves[0]
    assert (leaf.parameter, leaf.requires_grad) == (True, False)


def test_a_tie_hangs_one_value_under_two_names() -> None:
    program = settle(replace(SIMPLE, leaves=(INPUT, replace(INPUT, role="parameter")), ties=(0,)))
    assert [state.value for state in program.state] == ["x1", "x1"]


def test_constants_become_constants() -> None:
    program = settle(replace(SIMPLE, args=(FIRST, LooseItem((0,), "", True)), outputs=(LooseItem((0,), "", True),)))
    assert (program.flat_args[1], program.flat_outputs) == (Const(2), (Const(None),))


@pytest.mark.parametrize("layout, rank, stride", [("transposed", 2, (1, 2)), ("channels_last", 4, (32, 1, 8, 2))])
def test_a_layout_gives_strides(layout: str, rank: int, stride: tuple[int, ...]) -> None:
    family = {2: 0, 4: 4}[rank]
    assert settle(replace(SIMPLE, family=family, leaves=(replace(INPUT, layout=layout),))).leaves[0].stride == stride


def test_no_drawn_value_is_large() -> None:
    sizes = [
        value.numel()
        for loose in even(50, seed=3)
        for value in build(settle(loose)).tensors.values()
        if isinstance(value, torch.Tensor)
    ]
    assert 0 < max(sizes) <= MAX_DRAWN_ELEMENTS


def test_a_parameter_that_the_setup_made_a_non_leaf_is_not_hung() -> None:
    leaves = (INPUT, replace(INPUT, role="frozen"))
    same = replace(SIN, op=VOCABULARY["contiguous"])
    write = replace(SIN, op=VOCABULARY["add_tensor_"], operands=(0, 2, 0))
    program = settle(replace(SIMPLE, leaves=leaves, setup=(same, write), ties=(0,)))
    assert (program.setup[1].operands, program.state) == (("x2", "x0"), ())
