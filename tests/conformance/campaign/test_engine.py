"""The embedded engine works through tasks, and replaces a worker that dies."""

from __future__ import annotations

import operator
import os
from concurrent.futures import Future
from pathlib import Path

import pytest
from rich.console import Console

from conformance.campaign.engine import engine
from conformance.campaign.plan import CampaignError
from conformance.campaign.screen import Status, screen

STATUS = Status(programs=160, rate=8.0, new=2, known=5, shrunk=1, kinds=9, features=120, left="until ctrl-C")


def test_a_worker_that_dies_is_replaced_and_the_next_task_is_done() -> None:
    with engine(1, None) as (executor, slots):
        died: Future[None] = executor.submit(os._exit, 1)
        after: Future[int] = executor.submit(operator.add, 1, 1)
        assert (slots(), died.exception(timeout=300) is not None, after.result(timeout=300)) == (1, True, 2)


def test_a_scheduler_that_does_not_answer_is_told_in_one_line() -> None:
    with pytest.raises(CampaignError, match="no scheduler answers at nonsense://"), engine(1, "nonsense://here"):
        pass


def test_where_there_is_no_terminal_a_plain_line_is_printed_now_and_then(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file, screen(Console(file=file)) as tell:
        tell(STATUS)
        tell(STATUS)
    faults, shown = "faults 2 new (1 shrunk), 5 known", "shown 9 descriptor kinds, 120 features"
    assert (tmp_path / "out").read_text() == f"programs 160, 8.0 a second; {faults}; {shown}; left until ctrl-C\n"


def test_on_a_terminal_the_lines_stay_in_place(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        with screen(Console(file=file, force_terminal=True)) as tell:
            tell(STATUS)
        file.flush()
    assert "2 new (1 shrunk), 5 known" in (tmp_path / "out").read_text()
