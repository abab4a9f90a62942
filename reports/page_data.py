"""What a page holds, as one JSON object: the rows of one or more records side by side, what repeats written once.

Scripts and graphs are most of a record. They are kept as numbers of lines, since programs share most of their lines, and
those of the programs that matter least are left out where the page would grow too large.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from reports.compare import Comparison, Kind
from reports.graph_changes import Change as GraphChange
from reports.promises import promises_as_data
from reports.record import OUTCOMES, PHASES, Header, Outcome, Record, Row, ViolationRow
from reports.storage import one_line
from reports.summary import exit_code, summarize
from reports.tables import descriptor_counts

FORMAT = "joint-conformance page"
VERSION = 1

_LEAST = 150_000  # bytes for scripts and graphs in any case: a page without them would be of little use

#: Which programs a reader looks at first.
_URGENCY = (
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.FAIL,
    Outcome.ERROR,
    Outcome.OUT_OF_DATE,
    Outcome.KNOWN,
    Outcome.UNSUPPORTED,
    Outcome.REFUSED,
    Outcome.PASS,
)
#: What the graph's change is called where nothing else became of a program, by its class.
_GRAPHS = {"contract": "other contract", "graph": "other graph", "cosmetic": "other names"}
_CHANGES = (*(kind.value for kind in Kind if kind is not Kind.KNOWN), *_GRAPHS.values(), "")

#: What is told of a run as its header has it.
_FACTS = (
    "suite_version",
    "torch_version",
    "torch_git",
    "python",
    "platform",
    "implementation",
    "profile",
    "seed",
    "devices",
    "started",
    "selection",
    "shard",
    "not_expected",
    "replay",
)
_POINTS = 60  # of a curve: more can't be told apart


@dataclass
class Numbered:
    """Things that repeat, each kept once, in the order in which they came; calling it gives the number of one."""

    kept: dict[Any, int] = field(default_factory=dict)

    def __call__(self, thing: Any) -> int:
        return self.kept.setdefault(thing, len(self.kept))


@dataclass
class Lines:
    """The lines of all texts, each kept once, until there is no room left."""

    room: int
    numbered: Numbered = field(default_factory=Numbered)

    def of(self, text: str) -> list[int] | None:
        """The text as stretches of lines that follow one another: the first's number, then how many, then the next stretch.

        None where there is no text, or its lines do not fit any more.
        """
        lines = text.split("\n") if text else []
        fresh = [line for line in dict.fromkeys(lines) if line not in self.numbered.kept]
        known = self.numbered.kept | {line: number for number, line in enumerate(fresh, len(self.numbered.kept))}
        stretches = _stretches([known[line] for line in lines])
        cost = len(inert(fresh)) + len(inert(stretches))
        if not lines or cost > self.room:
            return None
        self.room -= cost
        self.numbered.kept = known
        return stretches


def _stretches(numbers: list[int]) -> list[int]:
    told: list[int] = []
    for number in numbers:
        if told and number == told[-2] + told[-1]:
            told[-1] += 1
        else:
            told += (number, 1)
    return told


def inert(data: object) -> str:
    """JSON that HTML reads as one text whatever is in it: no `<` can end the element, and all of it is ASCII."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


@dataclass
class Tables:
    """What the programs refer to by number."""

    kinds: Numbered
    features: Numbered = field(default_factory=Numbered)
    faults: Numbered = field(default_factory=Numbered)
    places: Numbered = field(default_factory=Numbered)
    checked: Numbered = field(default_factory=Numbered)


#: A program of several records: its origin, its finding or hash, and how many of the same came before it.
Key = tuple[str, str, int]


