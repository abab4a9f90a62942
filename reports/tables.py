"""What a run showed, as tables: descriptor kinds, options and features, each with how often.

The same counts tell a vacuous run: one that had to show a name more often than it did.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from reports.record import Record
from reports.storage import one_line

DESCRIPTOR = "descriptor:"
OPTION = "option:"


class Table(NamedTuple):
    """A table as a reader sees it: the first column names what the others count."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


def shown(record: Record) -> Counter[str]:
    """Name -> how often the run showed it: a feature by programs, `descriptor:KIND` by descriptors."""
    counts = Counter(name for row in record.rows for name in row.features)
    for kind, (seen, _) in descriptor_counts(record).items():
        counts[DESCRIPTOR + kind] = seen
    return counts


def vacuous(record: Record) -> dict[str, tuple[int, int]]:
    """The names that the run shows too seldom: how often it does, how often it must.

    A shard need not show anything: that is for the record of all of them.
    """
    if not record.header.is_whole:
        return {}
    counts = shown(record)
    demanded = record.header.vacuity.items()
    return {name: (counts[name], least) for name, least in demanded if counts[name] < least}


def descriptor_counts(record: Record) -> dict[str, tuple[int, int]]:
    """Descriptor kind -> times seen, times checked; documented kinds first, all of them."""
    seen: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    for row in record.rows:
        for kind, (of_row, checked_of_row) in row.descriptors.items():
            seen[kind] += of_row
            checked[kind] += checked_of_row
    undocumented = sorted(seen.keys() - set(record.header.kinds))
    return {kind: (seen[kind], checked[kind]) for kind in (*record.header.kinds, *undocumented)}


def tables(record: Record) -> tuple[Table, ...]:
    """The three tables of a record."""
    options, features = _programs_and_exports(record)
    return (
        Table("descriptors", ("kind", "seen", "checked", "note"), tuple(_descriptor_rows(record))),
        Table("options", ("option", "used", "exported"), options),
        Table("features", ("feature", "programs", "exported"), features),
    )


def _descriptor_rows(record: Record) -> Iterator[tuple[str | int, ...]]:
    for kind, (seen, checked) in descriptor_counts(record).items():
        note = "" if seen else record.header.not_expected.get(kind, "NOT SEEN")
        if kind not in record.header.kinds:
            note = "not documented"
        yield kind, seen, checked, note


def _programs_and_exports(record: Record) -> Iterator[tuple[tuple[str | int, ...], ...]]:
    """The rows for options, and those for all other features; also those that the run had to show and did not."""
    programs = Counter(name for row in record.rows for name in row.features)
    exported = Counter(name for row in record.rows if row.exported for name in row.features)
    names = programs.keys() | record.header.vacuity.keys()
    features = sorted(name for name in names if not name.startswith(DESCRIPTOR))
    for wanted in (True, False):
        some = [name for name in features if name.startswith(OPTION) == wanted]
        yield tuple((name.removeprefix(OPTION), programs[name], exported[name]) for name in some)


def as_text(record: Record) -> str:
    """The tables for a terminal: names to the left, numbers to the right."""
    return "\n\n".join(text_of(table) for table in tables(record))


def text_of(table: Table) -> str:
    """One table for a terminal."""
    if not table.rows:
        return f"{table.title}: none"
    lines = [[one_line(str(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    sides = [str.rjust if isinstance(cell, int) else str.ljust for cell in table.rows[0]]
    aligned = ["  ".join(side(cell, w) for side, cell, w in zip(sides, line, widths)) for line in lines]
    return "\n".join([table.title, *(f"  {line}".rstrip() for line in aligned)])


def as_json(record: Record) -> str:
    """The tables as one object: by title, a list of rows, each an object by column."""
    data: Mapping[str, object] = {
        table.title: [dict(zip(table.columns, row)) for row in table.rows] for table in tables(record)
    }
    return json.dumps(data, indent=2)
