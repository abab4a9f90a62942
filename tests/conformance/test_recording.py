"""The record's row says what was exported, and which descriptors were on the graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.judge import Verdict, judge
from conformance.pytorch import PyTorch
from conformance.recording import Recorder, header
from conformance.reporting import tell_ci
from conformance.vacuity import documented_kinds, not_expected
from reports.record import Outcome, Row, read_rows
from tests.conformance.misbehaving import ExportsNothing
from tests.programs import INFERENCE, ONE_OUTPUT


def recorded(verdict: Verdict, folder: Path) -> Row:
    """The row as it is read back from the journal."""
    Recorder(folder / "main.jsonl").add(verdict, "stored", "stored")
    (row,), _ = read_rows(folder / "main.jsonl")
    return row


@pytest.fixture(scope="module")
def one_output() -> Verdict:
    return judge(ONE_OUTPUT, PyTorch())


def test_a_program_with_a_joint_graph_is_recorded_as_exported(one_output: Verdict, tmp_path: Path) -> None:
    assert recorded(one_output, tmp_path).exported


def test_nested_descriptors_are_counted_too(one_output: Verdict, tmp_path: Path) -> None:
    seen = {kind: times for kind, (times, _) in recorded(one_output, tmp_path).descriptors.items()}
    assert seen == {"GradAOTOutput": 1, "PlainAOTInput": 2, "PlainAOTOutput": 2, "TangentAOTInput": 1}


def test_an_inference_graph_shows_plain_descriptors_alone() -> None:
    assert set(judge(INFERENCE, PyTorch()).descriptors) == {"PlainAOTInput", "PlainAOTOutput"}


def test_a_program_whose_export_fails_shows_no_descriptor(tmp_path: Path) -> None:
    row = recorded(judge(ONE_OUTPUT, ExportsNothing()), tmp_path)
    assert (row.outcome, row.exported, row.descriptors) == (Outcome.FAIL, False, {})


def test_a_stored_program_keeps_its_script_and_its_graph(one_output: Verdict, tmp_path: Path) -> None:
    row = recorded(one_output, tmp_path)
    assert ("import torch" in row.source, "PlainAOTInput(idx=0)" in row.graph) == (True, True)


def test_a_drawn_program_with_nothing_new_keeps_neither(one_output: Verdict, tmp_path: Path) -> None:
    quiet = replace(one_output, judged=(), outcome=Outcome.PASS)
    row = Recorder(tmp_path / "main.jsonl").add(quiet, "drawn", "plain-00")
    assert (row.source, row.graph) == ("", "")


def test_a_drawn_program_with_a_new_violation_keeps_its_script(tmp_path: Path) -> None:
    verdict = judge(ONE_OUTPUT, ExportsNothing())
    assert "import torch" in Recorder(tmp_path / "main.jsonl").add(verdict, "drawn", "plain-00").source


def test_a_header_names_who_relies_on_a_requirement() -> None:
    assert "autoparallel" in header("x:Y", "gate", 0, ("cpu",), {}).consumers["J4"]


def test_a_header_names_the_kinds_and_what_must_be_shown() -> None:
    made = header("conformance.pytorch:PyTorch", "gate", 0, ("cpu",), {"op:sin": 2})
    assert (made.kinds, made.not_expected, made.vacuity) == (documented_kinds(), not_expected(("cpu",)), {"op:sin": 2})


def told_to_ci(*verdicts: Verdict) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    tell_ci(verdicts, "x:Y", lambda name, value: told.append((name, value)))
    return told


def test_ci_is_told_what_was_judged_what_it_breaks_and_how_to_judge_it_again() -> None:
    name = ONE_OUTPUT.name
    assert told_to_ci(judge(ONE_OUTPUT, ExportsNothing(), only=["C6"])) == [
        ("implementation", "x:Y"),
        ("program", name),
        ("replay", f"joint-conformance replay --implementation x:Y {name}"),
        ("requirement", "C6"),
    ]


def test_of_many_programs_ci_is_told_the_red_ones(one_output: Verdict) -> None:
    quiet = replace(one_output, judged=(), outcome=Outcome.PASS)
    assert told_to_ci(quiet, quiet) == [("implementation", "x:Y")]
