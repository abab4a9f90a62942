"""What is drawn, and that Hypothesis shrinks it to what an expert would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, find, given, settings

from conformance.shards import Shard, draw
from generators.features import features
from generators.program import Program
from generators.settle import settle
from generators.strategies import EVERYTHING, MIXES, Mix, loose_programs, programs
from generators.vocabulary import KINDS, VOCABULARY
from tests.drawing import drawn

SHRINK = settings(max_examples=400, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def minimal(condition: Callable[[Program], bool], mix: Mix = EVERYTHING) -> Program:
    """The simplest program that Hypothesis finds for the condition."""
    return settle(find(loose_programs(mix), lambda loose: condition(settle(loose)), settings=SHRINK))


def has(*names: str) -> Callable[[Program], bool]:
    """Whether a program has all these features."""
    return lambda program: features(program) >= set(names)


def test_the_simplest_program_is_one_pointwise_call() -> None:
    program = minimal(lambda program: True)
    assert ([s.op for s in program.body], len(program.leaves), program.setup) == (["sin"], 1, ())


@pytest.mark.parametrize(
    ("name", "statements"),
    [
        ("writes:input", 1),
        ("kind:metadata", 2),  # the simplest input requires grad, and eager changes no metadata of such a leaf
        ("output:view-of-intermediate", 2),
        ("output:repeated", 1),
        ("mutation-under-no_grad", 1),
    ],
)
def test_the_smallest_program_with_a_feature_is_as_small_as_that_allows(name: str, statements: int) -> None:
    program = minimal(has(name))
    assert (len(program.body), len(program.leaves), program.setup) == (statements, 1, ())


def test_the_smallest_program_with_tied_parameters_has_one_parameter() -> None:
    assert [leaf.parameter for leaf in minimal(has("state:tied-parameter")).leaves] == [True]


def test_the_smallest_program_with_aliased_inputs_has_one_leaf() -> None:
    assert len(minimal(has("input:aliased")).leaves) == 1


@pytest.mark.parametrize("mix", MIXES)
def test_the_kinds_of_a_mix_are_those_of_the_vocabulary(mix: str) -> None:
    assert set(MIXES[mix].kinds) | set(MIXES[mix].setup_kinds) <= set(KINDS)


def test_the_mixes_together_name_every_kind() -> None:
    assert {kind for mix in MIXES.values() for kind in mix.kinds} == set(KINDS)


@pytest.mark.parametrize("mix", MIXES)
def test_a_mix_draws_its_own_kinds_alone(mix: str) -> None:
    kinds = {VOCABULARY[statement.op].kind for program in draw(Shard(mix, 0, 7, 60)) for statement in program.body}
    assert kinds <= set(MIXES[mix].kinds)


@pytest.mark.parametrize("mix", MIXES)
def test_a_program_is_within_the_bounds_of_its_mix(mix: str) -> None:
    bounds = MIXES[mix]

    @settings(max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(programs(bounds))
    def check(program: Program) -> None:
        sizes = (len(program.leaves), len(program.setup), len(program.body))
        assert all(size <= bound for size, bound in zip(sizes, (bounds.leaves, bounds.setup, bounds.statements), strict=True))

    check()


def test_the_same_seed_draws_the_same_programs() -> None:
    shard = Shard("everything", 3, 11, 40)
    assert draw(shard) == draw(shard)


@pytest.mark.parametrize("other", [Shard("everything", 3, 12, 40), Shard("everything", 4, 11, 40)])
def test_another_seed_or_shard_draws_other_programs(other: Shard) -> None:
    shard = Shard("everything", 3, 11, 40)
    both = {program.name for program in draw(shard)} & {program.name for program in draw(other)}
    assert len(both) < 10


def test_four_in_five_drawn_programs_are_distinct() -> None:
    assert len({program.name for program in drawn()}) > 1700


def test_most_drawn_statements_survive_settling() -> None:
    statements = Counter(len(program.body) for program in drawn())
    assert statements[0] < len(drawn()) // 20
