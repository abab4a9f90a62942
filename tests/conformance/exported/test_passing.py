"""Findings about types at the boundary of torch.export: replayed, reported, and as scripts with torch alone."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conformance.campaign.running import run_script
from conformance.cli import main
from conformance.exported.passing import Refused
from conformance.exported.pytrees import TYPES
from conformance.rule import Violation

COMPLEX = "export-refuses-complex-numbers"


def script_of(type: str, path: str) -> str:
    return Refused(TYPES[type], Violation("E9", path, "no error", "an error")).script


@pytest.mark.parametrize(
    ("type", "path"),
    [
        ("complex", "exported:leaf complex as input:error"),
        ("complex", "exported:leaf complex as keyword:error"),
        ("complex", "exported:leaf complex as output:error"),
        ("str", "loaded:leaf str as output:error"),
    ],
)
def test_script_ends_in_the_error_that_the_finding_knows(type: str, path: str) -> None:
    assert run_script(script_of(type, path)).status == 1


@pytest.mark.parametrize(
    ("type", "path"),
    [("OrderedDict", "exported:container OrderedDict as keyword.value"), ("nested", "loaded:container nested as output.value")],
)
def test_script_of_what_passes_prints_both(type: str, path: str) -> None:
    assert "exported" in run_script(script_of(type, path)).output


def test_replay_of_a_finding_about_types_fails_while_it_is_seen() -> None:
    assert CliRunner().invoke(main, ["replay", COMPLEX]).exit_code == 1


def test_replay_says_that_such_a_finding_is_judged_by_no_other_requirement() -> None:
    assert "leave out --requirement" in CliRunner().invoke(main, ["replay", COMPLEX, "--requirement", "J1"]).output


def test_report_of_a_finding_about_types_has_its_script() -> None:
    assert "x * value" in CliRunner().invoke(main, ["report", COMPLEX]).output


def test_an_implementation_without_export_is_told_so() -> None:
    text = CliRunner().invoke(main, ["replay", COMPLEX, "--implementation", "tests.conformance.misbehaving:JointsAlone"]).output
    assert "export_ir" in text
