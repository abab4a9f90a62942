"""The stored programs are few, show what all candidates show, and stay what they are where they can."""

from __future__ import annotations

import pytest

from conformance.distilling import Candidate, Choice, distill
from generators.program import Program
from tests.programs import INFERENCE, MUTATED_INPUT, ONE_OUTPUT, TWO_INPUTS, TWO_OUTPUTS

ONCE = {"features": 1}


def candidate(program: Program, shows: str, seconds: float = 1.0, stored: bool = False, stays: bool = False) -> Candidate:
    """A candidate that shows these features, one a letter."""
    return Candidate(program, {"features": frozenset(shows)}, seconds, stored, stays)


def chosen(candidates: list[Candidate], times: int = 1, seconds: float = 100.0) -> set[str]:
    """What is chosen, as the letters of each."""
    choice = distill(candidates, {"features": times}, seconds)
    return {"".join(sorted(one.shows["features"])) for one in choice.chosen}


def test_what_shows_the_most_is_chosen() -> None:
    assert chosen([candidate(ONE_OUTPUT, "a"), candidate(TWO_OUTPUTS, "abc"), candidate(INFERENCE, "bd")]) == {"abc", "bd"}


def test_what_others_show_together_is_given_up() -> None:
    some = [candidate(ONE_OUTPUT, "abcd"), candidate(TWO_OUTPUTS, "abe"), candidate(INFERENCE, "cdf")]
    assert chosen(some) == {"abe", "cdf"}


def test_a_thing_is_shown_as_often_as_is_wanted() -> None:
    some = [candidate(ONE_OUTPUT, "a"), candidate(TWO_OUTPUTS, "abc"), candidate(INFERENCE, "ac")]
    assert (chosen(some), chosen(some, times=2)) == ({"abc"}, {"abc", "ac"})


def test_what_is_stored_is_preferred() -> None:
    some = [candidate(INFERENCE, "abc"), candidate(TWO_OUTPUTS, "ab", stored=True), candidate(ONE_OUTPUT, "c", stored=True)]
    assert chosen(some) == {"ab", "c"}


def test_what_must_stay_stays() -> None:
    assert chosen([candidate(ONE_OUTPUT, "a", stored=True, stays=True), candidate(TWO_OUTPUTS, "ab")]) == {"a", "ab"}


def test_no_more_seconds_are_taken_than_are_given() -> None:
    some = [candidate(ONE_OUTPUT, "abc", 9.0), candidate(TWO_OUTPUTS, "ab", 4.0), candidate(INFERENCE, "c", 3.0)]
    assert distill(some, ONCE, 8.0).seconds == 7.0


def test_what_is_not_shown_for_want_of_time_is_told() -> None:
    some = [candidate(ONE_OUTPUT, "ab", 9.0), candidate(TWO_OUTPUTS, "a", 4.0)]
    assert distill(some, ONCE, 8.0).left_out == {"features": ["b"]}


def test_the_first_family_has_the_time_first() -> None:
    few = Candidate(ONE_OUTPUT, {"kinds": frozenset("k"), "features": frozenset()}, 5.0)
    many = Candidate(TWO_OUTPUTS, {"kinds": frozenset(), "features": frozenset("abc")}, 5.0)
    choice = distill([few, many], {"kinds": 1, "features": 1}, 8.0)
    assert choice.left_out == {"kinds": [], "features": ["a", "b", "c"]}


@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_the_order_of_candidates_and_their_seconds_change_nothing(seconds: float) -> None:
    programs = (ONE_OUTPUT, TWO_OUTPUTS, INFERENCE, TWO_INPUTS, MUTATED_INPUT)
    some = [candidate(program, shows, seconds) for program, shows in zip(programs, ("ab", "bc", "cd", "da", "abd"))]
    assert _names(distill(some, ONCE, 100.0)) == _names(distill(some[::-1], ONCE, 100.0)) == _names(
        distill([candidate(one.program, "".join(one.shows["features"])) for one in some], ONCE, 100.0)
    )


def _names(choice: Choice) -> list[str]:
    return [one.program.name for one in choice.chosen]
