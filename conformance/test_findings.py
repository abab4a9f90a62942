"""Each finding's own program: it must still fail as it says, or the finding is out of date for this torch.

Where the finding says that it was not seen on this torch, its program is judged like any other: so two versions
judge the same programs, and what "not seen" claims is looked at too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import golden
from conformance.conftest import Run
from conformance.findings import load_finding
from conformance.recording import Recorder
from conformance.reporting import fail_on_new, read_or_fail
from conformance.sandbox import Sandbox
from reports.record import Outcome


@pytest.mark.parametrize("path", golden.files(golden.FINDINGS), ids=lambda path: path.stem)
def test_finding_is_right_about_this_torch(
    path: Path, sandbox: Sandbox, exporter: Sandbox, recorder: Recorder, run: Run, record_property: Callable[..., Any]
) -> None:
    finding = read_or_fail(load_finding, path, recorder, "finding")
    judging = exporter if finding.only else sandbox
    verdict = judging.confirmed(finding.program, thorough=True, only=finding.only)
    fails = any(item.finding is not None and item.finding.slug == finding.slug for item in verdict.judged)
    is_due = finding.applies_here
    if is_due and not fails and verdict.outcome in (Outcome.PASS, Outcome.KNOWN, Outcome.REFUSED):
        verdict = replace(verdict, outcome=Outcome.OUT_OF_DATE)
    recorder.add(verdict, "finding", "finding", finding=finding.slug)
    if verdict.outcome is Outcome.UNSUPPORTED:
        pytest.skip(str(verdict.detail))
    fail_on_new([verdict], judging, run, record_property)
    assert fails or not is_due, f"{finding.slug} no longer fails: add this torch to its not_seen, or remove the file"
