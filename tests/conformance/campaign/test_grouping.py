"""Failures of one cause are one group, and those of two causes are two: by labels, and symptom by symptom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.campaign.groups import Failure, group_key
from generators.program import Leaf, Program, Statement
from reports.record import ViolationRow
from tests.conformance.campaign.faked import VIOLATION, failure, row
from tests.conformance.campaign.labelled import labelled, read, scores
from tests.programs import ONE_OUTPUT, let, outputs

LABELLED = tuple(labelled())


def test_at_least_150_failures_of_25_causes_are_labelled() -> None:
    assert (len(LABELLED) >= 150, len({failure.cause for failure in LABELLED}) >= 25) == (True, True)


def test_each_label_says_what_its_cause_is() -> None:
    assert {failure.cause for failure in LABELLED} == set(read()["causes"])


def test_of_ten_labelled_failures_nine_are_in_a_group_of_their_cause() -> None:
    assert scores(LABELLED).purity >= 0.9


def test_of_ten_labelled_failures_nine_are_in_the_largest_group_of_their_cause() -> None:
    assert scores(LABELLED).completeness >= 0.9


def violation(signature: str, at: str = "") -> ViolationRow:
    """A violation of this signature, at this place or where the signature has it."""
    rule, path = signature.partition(" ")[::2]
    return replace(VIOLATION, rule=rule, path=at or path.split(" ")[0], signature=signature)


VALUE = violation("C2 train:outputs[#].value", "train:outputs[0].value")
COPIED = violation("C5 train:outputs[#].is 'caller.x#' -> None", "train:outputs[0].is")
STALE = violation("C2 train:outputs[#].autograd 'stale view' -> 'grad_fn'", "train:outputs[0].autograd")
STALE_ELSEWHERE = replace(STALE, path="train:outputs[1].autograd")
TOKENS = violation("P6 inputs ForwardTokenAOTInput(idx=#) -> nothing", "inputs")
BARE = violation("J1 placeholder primals_1.desc an AOTInput -> None")
UNTAGGED = violation("J14 seq_nr of aten.view.default a number -> None", "seq_nr of aten.view.default")


def raised(message: str, frame: str, at: str = "export:error") -> ViolationRow:
    return violation(f"C6 {at} None -> {message} in {frame}", at)


BROKEN = raised("RuntimeError: missing arguments", "fx/interpreter.py:boxed_run", "train:error")
KEPT_BY = "_functorch/partitioners.py:default_partition"
PASSED_BY = "_ops.py:__call__"


def key(of: ViolationRow, *others: ViolationRow, program: Program = ONE_OUTPUT) -> str:
    return group_key(Failure(program, row(program, of, *others), of))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (UNTAGGED, violation("J14 partitioner_tag of aten.t.default, which an output depends on is_forward -> None",
                             "partitioner_tag of aten.t.default, which an output depends on")),
        (violation("J19 placeholders of one FQN: ParamAOTInput # -> #", "placeholders of one FQN: ParamAOTInput"),
         violation("J19 placeholders of one FQN: BufferAOTInput # -> #", "placeholders of one FQN: BufferAOTInput")),
        (raised("AssertionError: a", KEPT_BY), raised("RuntimeError: b", KEPT_BY, "train:error")),
        (raised("RuntimeError: 'a' is none", PASSED_BY), raised("RuntimeError: 'b' is none", PASSED_BY)),
        (VALUE, violation("S2 output #: PlainAOTOutput.value", "output 0: PlainAOTOutput.value")),
    ],
)  # fmt: skip
def test_one_symptom_in_other_words_is_one_group(one: ViolationRow, other: ViolationRow) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (VALUE, COPIED),
        (COPIED, violation("C5 train:outputs[#].is 'outputs[#]' -> None")),
        (raised("AssertionError: a", KEPT_BY), raised("AssertionError: a", "_functorch/partitioners.py:other")),
        (raised("RuntimeError: a", PASSED_BY), raised("RuntimeError: b", PASSED_BY)),
        (raised("RuntimeError: a", PASSED_BY), raised("RuntimeError: a", PASSED_BY, "train:error")),
        (violation("C4 train:caller.x#.written True -> False"), violation("C4 train:caller.x#.written False -> True")),
    ],
)
def test_two_symptoms_are_two_groups(one: ViolationRow, other: ViolationRow) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(("told", "follows"), [(COPIED, VALUE), (COPIED, STALE), (TOKENS, BROKEN), (BARE, TOKENS)])
def test_what_follows_from_another_symptom_of_its_program_is_in_the_others_group(
    told: ViolationRow, follows: ViolationRow
) -> None:
    assert key(follows, told) == key(told, follows) != key(follows)


@pytest.mark.parametrize(("told", "beside"), [(COPIED, STALE_ELSEWHERE), (UNTAGGED, VALUE), (TOKENS, VALUE)])
def test_what_does_not_follow_stays_in_its_own_group(told: ViolationRow, beside: ViolationRow) -> None:
    assert key(beside, told) == key(beside)


def test_what_a_finding_knows_explains_nothing() -> None:
    assert key(VALUE, replace(COPIED, finding="known")) == key(VALUE)


def changed(op: str, *arguments: int) -> Program:
    return replace(ONE_OUTPUT, leaves=(Leaf("x0", (7,)),), body=(Statement(op, ("a0",), arguments), let("v0", "sin", "a0")))


SHAPE = violation("C4 train:caller.x#.shape (#,) -> (#..)", "train:caller.x0.shape")


@pytest.mark.parametrize("symptom", [VALUE, COPIED, SHAPE])
def test_after_an_op_that_gives_other_memory_each_symptom_is_that_ops(symptom: ViolationRow) -> None:
    program = replace(changed("resize_", 3), outputs=outputs("a0"))
    assert key(symptom, program=program) == "after resize_"


def test_an_op_on_other_memory_has_no_part_in_it() -> None:
    assert key(VALUE, program=changed("resize_", 3)) == key(VALUE)


def test_a_crash_is_grouped_by_how_the_process_ended() -> None:
    assert group_key(failure(None)) == "crash: SIGABRT"
