"""The tables count what a record's rows showed, and say why what is missing is missing."""

import json
from dataclasses import replace

import pytest

from reports.record import Record
from reports.tables import Table, as_json, as_text, shown, tables, vacuous
from tests.reports.samples import HEADER, KNOWN, PASSED, UNOFFERED, demanding, whole

OPTIONED = replace(PASSED, features=("op:sin", "option:serializable"))


def table(record: Record, title: str) -> Table:
    return next(found for found in tables(record) if found.title == title)


def test_every_documented_kind_has_its_row_in_the_order_of_the_reference() -> None:
    assert table(whole(PASSED, KNOWN), "descriptors").rows == (
        ("PlainAOTInput", 4, 2, ""),
        ("ForwardTokenAOTInput", 0, 0, "NOT SEEN"),
        ("DummyAOTInput", 0, 0, "never on a graph"),
        ("PlainAOTOutput", 2, 0, ""),
    )


def test_a_kind_that_no_document_knows_comes_last_and_is_called_so() -> None:
    record = whole(replace(PASSED, descriptors={"Another": (1, 0)}))
    assert table(record, "descriptors").rows[-1] == ("Another", 1, 0, "not documented")


def test_options_are_counted_apart_from_other_features() -> None:
    record = whole(OPTIONED, replace(UNOFFERED, features=OPTIONED.features))
    assert (table(record, "options").rows, table(record, "features").rows) == (
        (("serializable", 2, 1),),
        (("op:sin", 2, 1),),
    )


@pytest.mark.parametrize(
    ("name", "title", "row"),
    [
        ("option:decompositions", "options", ("decompositions", 0, 0)),
        ("op:cos", "features", ("op:cos", 0, 0)),
    ],
)
def test_what_the_run_had_to_show_and_did_not_is_in_the_tables(
    name: str, title: str, row: tuple[str, int, int]
) -> None:
    assert row in table(demanding({name: 1}, OPTIONED), title).rows


def test_features_count_by_program_and_descriptors_by_descriptor() -> None:
    counts = shown(whole(PASSED, PASSED))
    assert (counts["view"], counts["descriptor:PlainAOTInput"]) == (2, 4)


def test_a_program_that_was_not_exported_shows_its_features_all_the_same() -> None:
    assert vacuous(demanding({"view": 1}, UNOFFERED)) == {}


def test_what_is_demanded_and_seen_too_seldom_is_vacuous() -> None:
    record = demanding({"view": 3, "mutation": 2, "descriptor:DummyAOTInput": 1}, PASSED, PASSED)
    assert vacuous(record) == {"view": (2, 3), "descriptor:DummyAOTInput": (0, 1)}


def test_tables_as_they_are_read() -> None:
    record = whole(replace(OPTIONED, descriptors={"PlainAOTInput": (12, 3)}), OPTIONED)
    record = replace(record, header=replace(HEADER, kinds=HEADER.kinds[:3]))
    assert as_text(record).splitlines() == [
        "descriptors",
        "  kind                  seen  checked  note",
        "  PlainAOTInput           14        4",
        "  ForwardTokenAOTInput     0        0  NOT SEEN",
        "  DummyAOTInput            0        0  never on a graph",
        "  PlainAOTOutput           1        0  not documented",
        "",
        "options",
        "  option        used  exported",
        "  serializable     2         2",
        "",
        "features",
        "  feature  programs  exported",
        "  op:sin          2         2",
    ]


def test_a_table_without_rows_says_so() -> None:
    assert "options: none" in as_text(whole(PASSED)).splitlines()


def test_json_has_the_same_rows_by_column() -> None:
    assert json.loads(as_json(whole(OPTIONED)))["options"] == [
        {"option": "serializable", "used": 1, "exported": 1}
    ]


def test_what_a_file_holds_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in as_text(whole(replace(PASSED, features=("\x1b[2J",))))


def test_a_shard_need_not_show_what_the_whole_must() -> None:
    header = replace(HEADER, vacuity={"op:sin": 2}, shard="1/3")
    assert vacuous(whole(PASSED, header=header)) == {}
