"""Lines and branches are counted apart, and what was not reached comes in regions, by function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.unreached import File, Region, Share, read, regions, shares

SOURCE = '''\
import os


def reached(x):
    if x:
        return 1
    for _ in range(x):
        pass
    return 2


class Left:
    def out(self):
        y = 1

        def inner():
            return y

        return inner

    def other(self):
        return 3


reached(0)
if os.name == "nobody":
    z = 4
'''
#: What of it runs when it is imported.
FILE = File(
    name="sample.py",
    source=SOURCE,
    statements=frozenset({1, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16, 17, 19, 21, 22, 25, 26, 27}),
    missing=frozenset({6, 8, 14, 16, 17, 19, 22, 27}),
    branches={5: (2, 1), 7: (2, 1), 26: (2, 1)},
)


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("lines", Share(10, 18)),
        ("branches", Share(3, 6)),
        ("lines of function bodies", Share(3, 10)),
        ("branches of function bodies", Share(2, 4)),
    ],
)
def test_shares_are_counted_of_whole_files_and_of_function_bodies(kind: str, share: Share) -> None:
    assert shares([FILE])[kind] == share


def test_regions_are_runs_of_missing_statements_within_one_outermost_function() -> None:
    assert regions([FILE]) == [
        Region("sample.py", "Left.out", 4, 14),
        Region("sample.py", "reached", 1, 6),
        Region("sample.py", "reached", 1, 8),
        Region("sample.py", "Left.other", 1, 22),
        Region("sample.py", "<module>", 1, 27),
    ]


def test_a_region_that_begins_in_an_inner_function_is_named_after_it() -> None:
    file = File("sample.py", SOURCE, FILE.statements, frozenset({17}), {})
    assert regions([file]) == [Region("sample.py", "Left.out.inner", 1, 17)]


@pytest.mark.parametrize(("share", "percent"), [(Share(1, 4), 25.0), (Share(0, 4), 0.0), (Share(0, 0), 100.0)])
def test_a_share_is_a_percentage(share: Share, percent: float) -> None:
    assert share.percent == percent


def test_coverage_reads_the_same_file_so(tmp_path: Path) -> None:
    coverage = pytest.importorskip("coverage")
    path, data = tmp_path / "sample.py", tmp_path / "data"
    path.write_text(SOURCE)
    command = [sys.executable, "-m", "coverage", "run", "--rcfile=", "--branch", f"--data-file={data}", str(path)]
    subprocess.run(command, check=True)
    watched = coverage.Coverage(data_file=str(data), config_file=False, branch=True)
    watched.load()
    assert read(watched, [path], tmp_path) == [FILE]
