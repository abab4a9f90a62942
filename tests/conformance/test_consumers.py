"""Requirements name those who rely on them, and a failure's text does too."""

from __future__ import annotations

import pytest

from conformance.judge import Judged
from conformance.requirements import CONSUMERS, REQUIREMENTS
from conformance.rule import Violation
from conformance.signature import signature_of
from conformance.telling import violation_text
from tests.programs import ONE_OUTPUT


def told(rule: str) -> str:
    violation = Violation(rule, "a place", "this", "that")
    return violation_text(Judged(violation, signature_of(violation), None), ONE_OUTPUT, "cpu")


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_every_consumer_relies_on_something(consumer: str) -> None:
    assert any(consumer in requirement.consumers for requirement in REQUIREMENTS.values())


def test_no_requirement_names_an_unknown_consumer() -> None:
    assert {name for requirement in REQUIREMENTS.values() for name in requirement.consumers} <= set(CONSUMERS)


def test_a_failure_says_who_relies_on_what_is_broken() -> None:
    assert "relied on by autoparallel, partitioners" in told("J22")


def test_a_failure_that_concerns_nobody_in_particular_names_nobody() -> None:
    assert "relied on" not in told("C2")
