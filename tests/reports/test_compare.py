"""What held before and no longer holds is told from what else changed."""

from dataclasses import replace

import pytest

from reports.compare import Comparison, Kind, by_consumer, by_fault, by_requirement, compare
from reports.graph_changes import Change as GraphChange
from reports.policy import Policy
from reports.record import Footer, Outcome, Record, Row, ViolationRow
from tests.reports.samples import ABSORBED, BROKEN, HEADER, NEW, PASSED, STALE, whole

HELD = replace(PASSED, origin="stored", shard="stored")
BESIDE = replace(HELD, program="ff" * 8)
FAILS = replace(HELD, outcome=Outcome.FAIL, violations=(NEW,))
KNOWN = replace(HELD, outcome=Outcome.KNOWN, violations=(ABSORBED,))
OTHERWISE = replace(NEW, path="outputs[0].value", signature="C1 value")
FAILS_OTHERWISE = replace(FAILS, violations=(OTHERWISE,))
FAILS_TWICE = replace(FAILS, violations=(NEW, OTHERWISE))
NOT_EXPORTED = replace(HELD, checked=("C2",), exported=False, descriptors={})
DIES = replace(NOT_EXPORTED, checked=(), outcome=Outcome.CRASH, detail="SIGABRT")
NOT_OFFERED = replace(DIES, outcome=Outcome.UNSUPPORTED)
REFUSED = replace(NOT_EXPORTED, outcome=Outcome.REFUSED)
FINDING_HELD = replace(HELD, origin="finding", finding="strided-view")
FINDING_FAILS = replace(KNOWN, origin="finding", finding="strided-view")


def compared(before: Row, after: Row) -> Comparison:
    """The comparison of these rows, next to a program that holds on both: so all is judged on both."""
    return compare(whole(before, BESIDE), whole(after, BESIDE))


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (HELD, HELD, []),
        (HELD, FAILS, [("C1", Kind.REGRESSED)]),
        (HELD, KNOWN, [("C1", Kind.REGRESSED)]),
        (FAILS, FAILS_TWICE, [("C1", Kind.REGRESSED)]),
        (FAILS, FAILS_OTHERWISE, [("C1", Kind.CHANGED)]),
        (NOT_EXPORTED, FAILS, [("C1", Kind.NEW)]),
        (NOT_OFFERED, FAILS, [("C1", Kind.NEW)]),
        (FAILS, HELD, [("C1", Kind.FIXED)]),
        (FAILS_TWICE, FAILS, [("C1", Kind.FIXED)]),
        (FAILS, NOT_EXPORTED, []),
        (FAILS, KNOWN, [("C1", Kind.KNOWN)]),
        (HELD, DIES, [("", Kind.CRASHED)]),
        (DIES, HELD, [("", Kind.FIXED)]),
        (DIES, DIES, [("", Kind.KNOWN)]),
        (HELD, NOT_OFFERED, [("", Kind.REMOVED)]),
        (HELD, REFUSED, [("", Kind.REMOVED)]),
        (NOT_OFFERED, NOT_OFFERED, []),
        (FINDING_HELD, FINDING_FAILS, [("C1", Kind.REGRESSED)]),
        (FINDING_FAILS, FINDING_HELD, [("C1", Kind.FIXED)]),
    ],
)
def test_each_pair_of_rows_has_its_change(before: Row, after: Row, kinds: list[tuple[str, Kind]]) -> None:
    assert [(change.requirement, change.kind) for change in compared(before, after).changes] == kinds


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (HELD, HELD, 0),
        (FAILS, HELD, 0),
        (KNOWN, KNOWN, 0),
        (HELD, FAILS, 1),
        (FINDING_HELD, FINDING_FAILS, 1),
        (HELD, DIES, 1),
        (HELD, NOT_OFFERED, 1),
        (FAILS, FAILS, 2),
        (FAILS, FAILS_OTHERWISE, 2),
        (NOT_EXPORTED, FAILS, 2),
        (DIES, DIES, 2),
        (replace(FINDING_FAILS, checked=("C1",)), STALE, 2),
        (HELD, BROKEN, 3),
    ],
)
def test_each_pair_of_rows_has_its_exit_status(before: Row, after: Row, status: int) -> None:
    assert compared(before, after).status() == status


def test_a_change_of_torch_that_a_finding_knows_is_a_regression_explained() -> None:
    (change,) = compared(FINDING_HELD, FINDING_FAILS).changes
    assert (change.is_explained, change.findings) == (True, ("strided-view",))


def test_only_what_came_has_to_be_explained() -> None:
    (change,) = compared(FAILS, replace(FAILS, violations=(NEW, replace(OTHERWISE, finding="strided-view")))).changes
    assert change.is_explained


def test_a_finding_that_no_longer_fails_is_fixed_and_out_of_date() -> None:
    comparison = compared(FINDING_FAILS, STALE)
    assert ([change.kind for change in comparison.changes], comparison.out_of_date) == (
        [Kind.FIXED],
        ("strided-view on torch 2.13.0+cpu",),
    )


