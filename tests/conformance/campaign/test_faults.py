"""Failures are grouped, weighed, and written as drafts that a person can move to the findings as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.campaign.drafts import Fault, by_severity, common_features, pattern_of, write
from conformance.campaign.groups import Group, add_to_groups
from conformance.campaign.severity import CLASSES, severity_of
from conformance.campaign.shrinking import NOTHING_SHOWN
from conformance.findings import Pattern, load_finding
from conformance.sandbox import Job
from conformance.signature import Signature
from generators.features import features
from generators.program import Program
from reports.record import ViolationRow
from tests.conformance.campaign.faked import VIOLATION, failure, row, shrunk
from tests.programs import INFERENCE, ONE_OUTPUT, TWO_OUTPUTS
from tests.reports.samples import ABSORBED

ABOUT = {"torch": "2.13.0", "implementation": "It", "seed": 0, "programs": 2, "shards": 1, "known": [], "reason": ""}


def violation(rule: str, path: str, found: str = "2") -> ViolationRow:
    return replace(VIOLATION, rule=rule, path=path, found=found, signature=f"{rule} {path}")


@pytest.mark.parametrize(
    ("rule", "path", "found", "expected"),
    [
        ("C2", "train:outputs[0].value", "[1.] float32[1]", "silently wrong values or gradients"),
        ("C3", "train:grads.x0.none", "True", "silently wrong values or gradients"),
        ("S3", "output 1: GradAOTOutput of ParamAOTInput.value", "2", "silently wrong values or gradients"),
        ("C10", "torch.compile:grads.x0.value", "2", "silently wrong values or gradients"),
        ("C4", "train:caller.x0.value", "2", "lost or extra mutation or aliasing"),
        ("C5", "train:outputs[0].shares", "()", "lost or extra mutation or aliasing"),
        ("C7", "twice:caller.x0.written", "True", "lost or extra mutation or aliasing"),
        ("C2", "train:outputs[0].stride", "(1, 3)", "wrong metadata"),
        ("P1", "input 0", "TangentAOTInput", "wrong metadata"),
        ("C6", "export:error", "AssertionError in export: ", "internal assertion"),
        ("C6", "forward:message", "KeyError in forward: 3", "internal assertion"),
        ("C10", "torch.compile:error", "BackendCompilerFailed in forward: x raised: IndexError: 3", "internal assertion"),
        ("C6", "export:error", "RuntimeError in export: view is not viewable", "unclear error"),
        ("C6", "train:error", "None", "unclear error"),
        ("J10", "cache_hash of a second export", "another", "deviation of documents"),
    ],
)
def test_how_bad_a_violation_is(rule: str, path: str, found: str, expected: str) -> None:
    assert CLASSES[severity_of(failure(violation(rule, path, found)))] == expected


def test_how_bad_a_crash_is() -> None:
    assert CLASSES[severity_of(failure(None))] == "crash or hang of the process"


def grouped(*failing: tuple[Program, tuple[ViolationRow, ...]]) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for program, violations in failing:
        add_to_groups(groups, row(program, *violations, features=tuple(sorted(features(program)))), program)
    return groups


def test_one_symptom_is_one_group() -> None:
    groups = grouped((ONE_OUTPUT, (VIOLATION,)), (TWO_OUTPUTS, (VIOLATION, violation("J10", "cache_hash of a second export"))))
    assert [group.programs for group in groups.values()] == [2, 1]


def test_a_program_counts_once_in_a_group() -> None:
    assert [group.programs for group in grouped((ONE_OUTPUT, (VIOLATION, VIOLATION))).values()] == [1]


def test_of_a_group_the_most_telling_violation_is_shrunk() -> None:
    identity = replace(VIOLATION, path="train:outputs[0].is", signature="C5 train:outputs[#].is 'caller.x#' -> None")
    (group,) = grouped((ONE_OUTPUT, (VIOLATION, identity))).values()
    assert group.smallest.violation == identity


def test_what_a_finding_knows_is_in_no_group() -> None:
    assert grouped((ONE_OUTPUT, (ABSORBED,))) == {}


def fault(found: ViolationRow | None = VIOLATION, program: Program = ONE_OUTPUT, programs: int = 1) -> Fault:
    failed = failure(found, program)
    group = Group(failed.sign, failed, programs, features(TWO_OUTPUTS))
    return Fault(group, shrunk(group.key, failed, Job("")))


def test_the_worst_come_first_then_what_most_programs_met() -> None:
    order = [
        fault(violation("C2", "train:outputs[0].value"), INFERENCE),
        fault(VIOLATION, TWO_OUTPUTS, programs=9),
        fault(VIOLATION),
        fault(None),
    ]
    assert by_severity([order[2], order[3], order[1], order[0]]) == order


def test_a_draft_narrows_to_what_all_programs_of_the_group_have() -> None:
    assert common_features(fault()) == ["op:sin"]


def test_a_draft_is_a_finding_that_knows_its_signature(tmp_path: Path) -> None:
    here = fault()
    write([here], tmp_path, ABOUT)
    assert here.minimum is not None and here.minimum.signature is not None
    assert load_finding(tmp_path / "drafts" / f"{here.slug}.json").knows(here.minimum.signature, features(ONE_OUTPUT))


def test_each_fault_has_a_script_and_a_crash_has_its_program(tmp_path: Path) -> None:
    crash = fault(None)
    assert crash.minimum is not None
    crash = Fault(crash.group, replace(crash.minimum, signature=None))
    write([fault(), crash], tmp_path, ABOUT)
    names = sorted(path.name for path in (tmp_path / "drafts").iterdir())
    assert [name.partition(".")[2] for name in names] == ["json", "py", "program.json", "py"]


@pytest.mark.parametrize("ended", sorted(NOTHING_SHOWN))
def test_what_was_not_seen_again_is_no_draft(ended: str, tmp_path: Path) -> None:
    here = fault()
    assert here.minimum is not None
    write([Fault(here.group, replace(here.minimum, ended=ended))], tmp_path, ABOUT)
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_draft_that_was_replaced_is_gone(tmp_path: Path) -> None:
    write([fault()], tmp_path, ABOUT)
    write([], tmp_path, ABOUT)
    assert list((tmp_path / "drafts").iterdir()) == []


@pytest.mark.parametrize(
    "told",
    [
        "| 1 | wrong metadata | train:outputs[0].stride: (1, 3), where (3, 1) is expected | 1 | 1 → 1 | [script](drafts/",
        "- signature: `C2 train:outputs[#].stride (#..) -> (#..)`",
        "- shrunk from 1 statements to 1",
        "- the script ends with exit status 1",
    ],
)
def test_the_page_tells_of_each_fault(told: str, tmp_path: Path) -> None:
    write([fault()], tmp_path, ABOUT)
    assert told in (tmp_path / "faults.md").read_text()


def test_a_fault_that_is_not_shrunk_yet_is_on_the_page(tmp_path: Path) -> None:
    write([replace(fault(), minimum=None)], tmp_path, ABOUT)
    assert "| C2 train:outputs[#].stride (#..) -> (#..) | 1 | not shrunk yet |" in (tmp_path / "faults.md").read_text()


@pytest.mark.parametrize("found", ["a+b*c{2} (d|e)", "x+" * 200, "'\\d' [x]$"])
def test_a_pattern_matches_its_signature_and_no_other(found: str) -> None:
    signature = Signature("C6", "export:error", "None", found, "a.py:f")
    pattern = Pattern(**pattern_of(signature))
    assert (pattern.matches(signature), pattern.matches(replace(signature, found=f"?{found}"))) == (True, False)


def test_a_draft_is_written_as_findings_are(tmp_path: Path) -> None:
    here = fault()
    write([here], tmp_path, ABOUT)
    text = (tmp_path / "drafts" / f"{here.slug}.json").read_text()
    assert text == json.dumps(json.loads(text), indent=1) + "\n"
