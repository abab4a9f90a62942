"""Each finding's own program: it must still fail as it says, or the finding is out of date for this torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import golden
from conformance.conftest import Run
from conformance.findings import Finding, FindingError, load_finding
from conformance.recording import Recorder
from conformance.reporting import fail_on_new, unreadable
from conformance.sandbox import Sandbox
from reports.record import Outcome


def findings() -> Iterator[Any]:
    """A parameter for each finding that applies to the installed torch; a damaged file fails by itself."""
    for path in sorted(golden.FINDINGS.glob("*.json")):
        try:
            finding = load_finding(path)
        except FindingError as error:
            yield pytest.param(error, id=path.stem)
        else:
            if finding.applies_here:
                yield pytest.param(finding, id=path.stem)


@pytest.mark.parametrize("finding", list(findings()))
def test_finding_still_fails(
    finding: Finding, sandbox: Sandbox, recorder: Recorder, run: Run, record_property: Callable[..., Any]
) -> None:
    unreadable(finding)
    verdict = sandbox.judge(finding.program, thorough=True)
    fails = any(item.finding is not None and item.finding.slug == finding.slug for item in verdict.judged)
    if not fails and verdict.outcome in (Outcome.PASS, Outcome.KNOWN, Outcome.REFUSED):
        verdict = replace(verdict, outcome=Outcome.OUT_OF_DATE)
    recorder.add(verdict, "finding", "finding", finding=finding.slug)
    fail_on_new([verdict], sandbox, run, record_property)
    assert fails, f"{finding.slug} no longer fails: add this torch to its not_seen, or remove the file"
