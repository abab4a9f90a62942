"""The pytest entry as a user runs it: drawing by seed, selection, broken adapters, an interrupted run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentTypeError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.conftest import part, programs_to_draw, pytest_collection_modifyitems
from conformance.shards import Shard, draw
from reports.record import Outcome, Record, read_record

REPOSITORY = Path(__file__).parents[2]
#: The drawn programs alone, judged by one rule and not shrunk: what these tests need, and no more.
DRAWN = ("--profile", "gate", "-k", "test_drawn_programs and C2")


def command(*options: str) -> list[str]:
    base = ["-p", "no:cacheprovider", "--rootdir", str(REPOSITORY), "-c", str(REPOSITORY / "pyproject.toml")]
    return [sys.executable, "-m", "pytest", str(REPOSITORY / "conformance"), *base, *options]


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Exit status and output of a run in ``folder``, where its record is in record.json."""
    arguments = command("--record", str(folder / "record.json"), *options)
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def programs(record: Record) -> list[tuple[str, int, str]]:
    return [(row.shard, row.position, row.program) for row in record.rows]


def names(record: Record, mix: str) -> set[str]:
    return {row.program for row in record.rows if row.shard.startswith(mix)}


def test_a_seed_draws_the_same_programs_with_any_number_of_workers(tmp_path: Path) -> None:
    """One test, since the two runs that it takes are what costs."""
    records = []
    for workers in ("0", "2"):
        status, output = run(tmp_path, *DRAWN, "--programs", "160", "--seed", "5", "-n", workers)
        assert status in (0, 1), output
        records.append(read_record(tmp_path / "record.json"))
    alone, shared = records
    assert programs(alone) == programs(shared)
    assert alone.is_complete and shared.is_complete
    assert 120 < len(alone.rows) <= 160
    assert (alone.header.seed, alone.header.profile) == (5, "gate")
    assert {id for row in alone.rows for id in row.checked} == {"C2"}
    assert [row.detail for row in alone.rows if row.outcome is Outcome.ERROR] == []
    assert len(names(alone, "everything") & names(alone, "aliasing")) < len(names(alone, "aliasing")) // 4
    assert names(alone, "everything") == {program.name for program in draw(Shard("everything", 0, 5))}


def test_another_seed_draws_different_programs() -> None:
    one, other = ({program.name for program in draw(Shard("everything", 0, seed))} for seed in (5, 6))
    assert len(one & other) < len(one) // 4


@pytest.mark.parametrize(
    ("implementation", "told"),
    [
        ("conformance.pytorch", "write it as module:attribute"),
        ("no.such.module:It", "ModuleNotFoundError"),
        ("tests.conformance.misbehaving:ExportsNothing", "could not be exported and compiled"),
        ("tests.conformance.misbehaving:DiesAtOnce", "ended in crash: SIGABRT"),
    ],
)
def test_with_a_broken_adapter_nothing_is_judged(implementation: str, told: str, tmp_path: Path) -> None:
    status, output = run(tmp_path, "--implementation", implementation)
    assert (status, (tmp_path / "record.json").exists()) == (pytest.ExitCode.USAGE_ERROR, False)
    assert "the adapter is broken, nothing was judged" in output and told in output


@pytest.mark.parametrize("seed", ["x", "-1", "1.5"])
def test_a_seed_that_is_no_number_is_refused(seed: str, tmp_path: Path) -> None:
    status, output = run(tmp_path, f"--seed={seed}")
    assert status == pytest.ExitCode.USAGE_ERROR and "a number or the word random is needed" in output


def test_a_program_that_kills_its_process_is_recorded_and_the_run_goes_on(tmp_path: Path) -> None:
    status, output = run(tmp_path, *DRAWN, "--programs", "125", "--implementation", "tests.conformance.misbehaving:DiesOnViews")
    record = read_record(tmp_path / "record.json")
    outcomes = {row.outcome for row in record.rows}
    assert (status, record.is_complete) == (1, True)
    assert {Outcome.CRASH, Outcome.PASS} <= outcomes and "SIGABRT" in output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_interrupted_run_leaves_a_record_that_says_so(workers: str, tmp_path: Path) -> None:
    arguments = command("--record", str(tmp_path / "record.json"), *DRAWN, "--programs", "2500", "-n", workers)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(arguments, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    wait_for_rows(tmp_path, child)
    os.killpg(child.pid, signal.SIGINT)
    assert child.wait(timeout=60) == pytest.ExitCode.INTERRUPTED
    record = read_record(tmp_path / "record.json")
    assert (record.is_complete, "interrupted" in record.footer.reason if record.footer else "") == (False, True)
    assert len(record.rows) > 0


def wait_for_rows(folder: Path, child: subprocess.Popen[bytes]) -> None:
    """Until some process of the run has written down a few programs."""
    while not any(path.stat().st_size > 10_000 for path in folder.glob("joint-conformance-*/*.jsonl")):
        assert child.poll() is None, "the run ended before it was interrupted"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("profile", "programs", "minutes", "drawn"),
    [
        ("gate", None, None, 0),
        ("quick", 500, None, 500),
        ("nightly", None, 60, 600_000),
        ("nightly", 1000, 60, 1000),
        ("nightly", None, None, 20_800),
    ],
)
def test_a_run_draws_as_much_as_it_is_told(profile: str, programs: int | None, minutes: float | None, drawn: int) -> None:
    assert programs_to_draw(profile, programs, minutes) == drawn


def left_for(shard: str, tests: list[Any]) -> list[Any]:
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    left: list[Any] = list(tests)
    config: Any = SimpleNamespace(option=SimpleNamespace(shard=part(shard), update_snapshots=False), hook=hook)
    pytest_collection_modifyitems(config, left)
    return left


def test_shards_share_no_test_and_leave_none_out() -> None:
    shards = [left_for(f"{number}/3", list(range(10))) for number in (1, 2, 3)]
    assert sorted(test for shard in shards for test in shard) == list(range(10))


@pytest.mark.parametrize("text", ["3/2", "0/2", "2", "1/0", "a/b"])
def test_a_shard_that_can_not_be_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="as in 2/5"):
        part(text)
