"""The named cases: judged as stored programs are, with the descriptors that each states, and compared with its snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import golden
from conformance.conftest import Run
from conformance.named import load_case
from conformance.recording import Recorder
from conformance.reporting import AsItIs, fail_on_new, read_or_fail
from conformance.sandbox import Sandbox
from conformance.snapshot import without_graph
from conformance.stored import Snapshots, damages


@dataclass
class Told:
    """Where what became of a case goes: the run's journal, its snapshots, the properties of the test."""

    recorder: Recorder
    run: Run
    snapshots: Snapshots
    property: Callable[..., Any]


@pytest.mark.parametrize("path", golden.joint_cases(), ids=lambda path: path.stem)
def test_named_case(
    path: Path, sandbox: Sandbox, recorder: Recorder, run: Run, snapshots: Snapshots, record_property: Callable[..., Any]
) -> None:
    look_at_case(path, sandbox, (), Told(recorder, run, snapshots, record_property))


@pytest.mark.parametrize("path", golden.exported_cases(), ids=lambda path: path.stem)
def test_named_case_through_torch_export(
    path: Path,
    exporter: Sandbox,
    exported_rules: tuple[str, ...],
    recorder: Recorder,
    run: Run,
    snapshots: Snapshots,
    record_property: Callable[..., Any],
) -> None:
    look_at_case(path, exporter, exported_rules, Told(recorder, run, snapshots, record_property))


def look_at_case(path: Path, sandbox: Sandbox, only: tuple[str, ...], told: Told) -> None:
    """Judge the case in the file, ``only`` by these rules if some are named, and compare its graph."""
    named = read_or_fail(load_case, path, told.recorder, "case")
    verdict = sandbox.confirmed(named.program, only=only, stated=named.stated)
    told.recorder.add(verdict, "case", path.stem)
    reason = verdict.detail or "the export ends in an error"
    looked_at = told.snapshots.look_at(path.stem, verdict.graph or without_graph(named.program, path.stem, reason))
    if looked_at:
        for name, text in (("snapshot", looked_at[0].kind), ("case", path.stem), ("change", "; ".join(looked_at[0].lines))):
            told.property(name, text)
    if not told.snapshots.updating:  # a run that writes graphs says nothing about them
        fail_on_new([verdict], sandbox, AsItIs(told.run.implementation), told.property)
    if looked_at and looked_at[1]:
        lines = [f"another graph than in golden/snapshots/ ({looked_at[0].kind})", *looked_at[0].lines]
        pytest.fail("\n".join(lines), pytrace=False)


def test_the_snapshots_of_this_torch_are_whole(snapshots: Snapshots) -> None:
    before = None if snapshots.updating else snapshots.baseline
    cases = {path.stem for path in golden.cases()}
    assert before is None or not before.is_own or list(damages(before.folder, cases)) == []
