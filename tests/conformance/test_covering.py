"""The coverage command: who does which part, what is lost when a worker dies, and what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import tracing
from conformance.cli import main
from conformance.covering import SHARDS_A_WORKER, Measured, Part, as_text, batch, measure, parts_of, write
from conformance.unreached import Region, Share

MEASURED = Measured(
    torch="2.13.0+cpu",
    seed=0,
    minutes=10.0,
    workers=2,
    parts=(Part("stored", 240), Part("0", 118), Part("1", None)),
    shares={
        "lines": Share(3, 4),
        "branches": Share(1, 2),
        "lines of function bodies": Share(1, 2),
        "branches of function bodies": Share(0, 1),
    },
    regions=[Region("a.py", "f", 7, 12), Region("b.py", "<module>", 1, 3)],
)


def test_the_stored_programs_come_first_then_all_shards_in_turn() -> None:
    assert [*batch(0), *batch(1), *batch(2)] == ["stored", *map(str, range(2 * SHARDS_A_WORKER))]


@pytest.mark.parametrize(
    ("output", "parts"),
    [
        ("\njudged 4 125\n\njudged 5 118\n", [Part("4", 125), Part("5", 118)]),
        ("a program prints\njudged 4 125\njudged 5 1", [Part("4", 125), Part("5", 1)]),
        ("\njudged 4 125\n", [Part("4", 125), Part("5", None)]),
        ("", [Part("4", None)]),
    ],
)
def test_a_worker_that_dies_loses_the_part_that_it_was_at(output: str, parts: list[Part]) -> None:
    assert parts_of(["4", "5"], output) == parts


def test_the_numbers_as_they_are_read() -> None:
    assert as_text(MEASURED, 1).splitlines() == [
        "torch       2.13.0+cpu",
        "programs    358 judged in 10 minutes by 2 workers; a worker died in 1",
        "lines       75.0 % of 4 (function bodies alone 50.0 %)",
        "branches    50.0 % of 2 (function bodies alone 0.0 %)",
        "not reached, the largest regions first (lines, where it begins, function):",
        "     7  a.py:12  f",
    ]


def test_the_file_has_every_region(tmp_path: Path) -> None:
    write(MEASURED, tmp_path / "runs" / "coverage.json")
    data = json.loads((tmp_path / "runs" / "coverage.json").read_text())
    assert [region["function"] for region in data["regions"]] == ["f", "<module>"]


def test_without_the_coverage_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["coverage"])
    assert (result.exit_code, result.output) == (1, "Error: the package `coverage` is needed: pip install 'coverage>=7.7'\n")


def test_a_worker_tells_what_it_judged() -> None:
    assert measure(0.1, seed=0, workers=1).lost == []
