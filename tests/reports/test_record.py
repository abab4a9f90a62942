"""What is written comes back, and what is damaged is named in one line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports import storage
from reports.record import (
    Footer,
    Outcome,
    Record,
    RecordError,
    Row,
    append_row,
    merge,
    read_record,
    read_rows,
    write_record,
)
from tests.reports.samples import (
    ABSORBED,
    CRASHED,
    FAILED,
    HEADER,
    KNOWN,
    NEW,
    PASSED,
    STALE,
    interrupted,
    whole,
)


def written(record: Record, folder: Path) -> Path:
    path = folder / "run.json"
    write_record(record, path)
    return path


def ended(record: Record) -> Footer:
    assert record.footer is not None
    return record.footer


def message_of(path: Path) -> str:
    with pytest.raises(RecordError) as refusal:
        read_record(path)
    return str(refusal.value)


# Record file


@pytest.mark.parametrize(
    "record",
    [
        whole(PASSED, FAILED, KNOWN, CRASHED, STALE),
        whole(),
        replace(whole(PASSED), footer=None),
        interrupted(PASSED),
    ],
    ids=["complete", "empty", "without a footer", "interrupted"],
)
def test_a_record_comes_back_equal(record: Record, tmp_path: Path) -> None:
    assert read_record(written(record, tmp_path)) == record


def test_the_file_has_one_line_a_row(tmp_path: Path) -> None:
    lines = written(whole(PASSED, CRASHED), tmp_path).read_text().splitlines()
    assert json.loads(lines[5])["detail"] == CRASHED.detail


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (whole(PASSED), True),
        (replace(whole(PASSED), footer=None), False),
        (merge(HEADER, [], "interrupted"), False),
    ],
    ids=["footer", "no footer", "interrupted"],
)
def test_only_a_footer_that_says_so_makes_a_record_complete(record: Record, expected: bool) -> None:
    assert record.is_complete == expected


def set_at(*place: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def damage(data: Any) -> None:
        for step in place[:-1]:
            data = data[step]
        data[place[-1]] = to

    return damage


DAMAGES = {
    "schema_version: 3 was expected": set_at("schema_version", to=1),
    "record: 'header' is a required property": lambda data: data.pop("header"),
    "record: Additional properties are not allowed ('extra' was unexpected)": set_at("extra", to=1),
    "header: 'seed' is a required property": lambda data: data["header"].pop("seed"),
    "header.seed: 'one' is not of type 'integer'": set_at("header", "seed", to="one"),
    "header.devices: [] should be non-empty": set_at("header", "devices", to=[]),
    "header.requirements: 'c1' does not match": set_at("header", "requirements", to={"c1": "x"}),
    "header.corpus_hash: '../x' does not match": set_at("header", "corpus_hash", to="../x"),
    "header.started: 'now' does not match": set_at("header", "started", to="now"),
    "header: 'vacuity' is a required property": lambda data: data["header"].pop("vacuity"),
    "header.vacuity['op:sin']: 0 is less than": set_at("header", "vacuity", to={"op:sin": 0}),
    "header.shard: there is no part 3 of 2": set_at("header", "shard", to="3/2"),
    "header.shard: '1' does not match": set_at("header", "shard", to="1"),
    "header.consumers: J1 is not among": set_at("header", "consumers", to={"J1": ["export"]}),
    "rows[0].graph: 1 is not of type": set_at("rows", 0, "graph", to=1),
    "header.kinds[0]: '' should be non-empty": set_at("header", "kinds", 0, to=""),
    "header.not_expected: Odd is not among": set_at("header", "not_expected", to={"Odd": "no"}),
    "rows: {} is not of type 'array'": set_at("rows", to={}),
    "rows[0].program: 'XY' does not match": set_at("rows", 0, "program", to="XY"),
    "rows[0].outcome: 'green' is not one of": set_at("rows", 0, "outcome", to="green"),
    "rows[0].origin: 'found' is not one of": set_at("rows", 0, "origin", to="found"),
    "rows[0].checked[0]: 'C-1' does not match": set_at("rows", 0, "checked", to=["C-1"]),
    "rows[0].seconds: 'lunch' is not one of": set_at("rows", 0, "seconds", to={"lunch": 1}),
    "rows[0].seconds.draw: -1 is less than": set_at("rows", 0, "seconds", "draw", to=-1),
    "rows[0].exported: 1 is not of type 'boolean'": set_at("rows", 0, "exported", to=1),
    "rows[0].descriptors.Plain: [1] is too short": set_at(
        "rows", 0, "descriptors", to={"Plain": [1]}
    ),
    "rows[1].violations[0].finding: '/etc' is not valid": set_at(
        "rows", 1, "violations", 0, "finding", to="/etc"
    ),
    "rows[0]: outcome pass, yet there are violations": set_at(
        "rows", 0, "violations", to=[vars(ABSORBED)]
    ),
    "footer: 'reason' is a required property": lambda data: data["footer"].pop("reason"),
    "footer.complete: 1 is not of type 'boolean'": set_at("footer", "complete", to=1),
    "footer.rows: 9, yet 3 are there": set_at("footer", "rows", to=9),
    "footer.rows: 3, yet 2 are there": lambda data: data["rows"].pop(),
    "footer.outcomes: other counts than": set_at("footer", "outcomes", to={"pass": 3}),
    "footer.reason: given exactly where": set_at("footer", "complete", to=False),
}


@pytest.mark.parametrize("expected", DAMAGES)
def test_a_damaged_member_is_named_with_its_file_and_place(expected: str, tmp_path: Path) -> None:
    path = written(whole(PASSED, FAILED, CRASHED), tmp_path)
    data = json.loads(path.read_text())
    DAMAGES[expected](data)
    path.write_text(json.dumps(data))
    assert message_of(path).startswith(f"{path}: {expected}")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "Expecting value: line 1 column 1"),
        (b'{"schema_version": 1,\n "hea', "Unterminated string starting at: line 2 column 2"),
        (b"\xff\xfe", "'utf-8' codec can't decode byte 0xff in position 0"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"schema_version": NaN}', "NaN is not a number"),
        (b'{"schema_version": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
        (b"[]", "record: [] is not of type 'object'"),
        (b'"a\\u001b[2J\\nb"', "record: 'a\\x1b[2J\\nb' is not of type 'object'"),
    ],
    ids=["empty", "cut off", "binary", "deep", "NaN", "huge number", "list", "escape sequence"],
)
def test_a_file_that_is_no_record_is_named_with_the_place(
    content: bytes, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    assert message_of(path).startswith(f"{path}: {expected}")


def test_a_message_stays_short_whatever_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(["long\n"] * 1000))
    assert len(message_of(path)) <= len(f"{path}: ") + 200


def test_a_record_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = written(whole(PASSED), tmp_path)
    content = path.read_bytes().rstrip()
    for end in range(0, len(content), 7):
        path.write_bytes(content[:end])
        assert message_of(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert message_of(tmp_path / "none.json").endswith("none.json: No such file or directory")


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(whole(PASSED), tmp_path)
    monkeypatch.setattr(storage, "MAX_BYTES", 10)
    assert message_of(path).endswith("bytes, more than the 10 that are read")


def test_a_record_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"header\.seed: -1 is less than the minimum"):
        written(replace(whole(), header=replace(HEADER, seed=-1)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(whole(PASSED), tmp_path)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_record(whole(), path)
    assert (read_record(path), list(tmp_path.iterdir())) == (whole(PASSED), [path])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (replace(FAILED, outcome=Outcome.KNOWN), "outcome known, yet a violation is new"),
        (replace(FAILED, outcome=Outcome.PASS), "outcome pass, yet a violation is new"),
        (replace(FAILED, outcome=Outcome.REFUSED), "outcome refused, yet a violation is new"),
        (replace(FAILED, outcome=Outcome.UNSUPPORTED), "outcome unsupported, yet a violation"),
        (replace(STALE, violations=(NEW,)), "outcome out_of_date, yet a violation is new"),
        (replace(FAILED, violations=(ABSORBED,)), "outcome fail, yet no violation is new"),
        (replace(PASSED, violations=(ABSORBED,)), "outcome pass, yet there are violations"),
        (replace(PASSED, outcome=Outcome.KNOWN), "outcome known, yet there is no violation"),
        (replace(STALE, origin="stored", finding=None), "yet it is no finding's program"),
        (replace(PASSED, finding="strided-view"), "finding: named by the rows of origin finding"),
        (replace(PASSED, exported=False), "descriptors: of a joint graph, yet none was exported"),
        (replace(STALE, finding=None), "finding: named by the rows of origin finding"),
    ],
)
def test_no_row_hides_a_violation_or_invents_one(row: Row, expected: str, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=expected):
        append_row(tmp_path / "w0.jsonl", row)


def test_an_id_without_a_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="C99 is not among the header's requirements"):
        written(whole(replace(PASSED, checked=("C1", "C99"))), tmp_path)


# Journal


def journal(path: Path, *rows: Row) -> Path:
    path.touch()
    for row in rows:
        append_row(path, row)
    return path


def test_rows_come_back_from_a_journal_in_their_order(tmp_path: Path) -> None:
    rows = (FAILED, PASSED, CRASHED, STALE)
    assert read_rows(journal(tmp_path / "w0.jsonl", *rows)) == (rows, 0)


def test_a_row_that_breaks_the_schema_is_refused_by_name_and_place(tmp_path: Path) -> None:
    path = tmp_path / "w0.jsonl"
    with pytest.raises(RecordError) as refusal:
        append_row(path, replace(PASSED, seconds={"draw": float("nan")}))
    assert str(refusal.value).startswith(f"{path}: Out of range float values")


def test_a_refused_row_leaves_no_line(tmp_path: Path) -> None:
    path = journal(tmp_path / "w0.jsonl", PASSED)
    with pytest.raises(RecordError, match="shard: '' should be non-empty"):
        append_row(path, replace(PASSED, shard=""))
    assert read_rows(path) == ((PASSED,), 0)


def test_a_line_torn_anywhere_costs_one_row(tmp_path: Path) -> None:
    path = journal(tmp_path / "w0.jsonl", PASSED, FAILED)
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    for end in range(first + 1, len(content) - 1, 5):
        path.write_bytes(content[:end])
        assert read_rows(path) == ((PASSED,), 1)


def test_a_row_whose_newline_alone_is_missing_is_kept(tmp_path: Path) -> None:
    path = journal(tmp_path / "w0.jsonl", PASSED, FAILED)
    path.write_bytes(path.read_bytes().rstrip())
    assert read_rows(path) == ((PASSED, FAILED), 0)


@pytest.mark.parametrize("line", [b"{}", b"7", b'{"violations": 7}', b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_row_counts_as_torn(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w0.jsonl"
    path.write_bytes(line + b"\n")
    assert read_rows(path) == ((), 1)


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_the_merged_rows_do_not_depend_on_the_number_of_journals(
    workers: int, tmp_path: Path
) -> None:
    rows = [
        replace(PASSED, origin=origin, shard=f"{origin}-{shard:02}", position=position)
        for origin in ("stored", "drawn")
        for shard in range(3)
        for position in range(11)
    ]
    shares = [rows[start::workers] for start in range(workers)]
    paths = [journal(tmp_path / f"w{n}.jsonl", *share) for n, share in enumerate(shares)]
    expected = [*rows[33:], *rows[:33]]
    assert list(merge(HEADER, reversed(paths), "").rows) == expected


def test_a_merged_run_that_nothing_cut_is_complete(tmp_path: Path) -> None:
    assert merge(HEADER, [journal(tmp_path / "w0.jsonl", PASSED, FAILED)], "").is_complete


def test_a_merged_run_counts_its_outcomes(tmp_path: Path) -> None:
    footer = ended(merge(HEADER, [journal(tmp_path / "w0.jsonl", PASSED, FAILED, PASSED)], ""))
    assert (footer.rows, footer.outcomes) == (3, {Outcome.PASS: 2, Outcome.FAIL: 1})


def test_a_torn_line_makes_the_merged_record_incomplete(tmp_path: Path) -> None:
    path = journal(tmp_path / "w0.jsonl", PASSED)
    path.write_bytes(path.read_bytes() + b'{"program": "0')
    footer = ended(merge(HEADER, [path], "interrupted"))
    assert (footer.complete, footer.reason) == (False, "interrupted; 1 torn in w0.jsonl")


def test_a_clock_set_back_gives_no_negative_time() -> None:
    future = replace(HEADER, started="2999-01-01T00:00:00+00:00")
    assert ended(merge(future, [], "")).seconds == 0


def test_a_merged_record_can_be_written_and_read(tmp_path: Path) -> None:
    record = merge(HEADER, [journal(tmp_path / "w0.jsonl", PASSED, CRASHED)], "interrupted")
    assert read_record(written(record, tmp_path)) == record
