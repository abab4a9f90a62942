"""The command line answers in one word and an exit status, and says what to do about bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.smoke import PROGRAM
from generators.codec import dump
from reports.record import Record, write_record
from reports.tables import as_json, as_text
from tests.reports.samples import PASSED, whole


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def program_file(tmp_path: Path) -> str:
    dump(PROGRAM, tmp_path / "sin.json")
    return str(tmp_path / "sin.json")


def test_a_finding_that_fails_says_failed_and_exits_1() -> None:
    result = run("replay", "view-returned-twice-is-two-tensors")
    assert (result.exit_code, "FAILED" in result.output) == (1, True)


def test_a_program_with_nothing_new_says_fixed_and_exits_0(program_file: str) -> None:
    result = run("replay", program_file)
    assert (result.exit_code, result.output.splitlines()[-1].split()[0]) == (0, "FIXED")


def test_a_broken_adapter_says_error_and_exits_2(program_file: str) -> None:
    result = run("replay", program_file, "--implementation", "tests.conformance.nowhere:Nothing")
    assert (result.exit_code, result.output.split()[0]) == (2, "ERROR")


def test_an_unknown_name_is_one_line_that_says_where_it_was_looked_for() -> None:
    result = run("replay", "no-such-thing")
    assert (result.exit_code, result.output.count("\n"), "no finding under" in result.output) == (1, 1, True)


def test_a_damaged_file_is_one_line_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"schema": 1, "leaves"')
    result = run("replay", str(tmp_path / "cut.json"))
    assert (result.exit_code, result.output.count("\n"), "cut.json" in result.output) == (1, 1, True)


def test_source_prints_a_script_that_compiles(program_file: str) -> None:
    compile(run("replay", program_file, "--source").output, "script", "exec")


def test_fuzz_with_a_broken_adapter_is_one_line(tmp_path: Path) -> None:
    result = run("fuzz", "--into", str(tmp_path / "none"), "--implementation", "tests.conformance.nowhere:Nothing")
    assert (result.exit_code, result.output.count("\n"), (tmp_path / "none").exists()) == (1, 1, False)


def test_store_from_no_campaign_is_one_line(tmp_path: Path) -> None:
    result = run("store", "--programs", "0", "--from", str(tmp_path / "none"), "--into", str(tmp_path / "programs"))
    assert (result.exit_code, result.output.count("\n"), "does not exist" in result.output) == (2, 4, True)


@pytest.mark.parametrize(("options", "view"), [((), as_text), (("--json",), as_json)])
def test_tables_show_what_is_in_a_record(
    options: tuple[str, ...], view: Callable[[Record], str], tmp_path: Path
) -> None:
    write_record(whole(PASSED), tmp_path / "run.json")
    assert run("tables", str(tmp_path / "run.json"), *options).output == f"{view(whole(PASSED))}\n"


def test_tables_of_what_is_no_record_are_one_line_with_its_name(tmp_path: Path) -> None:
    result = run("tables", str(tmp_path / "none.json"))
    assert (result.exit_code, result.output.count("\n"), "none.json" in result.output) == (1, 1, True)
