"""Each promise of the specification gets its verdict from what records say, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.promises import (
    DEVIATES,
    HOLDS,
    NOT_JUDGED,
    NOT_TESTABLE,
    PROMISES,
    promises_as_data,
    promises_table,
    verdict,
)
from reports.record import Outcome, Row, ViolationRow
from tests.reports.samples import ABSORBED, HEADER, NEW, PASSED, whole

JUDGED = replace(PASSED, origin="exported", checked=("E3", "E4", "E5", "E8"))


def broken(path: str, rule: str, known: ViolationRow = ABSORBED, expected: str = "an operator, or a builtin") -> Row:
    violation = replace(known, rule=rule, path=path, expected=expected)
    return replace(JUDGED, outcome=Outcome.KNOWN if known.finding else Outcome.FAIL, violations=(violation,))


def test_what_is_not_broken_holds() -> None:
    assert str(verdict(PROMISES["val"], whole(JUDGED))) == HOLDS


def test_what_is_broken_deviates_with_its_forms_and_how_often() -> None:
    said = verdict(PROMISES["stack_trace"], whole(JUDGED, broken("loaded:stack_trace of an ATen op", "E5")))
    assert str(said) == f"{DEVIATES} on 1 of 2 (loaded)"


def test_a_deviation_names_its_findings() -> None:
    said = verdict(PROMISES["stack_trace"], whole(broken("exported:stack_trace of an ATen op", "E5")))
    assert said.findings == ("strided-view",)


def test_what_no_finding_knows_deviates_too() -> None:
    assert verdict(PROMISES["order of inputs"], whole(broken("exported:order of inputs", "E3", NEW))).word == DEVIATES


def test_another_complaint_under_the_requirement_breaks_another_promise() -> None:
    assert verdict(PROMISES["val"], whole(broken("exported:stack_trace of an ATen op", "E5"))).word == HOLDS


@pytest.mark.parametrize(("name", "word"), [("operators", DEVIATES), ("functional", HOLDS)])
def test_one_path_may_break_either_of_two_promises(name: str, word: str) -> None:
    assert verdict(PROMISES[name], whole(broken("decomposed:target", "E4"))).word == word


@pytest.mark.parametrize(
    ("rule", "path", "name"),
    [
        ("E8", "loaded:error", "can be made and called"),
        ("E8", "exported:outputs[0].value", "outputs"),
        ("E8", "unflattened:caller.x0.value", "mutations"),
        ("E8", "exported:rng.value", "mutations"),
        ("E8", "exported:grads.x0.value", "gradients"),
        ("E8", "strict:differentiable.plain", "gradients"),
        ("E10", "exported:range", "sizes as asked for"),
        ("E10", "exported:largest:outputs[0].shape", "sizes in range"),
        ("E10", "exported:below two", "sizes out of range"),
        ("E10", "exported:rank:message", "rank"),
    ],
)
def test_a_call_that_goes_wrong_breaks_the_promise_of_its_kind_alone(rule: str, path: str, name: str) -> None:
    record = whole(replace(broken(path, rule), checked=(rule,)))
    assert [p.name for p in PROMISES.values() if p.requirement == rule and verdict(p, record).word == DEVIATES] == [name]


def test_what_a_program_showed_may_contradict_a_promise() -> None:
    shown = replace(JUDGED, features=("call-has:torch_fn",))
    assert verdict(PROMISES["no other metadata"], whole(shown)).word == DEVIATES


def test_what_no_program_was_judged_by_is_not_judged() -> None:
    assert verdict(PROMISES["node order"], whole(JUDGED)).word == NOT_JUDGED


def test_what_nobody_can_tell_is_not_testable() -> None:
    assert verdict(PROMISES["no strides"], whole(JUDGED)).word == NOT_TESTABLE


def test_the_table_has_a_column_a_version() -> None:
    older = replace(whole(JUDGED), header=replace(HEADER, torch_version="2.9.1"))
    assert promises_table([older, whole(JUDGED)]).columns[4:] == ("2.9.1", HEADER.torch_version)


def test_the_table_says_who_relies_on_a_promise() -> None:
    relied = replace(whole(JUDGED), header=replace(HEADER, consumers={"E3": ("export",)}))
    assert {row[3] for row in promises_table([relied]).rows if row[1] == "E3"} == {"export"}


def test_a_page_of_no_exported_program_tells_of_no_promise() -> None:
    assert promises_as_data([whole(PASSED)]) == []


def test_a_page_tells_every_promise_for_every_run() -> None:
    assert {len(promise["runs"]) for promise in promises_as_data([whole(JUDGED), whole(JUDGED)])} == {2}
