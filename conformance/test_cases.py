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
from conformance.reporting import fail_on_new, read_or_fail
from conformance.sandbox import Sandbox
from conformance.snapshot import without_graph
from conformance.stored import Snapshots, damages


@dataclass
class AsItIs:
    """How failures are told: a case is small, and its own program is what it is about."""

    implementation: str
    shrinks: int = 0


@pytest.mark.parametrize("path", golden.cases(), ids=lambda path: path.stem)
def test_named_case(
    path: Path, sandbox: Sandbox, recorder: Recorder, run: Run, snapshots: Snapshots, record_property: Callable[..., Any]
) -> None:
    named = read_or_fail(load_case, path, recorder, "case")
    verdict = sandbox.confirmed(named.program, stated=named.stated)
    recorder.add(verdict, "case", path.stem)
    reason = verdict.detail or "the export ends in an error"
    looked_at = snapshots.look_at(path.stem, verdict.graph or without_graph(named.program, path.stem, reason))
    if looked_at:
        for name, text in (("snapshot", looked_at[0].kind), ("case", path.stem), ("change", "; ".join(looked_at[0].lines))):
            record_property(name, text)
    if not snapshots.updating:  # a run that writes graphs says nothing about them
        fail_on_new([verdict], sandbox, AsItIs(run.implementation), record_property)
    if looked_at and looked_at[1]:
        told = [f"another graph than in golden/snapshots/ ({looked_at[0].kind})", *looked_at[0].lines]
        pytest.fail("\n".join(told), pytrace=False)


def test_the_snapshots_of_this_torch_are_whole(snapshots: Snapshots) -> None:
    before = None if snapshots.updating else snapshots.baseline
    cases = {path.stem for path in golden.cases()}
    assert before is None or not before.is_own or list(damages(before.folder, cases)) == []
