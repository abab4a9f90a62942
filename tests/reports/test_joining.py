"""Shards make one run, or are refused in one line."""

from dataclasses import replace

import pytest

from reports.joining import join
from reports.record import Record, RecordError
from reports.summary import exit_code
from tests.reports.samples import HEADER, PASSED, whole

OTHER = replace(PASSED, program="02" * 8)


def shard(part: str, **changes: object) -> Record:
    return whole(OTHER if part.startswith("2") else PASSED, header=replace(HEADER, shard=part, **changes))


def refusal(*records: Record) -> str:
    with pytest.raises(RecordError) as refused:
        join(records)
    return str(refused.value)


def test_the_rows_of_all_shards_are_there_in_the_order_of_the_shards() -> None:
    assert join([shard("2/2"), shard("1/2")]).rows == (PASSED, OTHER)


def test_joined_shards_are_the_whole() -> None:
    assert join([shard("1/2"), shard("2/2")]).header == HEADER


def test_what_the_run_must_show_is_demanded_of_the_whole() -> None:
    parts = [shard(part, vacuity={"view": 2}) for part in ("1/2", "2/2")]
    assert exit_code(join(parts)) == 0


def test_what_all_shards_together_show_too_seldom_is_no_verdict() -> None:
    parts = [shard(part, vacuity={"view": 3}) for part in ("1/2", "2/2")]
    assert ([exit_code(part) for part in parts], exit_code(join(parts))) == ([0, 0], 3)


def test_a_shard_that_was_cut_off_makes_the_whole_incomplete() -> None:
    joined = join([shard("1/2"), replace(shard("2/2"), footer=None)])
    assert joined.footer is not None and joined.footer.reason == "shard 2/2: no footer"


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([shard("1/2"), shard("1/2")], "shard 1/2 is there 2 times"),
        ([shard("1/3"), shard("3/3")], "missing: shard 2/3"),
        ([shard("1/2"), shard("2/3")], "shards of different numbers of parts: 1/2, 2/3"),
        ([shard("1/2"), shard("2/2", seed=8)], "shards 1/2 and 2/2 are of different runs: seed is another"),
        ([shard("1/2"), shard("2/2", profile="gate")], "shards 1/2 and 2/2 are of different runs: profile is another"),
        ([], "no record is given"),
    ],
)
def test_shards_that_make_no_whole_are_refused_in_one_line(records: list[Record], told: str) -> None:
    assert refusal(*records) == told
