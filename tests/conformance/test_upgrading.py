"""The gate's exit status, and one clear line for what can't be compared, joined or bisected."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.bisection import MADE, BisectionError, Found, first_failing, interpreter_of
from conformance.bisection import replay as replay_with
from conformance.cli import main
from reports.record import Outcome, Record, Row, read_record, write_record
from tests.reports.samples import ABSORBED, HEADER, NEW, PASSED, whole

HELD = replace(PASSED, origin="stored", shard="stored", source="print(1)\n")
FAILS = replace(HELD, outcome=Outcome.FAIL, violations=(NEW,))
FINDING = replace(HELD, origin="finding", finding="strided-view", outcome=Outcome.KNOWN, violations=(ABSORBED,))
STALE = replace(FINDING, outcome=Outcome.OUT_OF_DATE, violations=())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def write(version: str, record: Record) -> None:
    Path("runs/gate").mkdir(parents=True, exist_ok=True)
    write_record(record, Path(f"runs/gate/torch{version}.json"))


def gate(before: Row, after: Row, *words: str) -> Result:
    write("2.13", whole(before))
    write("2.15", whole(after))
    return run("gate", "2.13", "2.15", *words)


@pytest.mark.parametrize(
    ("before", "after", "words", "status"),
    [
        (HELD, HELD, (), 0),
        (HELD, FAILS, (), 1),
        (HELD, FAILS, ("--for", "autoparallel"), 1),
        (HELD, FAILS, ("--for", "partitioners"), 0),
        (FINDING, STALE, (), 2),
        (HELD, replace(HELD, program="02" * 8), (), 3),
        (HELD, HELD, ("--for", "nobody"), 3),
        (HELD, HELD, ("--policy", "none.toml"), 3),
        (HELD, HELD, ("--no-such-option",), 3),
    ],
)
def test_the_gate_answers_with_its_exit_status(before: Row, after: Row, words: tuple[str, ...], status: int) -> None:
    assert gate(before, after, *words).exit_code == status


def test_a_truncated_record_is_no_verdict_and_one_line() -> None:
    gate(HELD, HELD)
    path = Path("runs/gate/torch2.15.json")
    path.write_bytes(path.read_bytes()[:-200])
    result = run("gate", "2.13", "2.15")
    assert (result.exit_code, result.output.count("\n"), "torch2.15.json" in result.output) == (3, 1, True)


def test_a_version_without_a_record_says_what_makes_one() -> None:
    result = run("gate", "2.13", "2.15")
    assert (result.exit_code, result.output.count("\n"), "`tox -e torch2.13` leaves" in result.output) == (3, 1, True)


def test_what_broke_is_left_as_a_script_beside_the_records() -> None:
    gate(HELD, FAILS)
    assert Path(f"runs/gate/2.13.0+cpu-to-2.13.0+cpu/C1-{FAILS.program}.py").is_file()


def test_markdown_is_added_to_what_the_job_said_before() -> None:
    Path("summary.md").write_text("before\n")
    gate(HELD, FAILS, "--markdown", "summary.md")
    assert Path("summary.md").read_text().startswith("before\n## `REGRESSIONS: 1 on 1 program`")


def test_shards_are_joined_into_one_file() -> None:
    for part, row in (("1", HELD), ("2", FAILS)):
        write(part, whole(row, header=replace(HEADER, shard=f"{part}/2")))
    run("merge", "runs/gate/torch1.json", "runs/gate/torch2.json", "--into", "whole.json")
    assert read_record(Path("whole.json")).rows == (HELD, FAILS)


def test_shards_that_make_no_whole_are_one_line() -> None:
    write("1", whole(HELD, header=replace(HEADER, shard="1/2")))
    result = run("merge", "runs/gate/torch1.json", "--into", "whole.json")
    assert (result.exit_code, result.output) == (1, "Error: missing: shard 2/2\n")


VERSIONS = ("2.9", "2.10", "2.11", "2.12", "2.13")


@pytest.mark.parametrize(
    ("first", "found"),
    [(0, Found("2.9", None)), (1, Found("2.10", "2.9")), (2, Found("2.11", "2.10")), (4, Found("2.13", "2.12")), (5, None)],
)
def test_the_first_version_that_fails_is_found(first: int, found: Found | None) -> None:
    assert first_failing(VERSIONS, lambda version: VERSIONS.index(version) >= first) == found


def test_a_version_that_is_nowhere_is_one_line() -> None:
    with pytest.raises(BisectionError, match=r"no environment torch2\.9 that tox made"):
        interpreter_of("2.9")


def test_an_environment_of_tox_is_found_by_its_version() -> None:
    python = Path(".tox/torch2.9/bin/python")
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    assert interpreter_of("2.9") == python


def test_a_wheel_gets_an_environment_of_its_own_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def call(*words: str) -> None:
        called.append(words[2])
        (MADE / "torch-2.14").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("conformance.bisection._call", call)
    Path("torch-2.14.whl").touch()
    found = {interpreter_of("torch-2.14.whl") for _ in range(2)}
    assert (found, called) == ({MADE / "torch-2.14" / "bin" / "python"}, ["venv", "pip"])


def test_a_version_that_can_not_judge_is_no_verdict() -> None:
    with pytest.raises(BisectionError, match=r"can't judge it: .*no-such-program"):
        replay_with(Path(sys.executable), ["no-such-program"])
