"""The summary says what a reader must know, and the exit code says what a machine must."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from reports.record import Outcome, Record, Row
from reports.summary import VERDICTS, exit_code, summarize
from tests.reports.samples import (
    ABSORBED,
    BROKEN,
    CRASHED,
    FAILED,
    HEADER,
    HUNG,
    KNOWN,
    NEW,
    PASSED,
    STALE,
    UNOFFERED,
    demanding,
    interrupted,
    whole,
)


def lines(record: Record, label: str) -> list[str]:
    """The lines of the summary with this label, without it."""
    labelled = [line for line in summarize(record).splitlines() if line[:12].strip() == label]
    return [line[12:] for line in labelled]


def test_a_summary_as_it_is_read() -> None:
    rows = [PASSED] * 97 + [KNOWN] * 4 + [FAILED, FAILED, CRASHED]
    assert summarize(whole(*rows)).splitlines() == [
        "VIOLATIONS: 1 new in 2 programs, 1 crash",
        "ran         torch 2.13.0+cpu (abcdef0123), eager on cpu; profile quick, seed 7",
        "programs    104: 97 pass, 2 fail, 1 crash, 4 known",
        "rules       2 checked; never exercised: C10 J2",
        "shown       descriptor kinds 2 of 4 (not expected: never on a graph: 1; NOT SEEN: ForwardTokenAOTInput)",
        "findings    1 absorbed programs, most: strided-view 4",
        "too wide    over 3% of the drawn programs: strided-view",
        f"new         C1 outputs[0].stride in 5b5b5b5b5b5b5b5b, 2 programs: {NEW.replay}",
        "died        dddddddddddddddd (crash: SIGABRT: bad stride)",
        "speed       26.0 programs a second (104 in 4 s)",
        "not checked CUDA; needs CUDA: J18",
        f"exit 1: {VERDICTS[1]}",
    ]


VERDICT_TABLE: list[tuple[Sequence[Row], int, str]] = [
    ([PASSED], 0, "CONFORMS"),
    ([PASSED, UNOFFERED], 0, "CONFORMS"),
    ([PASSED, KNOWN], 0, "CONFORMS except for known faults"),
    ([replace(PASSED, outcome=Outcome.REFUSED)], 0, "CONFORMS"),
    ([PASSED, FAILED], 1, "VIOLATIONS: 1 new in 1 program"),
    ([PASSED, CRASHED, CRASHED], 1, "VIOLATIONS: 2 crashes"),
    ([PASSED, HUNG], 1, "VIOLATIONS: 1 timeout"),
    ([FAILED, STALE], 1, "VIOLATIONS: 1 new in 1 program"),
    ([PASSED, STALE, STALE], 2, "FINDINGS OUT OF DATE: 1"),
    (
        [PASSED, BROKEN],
        3,
        "INCOMPLETE: the suite itself failed on 1 program; nothing new so far",
    ),
    (
        [replace(FAILED, origin="smoke")],
        3,
        "INCOMPLETE: the smoke check failed, so the adapter is broken; 1 new in 1 program so far",
    ),
    ([], 3, "INCOMPLETE: no rule judged any program; nothing new so far"),
    ([UNOFFERED], 3, "INCOMPLETE: no rule judged any program; nothing new so far"),
]


@pytest.mark.parametrize(("rows", "code", "headline"), VERDICT_TABLE)
def test_a_complete_record_has_this_verdict(rows: Sequence[Row], code: int, headline: str) -> None:
    record = whole(*rows)
    assert (exit_code(record), summarize(record).splitlines()[0]) == (code, headline)


@pytest.mark.parametrize(("rows", "code", "headline"), VERDICT_TABLE)
def test_an_interrupted_record_has_no_other_code_than_3(
    rows: Sequence[Row], code: int, headline: str
) -> None:
    assert exit_code(interrupted(*rows)) == 3


@pytest.mark.parametrize(
    ("record", "headline"),
    [
        (interrupted(PASSED), "INCOMPLETE: interrupted; nothing new so far"),
        (interrupted(FAILED), "INCOMPLETE: interrupted; 1 new in 1 program so far"),
        (
            replace(whole(FAILED, HUNG), footer=None),
            "INCOMPLETE: the record has no footer; 1 new in 1 program, 1 timeout so far",
        ),
    ],
)
def test_an_incomplete_record_says_so_first_and_still_says_what_failed(
    record: Record, headline: str
) -> None:
    assert summarize(record).splitlines()[0] == headline


def test_a_run_that_shows_what_it_must_is_not_vacuous() -> None:
    assert exit_code(demanding({"view": 2, "descriptor:PlainAOTInput": 4}, PASSED, PASSED)) == 0


@pytest.mark.parametrize(
    ("vacuity", "headline"),
    [
        ({"view": 1, "op:sin": 2}, "op:sin seen 0 of 2 times"),
        ({"view": 3}, "view seen 2 of 3 times"),
        ({"descriptor:PlainAOTOutput": 3}, "descriptor:PlainAOTOutput seen 2 of 3 times"),
        ({"op:sin": 2, "op:cos": 2}, "op:sin seen 0 of 2 times, and 1 more"),
    ],
)
def test_a_run_that_shows_too_little_is_no_verdict(vacuity: dict[str, int], headline: str) -> None:
    record = demanding(vacuity, PASSED, PASSED)
    said = f"INCOMPLETE: the run is vacuous: {headline}; nothing new so far"
    assert (exit_code(record), summarize(record).splitlines()[0]) == (3, said)


def test_the_first_five_names_that_a_vacuous_run_lacks_are_listed() -> None:
    record = demanding({f"op:{n}": 2 for n in range(7)}, PASSED)
    assert lines(record, "vacuous") == [
        "op:0 0 of 2, op:1 0 of 2, op:2 0 of 2, op:3 0 of 2, op:4 0 of 2, and 2 more"
    ]


def test_a_kind_that_was_not_expected_and_is_seen_counts_as_seen() -> None:
    record = whole(replace(PASSED, descriptors=dict.fromkeys(HEADER.kinds, (1, 1))))
    assert lines(record, "shown") == ["descriptor kinds 4 of 4"]


def test_no_more_than_five_kinds_that_were_not_seen_are_listed() -> None:
    header = replace(HEADER, kinds=tuple("ABCDEFG"), not_expected={})
    told = "descriptor kinds 0 of 7 (NOT SEEN: A, B, C, D, E, and 2 more)"
    assert lines(whole(PASSED, header=header), "shown") == [told]


def test_the_last_line_is_the_verdict_with_its_exit_code() -> None:
    assert summarize(whole(PASSED)).splitlines()[-1] == f"exit 0: {VERDICTS[0]}"


def test_the_commonest_new_violation_comes_first() -> None:
    rare = replace(NEW, signature="C2 grad", rule="C2", path="grads[0]")
    rows = [replace(FAILED, violations=(rare,)), FAILED, FAILED]
    assert [line.split()[0] for line in lines(whole(*rows), "new")] == ["C1", "C2"]


def test_no_more_than_five_new_violations_are_listed() -> None:
    rows = [replace(FAILED, violations=(replace(NEW, signature=f"s{n}"),)) for n in range(8)]
    listed = lines(whole(*rows), "new")
    assert (len(listed), listed[-1]) == (6, "and 3 more")


def test_one_row_counts_once_for_a_signature_that_it_shows_twice() -> None:
    twice = replace(FAILED, violations=(NEW, replace(NEW, path="outputs[1].stride")))
    assert lines(whole(twice), "new") == [
        "C1 outputs[0].stride in 5b5b5b5b5b5b5b5b, 1 program: joint-conformance replay 5b5b"
    ]


def test_a_violation_that_was_not_shrunk_is_shown_with_the_rows_own_program() -> None:
    rows = replace(FAILED, violations=(replace(NEW, program=None),))
    assert "in 0101010101010101," in lines(whole(rows), "new")[0]


def test_a_replay_command_is_never_cut_short() -> None:
    command = "joint-conformance replay " + "x" * 500
    row = replace(FAILED, violations=(replace(NEW, replay=command),))
    assert lines(whole(row), "new")[0].endswith(command)


def test_known_faults_are_not_listed_as_new() -> None:
    assert lines(whole(KNOWN), "new") == []


def test_deaths_are_listed_by_hash_with_what_killed_them() -> None:
    assert lines(whole(CRASHED, HUNG), "died") == [
        "dddddddddddddddd (crash: SIGABRT: bad stride), eeeeeeeeeeeeeeee (timeout: after 60 s)"
    ]


def test_no_more_than_five_deaths_are_listed() -> None:
    assert lines(whole(*[CRASHED] * 7), "died")[0].endswith(", and 2 more")


def test_the_suites_own_faults_are_listed_by_hash() -> None:
    assert lines(whole(BROKEN), "error") == ["bbbbbbbbbbbbbbbb (error: KeyError: 'x')"]


def test_the_three_findings_that_absorb_most_are_named() -> None:
    counts = {"a": 1, "b": 4, "c": 2, "d": 2}
    rows = [
        replace(KNOWN, violations=(replace(ABSORBED, finding=name),))
        for name, count in counts.items()
        for _ in range(count)
    ]
    assert lines(whole(*rows), "findings") == ["4 absorbed programs, most: b 4, c 2, d 2"]


def test_a_findings_own_program_is_not_counted_as_absorbed() -> None:
    own = replace(KNOWN, origin="finding", finding="strided-view")
    assert lines(whole(own), "findings") == ["0 absorbed programs"]


@pytest.mark.parametrize(
    ("absorbed", "expected"),
    [(3, []), (4, ["over 3% of the drawn programs: strided-view"])],
)
def test_a_finding_that_absorbs_over_three_percent_is_too_wide(
    absorbed: int, expected: list[str]
) -> None:
    rows = [KNOWN] * absorbed + [PASSED] * (100 - absorbed)
    assert lines(whole(*rows), "too wide") == expected


def test_only_drawn_programs_tell_how_wide_a_finding_is() -> None:
    stored = replace(KNOWN, origin="stored")
    assert lines(whole(stored, PASSED), "too wide") == []


def test_findings_that_are_out_of_date_are_named() -> None:
    assert lines(whole(PASSED, STALE), "out of date") == ["strided-view"]


def test_a_rule_that_cannot_be_checked_here_is_not_called_never_exercised() -> None:
    row = replace(PASSED, checked=("C1", "C2", "C10", "J2"))
    assert lines(whole(row), "rules") == ["4 checked; never exercised: none"]


def test_only_drawn_and_stored_programs_count_for_the_speed() -> None:
    rows = [replace(PASSED, origin=kind) for kind in ("drawn", "stored", "smoke", "vocabulary")]
    assert lines(whole(*rows), "speed") == ["0.5 programs a second (2 in 4 s)"]


def test_without_a_footer_the_speed_is_unknown() -> None:
    assert lines(replace(whole(PASSED), footer=None), "speed") == ["unknown"]


@pytest.mark.parametrize(
    ("devices", "unchecked", "expected"),
    [
        (("cpu",), {}, "CUDA"),
        (("cpu", "cuda:0"), {}, "nothing left out"),
        (("cuda",), {"J2": "slow", "C10": "slow", "C2": "slow"}, "slow: C2 C10 J2"),
        (("cpu",), {"J18": "needs CUDA", "J2": "slow"}, "CUDA; needs CUDA: J18; slow: J2"),
    ],
)
def test_what_was_not_checked_is_grouped_by_reason(
    devices: tuple[str, ...], unchecked: dict[str, str], expected: str
) -> None:
    record = whole(PASSED, header=replace(HEADER, devices=devices, unchecked=unchecked))
    assert lines(record, "not checked") == [expected]


def test_what_a_file_holds_cannot_steer_the_terminal() -> None:
    row = replace(FAILED, violations=(replace(NEW, path="\x1b[2J\nCONFORMS"),))
    assert lines(whole(row), "new")[0].startswith("C1 ?[2J CONFORMS in")


def test_the_longest_summary_is_still_short() -> None:
    new = [
        replace(FAILED, violations=(replace(NEW, signature=f"s{n}"), ABSORBED)) for n in range(9)
    ]
    rows = [*new, *[CRASHED] * 9, *[BROKEN] * 9, STALE]
    assert len(summarize(demanding({"op:sin": 2}, *rows)).splitlines()) == 20
