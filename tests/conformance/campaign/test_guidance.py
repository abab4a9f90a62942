"""What shows something new is kept and mutated, and who is done first has no say in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import golden
from conformance.campaign.guidance import ROUND, Guide
from conformance.campaign.plan import Folder, Plan
from conformance.campaign.work import judge_shard
from generators.codec import dump
from generators.features import features
from generators.program import Program
from reports.record import Outcome, Row
from tests.conformance.campaign.faked import PLAN, row
from tests.programs import ALIASED_INPUTS, INFERENCE, METADATA_MUTATED, MUTATED_INPUT, ONE_OUTPUT, TWO_OUTPUTS

GUIDED = replace(PLAN, guided=True)
NEW = (MUTATED_INPUT, METADATA_MUTATED, ALIASED_INPUTS)


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stored programs, for a guide to begin with."""
    (tmp_path / "stored").mkdir()
    for program in (INFERENCE, TWO_OUTPUTS):
        dump(program, tmp_path / "stored" / f"{program.name}.json")
    monkeypatch.setattr(golden, "PROGRAMS", tmp_path / "stored")


def seen(program: Program, **other: object) -> Row:
    """The row of a program with its own features."""
    return row(program, features=tuple(sorted(features(program))), **other)


def guide(folder: Path, order: range | list[int] = range(2 * ROUND), programs: tuple[Program, ...] = NEW) -> Guide:
    """A guide that took shards in this order; the first ones had a program each."""
    made = Guide(GUIDED, Folder(folder))
    for number in order:
        mine = programs[number : number + 1]
        made.take(number, tuple(map(seen, mine)), mine)
    return made


def parents(made: Guide, number: int = 2 * ROUND + 1) -> set[str]:
    """Who may be a parent of that shard's mutants, by name."""
    return {program.name for couple in made.couples(number) for program in couple}


def test_what_showed_something_new_has_mutants(tmp_path: Path) -> None:
    assert parents(guide(tmp_path)) == {program.name for program in (INFERENCE, TWO_OUTPUTS, *NEW)}


def test_what_showed_nothing_new_has_none(tmp_path: Path) -> None:
    larger = replace(ONE_OUTPUT, leaves=(replace(ONE_OUTPUT.leaves[0], shape=(3, 3)),))
    assert larger.name not in parents(guide(tmp_path, programs=(ONE_OUTPUT, larger)))


@pytest.mark.parametrize("outcome", [Outcome.CRASH, Outcome.TIMEOUT])
def test_what_came_to_no_end_has_none(outcome: Outcome, tmp_path: Path) -> None:
    made = Guide(GUIDED, Folder(tmp_path))
    for number in range(2 * ROUND):
        made.take(number, (seen(MUTATED_INPUT, outcome=outcome),), (MUTATED_INPUT,))
    assert MUTATED_INPUT.name not in parents(made)


def test_the_order_in_which_shards_come_in_changes_no_mutant(tmp_path: Path) -> None:
    backwards = list(range(2 * ROUND))[::-1]
    numbers = (1, ROUND + 1, 2 * ROUND + 1)
    one, other = guide(tmp_path / "one"), guide(tmp_path / "other", backwards)
    assert [one.couples(n) for n in numbers] == [other.couples(n) for n in numbers]


def test_a_shard_of_mutants_waits_for_earlier_rounds(tmp_path: Path) -> None:
    made = guide(tmp_path, range(ROUND - 1))
    ready = [made.is_ready(number) for number in (1, 2 * ROUND - 1, 2 * ROUND, 2 * ROUND + 1)]
    made.take(ROUND - 1, ())
    assert [*ready, made.is_ready(2 * ROUND + 1)] == [True, True, True, False, True]


def test_a_campaign_that_goes_on_has_the_same_mutants(tmp_path: Path) -> None:
    first = guide(tmp_path).couples(2 * ROUND + 1)
    again = Guide(GUIDED, Folder(tmp_path))
    for number in range(2 * ROUND):
        again.take(number, tuple(map(seen, NEW[number : number + 1])))
    assert again.couples(2 * ROUND + 1) == first


def test_every_second_shard_is_one_of_mutants() -> None:
    names = [GUIDED.shard(number).name for number in range(4)]
    assert names == ["everything-00", "mutants-01", "aliasing-02", "mutants-03"]


def test_a_shard_of_mutants_judges_a_mutant_of_each_couple() -> None:
    plan = Plan(0, ("aliasing",), "conformance.pytorch:PyTorch", guided=True)
    program, *others = judge_shard(plan, 1, ((ONE_OUTPUT, INFERENCE),)).programs
    assert (program != ONE_OUTPUT, others) == (True, [])
