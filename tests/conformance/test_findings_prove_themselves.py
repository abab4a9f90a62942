"""The findings that the suite ships: each says what it is, and is a script that says so too.

That each shows its own fault is the suite's own test, in child processes: conformance/test_findings.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import golden
from conformance.findings import Finding, load_finding
from conformance.judge import Judged, judge
from conformance.pytorch import PyTorch
from conformance.requirements import REQUIREMENTS
from conformance.telling import script
from generators.features import features

FINDINGS = [load_finding(path) for path in golden.files(golden.FINDINGS)]

#: One for each way in which a script watches a program: a few, since each starts torch anew.
SCRIPTS = (
    "absent-cotangent-becomes-zero",
    "call-under-no-grad-builds-a-graph",
    "in-place-write-on-leaf-is-accepted",
    "no-grad-write-is-replayed-with-grad",
    "reshaped-intermediate-cannot-be-written",
    "second-backward-frees-the-whole-graph",
    "tangents-are-miscounted-next-to-duplicates",
    "version-counter-stays-when-metadata-changes",
)


def own_violations(finding: Finding) -> list[Judged]:
    verdict = judge(finding.program, PyTorch(), findings=[finding], thorough=True, only=finding.only)
    return [item for item in verdict.judged if item.finding is not None]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.slug)
def test_a_finding_says_what_it_is(finding: Finding) -> None:
    assert finding.title and finding.explanation and not finding.title.endswith(".")


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.slug)
def test_a_findings_program_has_the_features_that_it_asks_for(finding: Finding) -> None:
    traits = features(finding.program)
    assert [e for e in finding.features if not any(name in traits for name in e.split("|"))] == []


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.slug)
def test_a_finding_swallows_no_whole_requirement(finding: Finding) -> None:
    assert [p for p in finding.patterns if p.path == ".*" and p.expected == ".*" and p.found == ".*"] == []


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.slug)
def test_a_finding_was_seen_where_it_was_not_missed(finding: Finding) -> None:
    assert finding.seen and not set(finding.seen) & set(finding.not_seen)


@pytest.mark.parametrize("slug", SCRIPTS)
def test_a_findings_script_exits_with_1(slug: str, tmp_path: Path) -> None:
    finding = next(finding for finding in FINDINGS if finding.slug == slug)
    if not finding.applies_here:
        pytest.skip("not seen on this torch")
    path = tmp_path / "script.py"
    path.write_text(script(own_violations(finding)[0], finding.program, "cpu"))
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 1, f"{REQUIREMENTS[finding.patterns[0].rule].sentence}\n{run.stdout}{run.stderr}"
