"""A page holds what its records hold, within a megabyte, and lets nothing in them be markup."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli import main
from reports import page as page_module
from reports.page import SCRIPTS, data_in, page
from reports.page_data import Lines, labels
from reports.record import Outcome, Record, Row, write_record
from tests.reports.hostile import HOSTILE, record_of
from tests.reports.samples import CRASHED, FAILED, HEADER, KNOWN, PASSED, STALE, whole

STORED = replace(PASSED, origin="stored", source="import torch\nprint(1)", graph="p0: PlainAOTInput(idx=0)\nn0 = sin(p0)")
BROKEN = replace(STORED, outcome=Outcome.FAIL, violations=FAILED.violations, graph="p0: PlainAOTInput(idx=0)\nn0 = cos(p0)")
LATER = replace(HEADER, torch_version="2.15.0+cpu")
LATEST = replace(HEADER, torch_version="2.16.0+cpu")
STEP = (whole(STORED, KNOWN), whole(BROKEN, KNOWN, header=LATER))


class Structure(HTMLParser):
    """The elements of a page with the names of their attributes, and each link's address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attributes)))
        self.addresses += [value or "" for name, value in attributes if name in ("href", "src", "action")]


def lines_of(data: dict[str, Any], stretches: list[int]) -> list[str]:
    pairs = zip(stretches[::2], stretches[1::2])
    return [line for start, count in pairs for line in data["lines"][start : start + count]]


def large(number: int) -> Row:
    """A program of a gate run whose script shares nothing with any other's."""
    source = "\n".join(f"line {number} {place} {'x' * 60}" for place in range(200))
    return replace(STORED, program=f"{number:012x}", position=number, source=source)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_record_becomes_markup(text: str) -> None:
    assert Structure(page([record_of(text)])).elements == Structure(page([record_of("harmless")])).elements


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_two_records_becomes_markup(text: str) -> None:
    hostile, harmless = (page([whole(STORED), record_of(some)]) for some in (text, "harmless"))
    assert Structure(hostile).elements == Structure(harmless).elements


@pytest.mark.parametrize("text", HOSTILE)
def test_links_stay_inside_the_page(text: str) -> None:
    assert {address[:1] for address in Structure(page([record_of(text)])).addresses} == {"#"}


@pytest.mark.parametrize("text", HOSTILE)
def test_the_data_keep_hostile_text_as_it_is(text: str) -> None:
    assert data_in(page([record_of(text)]))["places"][0]["found"] == text


def test_the_policy_allows_the_script_by_its_hash_alone() -> None:
    text = page([whole(PASSED)])
    script = text.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src &#39;none&#39;; script-src &#39;sha256-{digest}&#39;;" in text


def test_the_script_makes_no_markup_of_text() -> None:
    sinks = r"(inner|outer|Adjacent)HTML|ContextualFragment|DOMParser|document\.write|\beval\b|new Function|setTimeout"
    folder = Path(page_module.__file__).parent / "templates"
    assert not any(re.search(sinks, (folder / name).read_text()) for name in SCRIPTS)


def test_a_page_loads_nothing() -> None:
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import", page([whole(PASSED)]))


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (whole(PASSED), "Conforms"),
        (whole(FAILED), "Violations"),
        (whole(STALE), "Findings out of date"),
        (Record(HEADER, (), None), "Incomplete"),
    ],
)
def test_a_page_of_one_run_says_whether_it_conforms(record: Record, verdict: str) -> None:
    assert data_in(page([record]))["front"]["verdict"] == verdict


def test_a_page_of_two_runs_has_the_verdict_of_the_gate() -> None:
    assert data_in(page(STEP))["front"]["verdict"] == "Look before you upgrade"


def test_a_page_of_two_runs_says_what_broke() -> None:
    group = data_in(page(STEP))["front"]["groups"][0]
    entry = group["entries"][0]
    assert (group["name"], entry["rule"], entry["programs"]) == ("regressed", "C1", [STORED.program])