def page_data(records: Sequence[Record], whole: Comparison | None, room: int) -> dict[str, Any]:
    """All that the page shows but for its first screen; `whole` compares the first record with the last.

    As JSON it takes about `room` bytes, as long as leaving out scripts and graphs can help.
    """
    became = _became(whole)
    rows = sorted(_side_by_side(records).items(), key=lambda item: _urgency(item[0], item[1], became))
    tables = Tables(Numbered({kind: number for number, kind in enumerate(_kinds(records))}))
    graphs = whole.graphs if whole else {}
    programs = [_program(key, found, became, tables) | _graph_change(graphs.get(key[1])) for key, found in rows]
    data = {
        "format": FORMAT,
        "version": VERSION,
        "runs": [_run(record, label) for record, label in zip(records, labels([record.header for record in records]))],
        "outcomes": {outcome.value: meaning.text for outcome, meaning in OUTCOMES.items()},
        "requirements": _requirements(records),
        "promises": promises_as_data(records),
        "kinds": list(tables.kinds.kept),
        "features": list(tables.features.kept),
        "faults": _faults(records, tables.faults),
        "places": [dict(zip(("rule", "path", "expected", "found", "fault"), place)) for place in tables.places.kept],
        "checked": [list(ids) for ids in tables.checked.kept],
        "programs": programs,
    }
    lines = Lines(max(_LEAST, room - len(inert(data))))
    for program, (_, found) in zip(programs, rows):
        program |= _texts(found, lines)
    return data | {"lines": list(lines.numbered.kept)}


def labels(headers: Sequence[Header]) -> list[str]:
    """A short name for each run: the torch version where that tells them apart, else more."""
    ways = (
        [header.torch_version.partition("+")[0] for header in headers],
        [header.torch_version for header in headers],
        [header.implementation for header in headers],
        [f"{header.torch_version} {header.implementation}" for header in headers],
    )
    numbered = [f"{header.torch_version} ({number})" for number, header in enumerate(headers, 1)]
    return [one_line(name, 60) for name in next((way for way in ways if len(set(way)) == len(way)), numbered)]


# Programs


def _side_by_side(records: Sequence[Record]) -> dict[Key, list[Row | None]]:
    """Each program with its row in each record, None where a record has no such program."""
    rows: dict[Key, list[Row | None]] = {}
    for number, record in enumerate(records):
        times: Counter[tuple[str, str]] = Counter()
        for row in record.rows:
            key = (row.origin, row.name)
            rows.setdefault((*key, times[key]), [None] * len(records))[number] = row
            times[key] += 1
    return rows


def _became(whole: Comparison | None) -> dict[tuple[str, str], str]:
    """What became of a program, as `_CHANGES` names it, by origin and name: the gravest of its changes."""
    became: dict[tuple[str, str], str] = {}
    for change in whole.changes if whole else ():
        if change.kind is not Kind.KNOWN:
            became.setdefault((change.after.origin, change.name), change.kind.value)
    for name, graph in whole.graphs.items() if whole else ():
        for origin in ("case", "finding", "stored"):
            if graph.kind != "same":
                became.setdefault((origin, name), _GRAPHS[graph.kind])
    return became


def _urgency(key: Key, found: Sequence[Row | None], became: Mapping[tuple[str, str], str]) -> tuple[int, int, Key]:
    change = _CHANGES.index(became.get(key[:2], ""))
    return change, min(_URGENCY.index(row.outcome) for row in found if row), key


def _program(key: Key, found: Sequence[Row | None], became: Mapping[tuple[str, str], str], tables: Tables) -> dict[str, Any]:
    first = next(row for row in found if row)
    features = sorted({name for row in found if row for name in row.features})
    return {
        "hash": first.program,
        "origin": first.origin,
        "finding": first.finding or "",
        "change": became.get(key[:2], ""),
        "features": [tables.features(name) for name in features],
        "runs": [_run_of_a_program(row, tables) if row else None for row in found],
    }


def _graph_change(change: GraphChange | None) -> dict[str, Any]:
    return {"graph_change": asdict(change)} if change and change.kind != "same" else {}