CUT_OFF = Footer(False, 1, {Outcome.PASS: 1}, HEADER.started, 4.0, "interrupted")
OTHER_SUITE = {name: text for name, text in HEADER.requirements.items() if name != "J2"}


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (whole(HELD, header=replace(HEADER, corpus_hash="d" * 16)), "other stored programs or named cases: "),
        (whole(HELD, header=replace(HEADER, findings_hash="d" * 16)), "other findings: "),
        (whole(HELD, header=replace(HEADER, profile="gate")), "other profiles: quick before, gate after"),
        (whole(HELD, header=replace(HEADER, selection="J6")), "other selections of tests: none before, J6 after"),
        (whole(HELD, header=replace(HEADER, devices=("cpu", "cuda"))), "other devices: cpu before, cpu, cuda after"),
        (whole(HELD, header=replace(HEADER, shard="1/2")), "other shards: 1/1 before, 1/2 after"),
        (whole(HELD, header=replace(HEADER, requirements=OTHER_SUITE, consumers={})), "other rules: "),
        (Record(HEADER, (HELD,), CUT_OFF), "after: interrupted"),
        (Record(HEADER, (HELD,), None), "after: the record has no footer"),
        (whole(HELD, replace(HELD, program="02" * 8)), "1 programs are in one record alone, stored 0202"),
        (whole(replace(HELD, checked=("C1",))), "the run after judged nothing by C2, the run before did"),
    ],
)
def test_what_can_not_be_compared_says_why(after: Record, reason: str) -> None:
    comparison = compare(whole(HELD), after)
    assert (comparison.reason.startswith(reason), comparison.status()) == (True, 3)


def test_two_shards_are_to_be_merged_first() -> None:
    record = whole(HELD, header=replace(HEADER, shard="1/2"))
    assert compare(record, record).reason == "shards (1/2): merge them first"


def test_a_run_that_shows_too_little_can_be_compared() -> None:
    record = whole(HELD, header=replace(HEADER, vacuity={"view": 2}))
    assert compare(record, record).status() == 0


def test_another_implementation_can_be_compared() -> None:
    assert compare(whole(HELD), whole(HELD, header=replace(HEADER, implementation="mine:Mine"))).status() == 0


def test_drawn_programs_are_left_out_and_counted() -> None:
    comparison = compare(whole(HELD, PASSED), whole(HELD, replace(PASSED, program="03" * 8)))
    assert (comparison.reason, comparison.left_out) == ("", 2)


def test_a_program_on_two_devices_counts_once() -> None:
    comparison = compare(whole(HELD, HELD), whole(HELD, FAILS))
    assert [change.kind for change in comparison.changes] == [Kind.REGRESSED]


def test_graphs_that_both_exported_are_classified() -> None:
    old, new = whole(replace(HELD, graph="old"), BESIDE), whole(replace(HELD, graph="new"), replace(BESIDE, graph="new"))
    comparison = compare(old, new, lambda *texts: GraphChange("graph", texts))
    assert comparison.graphs == {HELD.program: GraphChange("graph", ("old", "new"))}


def test_a_policy_lets_other_requirements_break() -> None:
    assert compared(HELD, FAILS).status(Policy(consumers=("partitioners",))) == 0


@pytest.mark.parametrize("policy", [Policy(("Inductor",)), Policy((), ("C1",)), Policy(("partitioners",), ("C1",))])
def test_a_policy_that_names_the_requirement_or_its_consumer_does_not(policy: Policy) -> None:
    assert compared(HELD, FAILS).status(policy) == 1


def test_a_crash_matters_to_every_policy() -> None:
    assert compared(HELD, DIES).status(Policy(consumers=("partitioners",))) == 1


def test_changes_are_grouped_by_requirement_and_by_consumer() -> None:
    changes = compared(HELD, FAILS).changes
    assert (list(by_requirement(changes)), list(by_consumer(changes, HEADER))) == (["C1"], ["Inductor", "autoparallel"])


def failing_with(*violations: ViolationRow) -> list[Row]:
    return [replace(FAILS, program=f"{number:02d}" * 8, violations=(item,)) for number, item in enumerate(violations)]


def test_programs_that_fail_alike_are_one_fault_the_unexplained_first() -> None:
    rows = failing_with(NEW, replace(NEW, path="outputs[1].stride"), OTHERWISE)
    rows += [replace(row, program="aa" * 8, outcome=Outcome.KNOWN, violations=(ABSORBED,)) for row in rows[:1]]
    held = [replace(HELD, program=row.program) for row in rows]
    groups = by_fault(compare(whole(*held), whole(*rows)).changes)
    assert [[change.is_explained for change in group] for group in groups] == [[False, False], [False], [True]]


@pytest.mark.parametrize(
    ("row", "name"),
    [(HELD, HELD.program), (FINDING_HELD, "strided-view"), (replace(HELD, origin="vocabulary", shard="D1"), "D1")],
)
def test_a_change_is_called_by_what_replays_its_program(row: Row, name: str) -> None:
    (change,) = compared(row, replace(row, outcome=Outcome.FAIL, violations=(NEW,))).changes
    assert change.name == name
