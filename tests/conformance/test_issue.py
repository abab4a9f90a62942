"""A finding, a draft or a program becomes the text of an issue; what does not fail becomes one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import golden
from conformance import issue
from conformance.campaign.running import Ran
from conformance.cli import main
from conformance.findings import load_finding
from conformance.judge import Verdict
from conformance.sandbox import Sandbox
from conformance.smoke import PROGRAM
from generators.codec import dump
from reports.record import Outcome

FINDING = "view-returned-twice-is-two-tensors"


def report(*words: str) -> Result:
    return CliRunner().invoke(main, ["report", *words])


@pytest.fixture(autouse=True)
def _no_script_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issue, "run_script", lambda text: Ran(1, "DIFFERS\n"))


@pytest.fixture(scope="module")
def text() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(issue, "run_script", lambda text: Ran(1, "DIFFERS\n"))
        return report(str(golden.FINDINGS / f"{FINDING}.json")).output


def test_an_issue_has_each_part_once(text: str) -> None:
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## To reproduce", "## Expected", "## Actual", "## Versions"]


def test_an_issue_begins_with_the_title_of_the_finding(text: str) -> None:
    assert text.startswith(f"# {load_finding(golden.FINDINGS / f'{FINDING}.json').title}\n")


def test_an_issue_quotes_what_the_script_printed(text: str) -> None:
    assert "The script ended with exit status 1 and printed:\n\n```text\nDIFFERS\n```" in text


def test_the_script_of_an_issue_compiles(text: str) -> None:
    compile(text.split("```python\n")[1].split("```")[0], "script", "exec")


def reported(verdict: Verdict, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    patch.setattr(Sandbox, "judge", lambda *_, **__: verdict)
    dump(PROGRAM, folder / "sin.json")
    return report(str(folder / "sin.json"))


def test_what_does_not_fail_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = reported(Verdict(PROGRAM, Outcome.PASS, frozenset()), tmp_path, monkeypatch)
    assert (result.exit_code, result.output.count("\n"), "nothing to report" in result.output) == (1, 1, True)


def test_a_crash_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = reported(Verdict(PROGRAM, Outcome.CRASH, frozenset(), detail="SIGABRT"), tmp_path, monkeypatch)
    assert result.output.startswith("# The process ends in a crash: SIGABRT\n")