def _run_of_a_program(row: Row, tables: Tables) -> dict[str, Any]:
    """Only what is there is written: a run has thousands of these."""
    places = dict.fromkeys(
        tables.places((v.rule, v.path, v.expected, v.found, tables.faults(_fault(v)))) for v in row.violations
    )
    told = {
        "outcome": row.outcome.value,
        "seconds": round(sum(row.seconds.values()), 3),
        "checked": tables.checked(row.checked) if row.checked else None,
        "violations": list(places),
        "kinds": [tables.kinds(kind) for kind in row.descriptors],
        "detail": row.detail,
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


def _fault(violation: ViolationRow) -> tuple[str, str]:
    """The finding that knows it, or else its signature."""
    return (violation.finding, "") if violation.finding else ("", violation.signature)


def _texts(found: Sequence[Row | None], lines: Lines) -> dict[str, Any]:
    """The newest script, and the graph of each run: of one that an earlier run has alike, that run's place alone."""
    graphs = [row.graph if row else "" for row in found]
    kept: list[list[int] | int | None] = []
    for place, graph in enumerate(graphs):
        alike = graphs.index(graph)
        kept.append(alike if graph and alike < place else lines.of(graph))
    return {"graphs": kept, "source": lines.of(next((row.source for row in found[::-1] if row and row.source), ""))}


# Runs


def _kinds(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(kind for record in records for kind in descriptor_counts(record)))


def _run(record: Record, label: str) -> dict[str, Any]:
    footer = record.footer
    return {
        "label": label,
        **{name: getattr(record.header, name) for name in _FACTS},
        "exit": exit_code(record),
        "summary": summarize(record),
        "seconds": footer.seconds if footer else None,
        "programs": len(record.rows),
        "phases": {phase: round(sum(row.seconds.get(phase, 0.0) for row in record.rows), 3) for phase in PHASES},
        "descriptors": descriptor_counts(record),
        "growth": _growth(record),
    }


def _growth(record: Record) -> list[tuple[int, int, int]]:
    """After so many programs: how many features and how many descriptor kinds had been shown."""
    features: set[str] = set()
    kinds: set[str] = set()
    points = []
    step = max(1, len(record.rows) // _POINTS)
    for number, row in enumerate(record.rows, 1):
        features.update(row.features)
        kinds.update(row.descriptors)
        if number % step == 0 or number == len(record.rows):
            points.append((number, len(features), len(kinds)))
    return points


def _requirements(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Each requirement, with how many programs each run judged by it, and how many of those broke it."""
    headers = [record.header for record in records]
    sentences = {id_: text for header in headers for id_, text in header.requirements.items()}
    unchecked = {id_ for header in headers for id_ in header.unchecked}
    judged = [_judged(record) for record in records]
    return [
        {
            "id": id_,
            "sentence": sentences.get(id_, ""),
            "consumers": sorted({name for header in headers for name in header.consumers.get(id_, ())}),
            "runs": [_cell(id_, header, counts) for header, counts in zip(headers, judged)],
        }
        for id_ in sorted(sentences.keys() | unchecked, key=lambda id_: (id_[0], int(id_[1:])))
    ]


def _cell(id_: str, header: Header, counts: Counter[tuple[str, str]]) -> dict[str, Any]:
    if id_ in header.unchecked:
        return {"unchecked": header.unchecked[id_]}
    return {what: counts[id_, what] for what in ("judged", "new", "known")}


def _judged(record: Record) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in record.rows:
        new = {v.rule for v in row.violations if v.is_new}
        known = {v.rule for v in row.violations} - new
        for what, ids in (("judged", {*row.checked, *new, *known}), ("new", new), ("known", known)):
            counts.update((id_, what) for id_ in ids)
    return counts


def _faults(records: Sequence[Record], faults: Numbered) -> list[dict[str, Any]]:
    """Findings, and signatures that no finding knows, each with how many programs show it in each run."""
    titles = {name: title for record in records for name, title in record.header.findings.items()}
    counts = [Counter(fault for row in record.rows for fault in set(map(_fault, row.violations))) for record in records]
    return [
        {"finding": name, "title": titles.get(name, "") or signature, "runs": [of_run[name, signature] for of_run in counts]}
        for name, signature in faults.kept
    ]
