"""A campaign draws the same whoever works, goes on where it stopped, and keeps what it saw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.campaign import minima
from conformance.campaign.command import ending, finish
from conformance.campaign.fuzz import Campaign, Limit, drawing_left
from conformance.campaign.guidance import Couple
from conformance.campaign.plan import CampaignError, Folder, Plan
from conformance.campaign.shrinking import LOST
from conformance.campaign.work import Seen
from reports.record import read_record
from tests.conformance.campaign.faked import PLAN, Judge, campaign
from tests.programs import ONE_OUTPUT
from tests.reports.samples import HEADER

KEY = "other strides"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (folder / "shards").iterdir()}


def test_the_number_of_workers_changes_nothing_of_what_is_drawn(tmp_path: Path) -> None:
    campaign(tmp_path / "one").run()
    campaign(tmp_path / "three", slots=3).run()
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


def test_shards_are_the_mixes_in_turn() -> None:
    assert [PLAN.shard(number).name for number in range(3)] == ["everything-00", "aliasing-01", "everything-02"]


class Interrupted(Judge):
    def __call__(self, plan: Plan, number: int, couples: tuple[Couple, ...] = ()) -> Seen:
        if number == 3:
            raise KeyboardInterrupt
        return super().__call__(plan, number)


def test_ctrl_c_ends_it_and_says_so(tmp_path: Path) -> None:
    assert campaign(tmp_path, Interrupted()).run() == "interrupted"


def test_a_resumed_campaign_draws_the_shards_that_are_missing(tmp_path: Path) -> None:
    campaign(tmp_path, shards=2).run()
    judge = Judge()
    campaign(tmp_path, judge, shards=4).run()
    assert judge.asked == [2, 3]


def test_a_resumed_campaign_knows_its_faults(tmp_path: Path) -> None:
    first = campaign(tmp_path)
    first.run()
    assert campaign(tmp_path).faults() == first.faults()


def test_the_folder_of_another_campaign_is_refused_in_one_line(tmp_path: Path) -> None:
    Folder(tmp_path).claim(PLAN)
    with pytest.raises(CampaignError, match=r"holds another campaign \(seed 0, not 1\): give another folder"):
        Folder(tmp_path).claim(replace(PLAN, seed=1))


def test_a_campaign_whose_time_is_up_draws_nothing(tmp_path: Path) -> None:
    judge = Judge()
    late = campaign(tmp_path, judge)
    late.limit = Limit(until=0.0)
    late.run()
    assert judge.asked == []


def test_the_smallest_program_of_a_group_is_the_one_that_is_shrunk_in_the_end(tmp_path: Path) -> None:
    whole = campaign(tmp_path)
    whole.run()
    assert (whole.groups[KEY].programs, whole.minima[KEY].program) == (2, ONE_OUTPUT)


def test_minima_are_read_back_as_they_were(tmp_path: Path) -> None:
    whole = campaign(tmp_path)
    whole.run()
    assert minima.read(tmp_path / "minima.jsonl") == whole.minima


def test_a_minimum_that_was_cut_off_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "minima.jsonl").write_text('{"key": "C2')
    assert minima.read(tmp_path / "minima.jsonl") == {}


class Loses(Judge):
    """Loses the worker on these shards, so many times each."""

    def __init__(self, *numbers: int, times: int = 9) -> None:
        super().__init__()
        self.left = dict.fromkeys(numbers, times)

    def __call__(self, plan: Plan, number: int, couples: tuple[Couple, ...] = ()) -> Seen:
        if self.left.get(number, 0):
            self.left[number] -= 1
            raise RuntimeError("the worker died")
        return super().__call__(plan, number)


def test_a_shard_that_is_lost_is_given_out_once_more(tmp_path: Path) -> None:
    assert (campaign(tmp_path, Loses(1, times=1)).run(), len(contents(tmp_path))) == ("", 4)


def test_a_shard_that_is_lost_twice_is_told_and_the_others_are_drawn(tmp_path: Path) -> None:
    assert (campaign(tmp_path, Loses(1)).run(), len(contents(tmp_path))) == ("lost: aliasing-01", 3)


def test_a_campaign_that_loses_every_shard_ends(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"4 tasks were lost in a row, the last on \w+-0\d: the worker died"):
        campaign(tmp_path, Loses(*range(9)), shards=None).run()


def test_a_group_whose_shrinking_costs_the_worker_is_listed_as_it_was_drawn(tmp_path: Path) -> None:
    def dies(*_: object) -> object:
        raise RuntimeError("killed")

    whole = campaign(tmp_path)
    whole.shrinks = dies  # type: ignore[assignment]
    whole.run()
    assert [minimum.ended for minimum in whole.minima.values()] == [LOST]


def finished(folder: Path, shards: int = 4) -> Campaign:
    whole = campaign(folder, shards=shards)
    finish(whole, HEADER, whole.run())
    return whole


def test_the_record_has_a_row_for_each_program(tmp_path: Path) -> None:
    whole = finished(tmp_path)
    assert len(read_record(whole.folder.record).rows) == whole.tally.programs == 4


def test_the_record_of_a_resumed_campaign_adds_up_the_time(tmp_path: Path) -> None:
    first = read_record(finished(tmp_path, 1).folder.record).footer
    second = read_record(finished(tmp_path).folder.record).footer
    assert first is not None and second is not None and second.seconds > 1.9 * first.seconds


FIRST = "1. wrong metadata: train:outputs[0].stride: (1, 3), where (3, 1) is expected (2 programs)"


@pytest.mark.parametrize("told", [FIRST, "faults.md"])
def test_the_end_lists_faults_and_files(told: str, tmp_path: Path) -> None:
    assert told in ending(finished(tmp_path), "")


def test_the_end_says_how_to_go_on(tmp_path: Path) -> None:
    assert f"interrupted; the same command with --into {tmp_path} goes on" in ending(finished(tmp_path), "interrupted")


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (Limit(), "until ctrl-C"),
        (Limit(shards=5), "3 shards, 2:00"),
        (Limit(until=1000.0), "1:01 of drawing"),
        (Limit(shards=5, until=1000.0), "1:01 of drawing"),
    ],
)
def test_what_is_left_of_the_drawing_is_told_in_words(limit: Limit, left: str) -> None:
    assert drawing_left(limit, now=939.0, finished=2, rate=2.0) == left
