"""A mutant is another program that eager runs, and the same one for the same seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from generators import mutants
from generators.build import build
from generators.codec import from_json, to_json
from generators.mutants import EDITS, MAX_OUTPUTS, MAX_STATEMENTS, Edit, mutant
from generators.program import Program
from tests.programs import INFERENCE, MUTATED_INPUT, TWO_INPUTS, TWO_OUTPUTS, outputs

EACH = sorted(set(EDITS), key=lambda edit: edit.__name__)
SEEDS = tuple(map(str, range(8)))


def all_of(program: Program, other: Program = MUTATED_INPUT) -> list[Program]:
    """The mutants of all seeds."""
    return [made for seed in SEEDS if (made := mutant(program, other, seed)) is not None]


@pytest.mark.parametrize("edit", EACH, ids=lambda edit: edit.__name__)
def test_each_edit_makes_another_program_that_eager_runs(edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "EDITS", (edit,))
    start = replace(MUTATED_INPUT, outputs=outputs("v0", "a0"))
    made = all_of(start, TWO_OUTPUTS)
    for program in made:
        built = build(program)
        built.module(*built.args, **built.kwargs)
    assert made and start not in made


def test_the_same_seed_gives_the_same_mutant() -> None:
    assert all_of(TWO_INPUTS) == all_of(TWO_INPUTS)


def test_seeds_differ() -> None:
    assert len(set(all_of(TWO_INPUTS))) > len(SEEDS) // 2


def test_a_mutant_can_be_stored() -> None:
    made = all_of(TWO_OUTPUTS)
    assert [from_json(to_json(program)) for program in made] == made


def test_a_mutant_of_a_mutant_stays_small() -> None:
    program = TWO_OUTPUTS
    for seed in range(60):
        program = mutant(program, MUTATED_INPUT, str(seed)) or program
    assert (len(program.body) <= MAX_STATEMENTS, len(program.flat_outputs) <= MAX_OUTPUTS) == (True, True)


def test_a_program_without_a_body_has_mutants() -> None:
    assert all_of(Program(INFERENCE.leaves, args=INFERENCE.args, outputs=INFERENCE.args[0]))


def test_an_edit_says_by_itself_what_it_does() -> None:
    assert mutants.without_an_output(TWO_OUTPUTS, INFERENCE, Random(0)).flat_outputs[0] in TWO_OUTPUTS.flat_outputs