def test_a_page_of_several_versions_tells_each_step() -> None:
    steps = data_in(page([*STEP, whole(STORED, KNOWN, header=LATEST)]))["front"]["steps"]
    assert [(step["broken"], step["fixed"]) for step in steps] == [(1, 0), (0, 1)]


def test_there_is_no_page_of_nothing() -> None:
    with pytest.raises(ValueError, match="needs a record"):
        page([])


def test_there_are_five_numbers() -> None:
    assert [len(data_in(page(records))["front"]["numbers"]) for records in (STEP[:1], STEP)] == [5, 5]


def test_what_crashed_is_told_first() -> None:
    front = data_in(page([whole(PASSED, CRASHED)]))["front"]
    assert (front["groups"][0]["name"], front["groups"][0]["entries"][0]["what"]) == ("crash", "SIGABRT: bad stride")


def test_what_broke_stands_before_what_did_not() -> None:
    other = replace(STORED, program="00" * 8)
    data = data_in(page([whole(other, STORED), whole(other, BROKEN, header=LATER)]))
    assert [program["change"] for program in data["programs"]] == ["regressed", ""]


def test_a_program_has_its_script_and_both_graphs() -> None:
    data = data_in(page(STEP))
    program = data["programs"][0]
    texts = ["\n".join(lines_of(data, part)) for part in (program["source"], *program["graphs"])]
    assert texts == [BROKEN.source, STORED.graph, BROKEN.graph]


def test_a_graph_that_stays_is_kept_once() -> None:
    data = data_in(page([whole(STORED), whole(STORED, header=LATER)]))
    assert data["programs"][0]["graphs"][1] == 0


def test_a_change_of_the_contract_is_told_with_its_program() -> None:
    data = data_in(page(STEP))
    assert data["programs"][0]["graph_change"]["kind"] in ("contract", "graph")


def test_a_requirement_counts_the_programs_that_break_it() -> None:
    row = next(row for row in data_in(page([whole(PASSED, FAILED, KNOWN)]))["requirements"] if row["id"] == "C1")
    assert row["runs"] == [{"judged": 3, "new": 1, "known": 1}]


def test_a_page_stays_below_a_megabyte() -> None:
    rows = [large(number) for number in range(400)]
    assert len(page([whole(*rows), whole(*rows, header=LATER)]).encode()) < 1_000_000


def test_the_script_of_what_fails_is_kept_where_others_are_left_out() -> None:
    rows = [large(number) for number in range(400)]
    failing = replace(large(1000), outcome=Outcome.FAIL, violations=FAILED.violations)
    programs = data_in(page([whole(*rows, failing)]))["programs"]
    kept = [program["source"] is not None for program in programs]
    assert (programs[0]["hash"], kept[0], kept[-1]) == (failing.program, True, False)


def test_a_text_is_kept_as_stretches_of_lines() -> None:
    lines = Lines(1000)
    assert [lines.of("a\nb\nc"), lines.of("b\nc\nd"), lines.of("a\na")] == [[0, 3], [1, 3], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        ((HEADER, LATER), ["2.13.0", "2.15.0"]),
        ((HEADER, replace(HEADER, torch_version="2.13.0+cu132")), ["2.13.0+cpu", "2.13.0+cu132"]),
        ((HEADER, replace(HEADER, implementation="other")), ["eager", "other"]),
        ((HEADER, HEADER), ["2.13.0+cpu (1)", "2.13.0+cpu (2)"]),
    ],
)
def test_runs_are_called_by_what_tells_them_apart(headers: tuple[Any, ...], names: list[str]) -> None:
    assert labels(headers) == names


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    write_record(STEP[0], tmp_path / "run.json")
    CliRunner().invoke(main, ["page", str(tmp_path / "run.json"), "--into", str(tmp_path / "page.html")])
    assert data_in((tmp_path / "page.html").read_text())["runs"][0]["label"] == "2.13.0"


def test_the_command_says_in_a_line_what_is_no_record(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["page", "nowhere", "--into", str(tmp_path / "page.html")])
    assert result.output.startswith("Error: nowhere: no record, and no ")
