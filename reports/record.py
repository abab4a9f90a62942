"""The run record: what one run saw, as header, one row a program, and footer.

The shape is `schema/run.schema.json`; what a schema cannot say (a footer that counts other rows
than those in the file, a new violation in a row that calls itself known) is checked here.
A run first keeps journals, one a process, and merges them at its end, because a program under
test may kill the process that runs it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reports.storage import (
    RecordError,
    dump,
    errors_naming,
    parse,
    read_file,
    replace_file,
    validate,
)

__all__ = [
    "OUTCOMES",
    "PHASES",
    "QUIET",
    "SCHEMA_VERSION",
    "Footer",
    "Header",
    "Meaning",
    "Origin",
    "Outcome",
    "Record",
    "RecordError",
    "Row",
    "ViolationRow",
    "append_row",
    "count_outcomes",
    "merge",
    "read_record",
    "read_rows",
    "utc_now",
    "write_record",
]

SCHEMA_VERSION = 3

Origin = Literal["case", "drawn", "exported", "finding", "smoke", "stored", "vocabulary"]
PHASES = ("draw", "eager", "export", "compile", "compiled", "rules")


class Outcome(str, Enum):
    """What became of one program; `OUTCOMES` says what each means and whose it is."""

    PASS = "pass"
    FAIL = "fail"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    REFUSED = "refused"
    KNOWN = "known"
    OUT_OF_DATE = "out_of_date"
    ERROR = "error"


class Meaning(NamedTuple):
    text: str
    owner: str


OUTCOMES: Mapping[Outcome, Meaning] = {
    Outcome.PASS: Meaning("every rule that judged it held", "nobody"),
    Outcome.FAIL: Meaning("a rule was violated and no finding says so", "the implementation"),
    Outcome.CRASH: Meaning("the process died", "the implementation"),
    Outcome.TIMEOUT: Meaning("it still ran when its time was up", "the implementation"),
    Outcome.UNSUPPORTED: Meaning("it needs what is not offered, or eager dies of it", "the adapter"),
    Outcome.REFUSED: Meaning("it was refused, as the documents announce", "nobody"),
    Outcome.KNOWN: Meaning("findings absorb every violation", "the finding"),
    Outcome.OUT_OF_DATE: Meaning("a finding's own program no longer fails", "the finding"),
    Outcome.ERROR: Meaning("the suite itself failed", "the suite"),
}

# The outcomes that turn nothing red by themselves: a new violation must not hide behind one.
QUIET = frozenset(
    {Outcome.PASS, Outcome.UNSUPPORTED, Outcome.REFUSED, Outcome.KNOWN, Outcome.OUT_OF_DATE}
)


@dataclass(frozen=True)
class Header:
    """What ran, on what, and since when (`started` as `utc_now` gives it).

    By requirement id: `requirements` has the sentence of each that has a rule, `unchecked` the
    reason of each that this run cannot check, `consumers` who is known to rely on each. By finding:
    `findings` has its title. `replay` is the command that a program's hash or a finding's name ends.

    `selection` is the -k expression that the run was restricted to, `shard` which of how many disjoint
    parts of its tests it ran (`k/n`): what `vacuity` demands, the parts show together.

    `kinds` are the documented descriptor kinds in the order of the reference, `not_expected` those
    that cannot turn up in this run with the reason. `vacuity` has the names that this run must show
    at least so many times, as `tables.shown` counts them; where it is empty, nothing is demanded.
    """

    suite_version: str
    torch_version: str
    torch_git: str
    python: str
    platform: str
    implementation: str
    profile: str
    seed: int
    devices: tuple[str, ...]
    corpus_hash: str
    findings_hash: str
    started: str
    requirements: Mapping[str, str]
    unchecked: Mapping[str, str]
    kinds: tuple[str, ...]
    not_expected: Mapping[str, str]
    vacuity: Mapping[str, int]
    consumers: Mapping[str, tuple[str, ...]]
    findings: Mapping[str, str]
    replay: str
    selection: str
    shard: str

    @property
    def is_whole(self) -> bool:
        """Whether the run was no shard of a larger one."""
        return self.shard == "1/1"


@dataclass(frozen=True)
class ViolationRow:
    """One violation: new where `finding` is None, else absorbed by the finding of that name.

    `program` is the hash of the shrunk program, `replay` the command that runs it again or "".
    """

    rule: str
    path: str
    expected: str
    found: str
    signature: str
    finding: str | None
    program: str | None
    replay: str

    @property
    def is_new(self) -> bool:
        return self.finding is None


#: The origins whose rows are called by their shard: a named case, or what is judged without a program.
_NAMED = frozenset({"case", "vocabulary"})


@dataclass(frozen=True)
class Row:
    """What became of one program.

    `program` is its hash (for a file that cannot be read: the hash of its bytes), `position` its
    number within its shard, `checked` the requirements that judged it, `seconds` the time of each
    of `PHASES`, `detail` the error message, the signal, or how long it hung, and `finding` the
    finding whose own program this is (origin "finding" only).

    `exported` says that the export gave a joint graph, or an exported program. `descriptors` has, for each kind on
    the joint graph, nested ones too: how many times, and of how many the meaning was compared with eager.

    `source` is the program as a stand-alone script, `graph` its joint graph as text; each "" where a run
    keeps none, as for a drawn program that showed nothing new, and `graph` where nothing was exported.
    """

    program: str
    origin: Origin
    shard: str
    position: int
    features: tuple[str, ...]
    outcome: Outcome
    checked: tuple[str, ...]
    violations: tuple[ViolationRow, ...]
    seconds: Mapping[str, float]
    exported: bool = False
    descriptors: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    detail: str | None = None
    finding: str | None = None
    source: str = ""
    graph: str = ""

    @property
    def name(self) -> str:
        """What the program is called, and replayed by: its finding, its named case, or its hash."""
        return self.finding or (self.shard if self.origin in _NAMED else self.program)


@dataclass(frozen=True)
class Footer:
    """How the run ended: `reason` is "" for a complete run; `seconds` is wall time."""

    complete: bool
    rows: int
    outcomes: Mapping[Outcome, int]
    finished: str
    seconds: float
    reason: str


@dataclass(frozen=True)
class Record:
    header: Header
    rows: tuple[Row, ...]
    footer: Footer | None

    @property
    def is_complete(self) -> bool:
        """Only a complete record can say that something does *not* fail."""
        return self.footer is not None and self.footer.complete


def utc_now() -> str:
    """The time as a record writes it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def count_outcomes(rows: Iterable[Row]) -> dict[Outcome, int]:
    """How many rows ended so, in the order of `Outcome`, without the outcomes that nobody had."""
    counts = Counter(row.outcome for row in rows)
    return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}


# Journal


def append_row(path: Path, row: Row) -> None:
    """Adds one line to a journal that belongs to this process alone.

    One unbuffered write, so that a process that dies later has lost nothing.
    Raises RecordError where the row breaks the schema or contradicts itself.
    """
    with errors_naming(path):
        line = dump(row)
        validate("row", json.loads(line))
        _refuse(_row_contradictions(row))
    with open(path, "ab", buffering=0) as journal:
        journal.write(line.encode() + b"\n")


def read_rows(path: Path) -> tuple[tuple[Row, ...], int]:
    """The rows of a journal, and how many lines were torn (their process died as it wrote).

    Rows were validated as they were appended, so here a line is a row or it is torn.
    """
    rows: list[Row] = []
    torn = 0
    for line in read_file(path).split(b"\n"):
        try:
            if line:
                rows.append(_to_row(parse(line)))
        except (ValueError, TypeError, KeyError, RecursionError):
            torn += 1
    return tuple(rows), torn


def merge(header: Header, journal_paths: Iterable[Path], reason: str) -> Record:
    """The record of a run that ends now; `reason` says why it is incomplete, "" if nothing cut it.

    The rows come in the same order however many journals they were spread over. A torn line is a
    verdict that was lost, so it makes the record incomplete as well.
    """
    rows: list[Row] = []
    reasons = [reason] if reason else []
    for path in sorted(journal_paths):
        found, torn = read_rows(path)
        rows += found
        if torn:
            reasons.append(f"{torn} torn in {path.name}")
    rows.sort(key=lambda row: (row.origin, row.shard, row.position, row.program, row.outcome))
    finished = utc_now()
    lasted = datetime.fromisoformat(finished) - datetime.fromisoformat(header.started)
    footer = Footer(
        complete=not reasons,
        rows=len(rows),
        outcomes=count_outcomes(rows),
        finished=finished,
        seconds=max(0.0, lasted.total_seconds()),  # a clock may be set back
        reason="; ".join(reasons),
    )
    return Record(header, tuple(rows), footer)


# Record file


def write_record(record: Record, path: Path) -> None:
    """Writes the file as a whole or not at all, one line a row.

    Raises RecordError where the record contradicts itself, or its header or footer breaks the
    schema.
    """
    members: dict[str, object] = {"schema_version": SCHEMA_VERSION, "header": record.header}
    members["rows"] = ()
    if record.footer is not None:
        members["footer"] = record.footer
    with errors_naming(path):
        # Without the rows: append_row has validated them, at about a millisecond each.
        validate("record", json.loads(dump(members)))
        _refuse(_contradictions(record))
        rows = "[\n" + ",\n".join(map(dump, record.rows)) + "\n]"
        texts = {name: dump(value) for name, value in members.items()} | {"rows": rows}
    lines = (f'"{name}": {text}' for name, text in texts.items())
    replace_file(path, "{\n" + ",\n".join(lines) + "\n}\n")


def read_record(path: Path) -> Record:
    """The record in a file, complete or not.

    Raises RecordError, one line with the file and the place, where the file is cut off or damaged,
    of another schema version, larger than `storage.MAX_BYTES`, or contradicts itself.
    """
    content = read_file(path)
    with errors_naming(path):
        data = parse(content)
        validate("record", data)
        record = _to_record(data)
        _refuse(_contradictions(record))
    return record


def _row_contradictions(row: Row) -> Iterator[str]:
    has_new = any(violation.is_new for violation in row.violations)
    if row.outcome in QUIET and has_new:
        yield f"outcome {row.outcome.value}, yet a violation is new"
    if row.outcome is Outcome.FAIL and not has_new:
        yield "outcome fail, yet no violation is new"
    if row.outcome is Outcome.PASS and row.violations:
        yield "outcome pass, yet there are violations"
    if row.outcome is Outcome.KNOWN and not row.violations:
        yield "outcome known, yet there is no violation"
    if (row.origin == "finding") != (row.finding is not None):
        yield "finding: named by the rows of origin finding, and by no others"
    if row.outcome is Outcome.OUT_OF_DATE and row.finding is None:
        yield "outcome out_of_date, yet it is no finding's program"
    if row.descriptors and not row.exported:
        yield "descriptors: of a joint graph, yet none was exported"


def _contradictions(record: Record) -> Iterator[str]:
    for kind in record.header.not_expected:
        if kind not in record.header.kinds:
            yield f"header.not_expected: {kind} is not among the header's kinds"
    for id_ in record.header.consumers.keys() - record.header.requirements.keys():
        yield f"header.consumers: {id_} is not among the header's requirements"
    number_of, of = map(int, record.header.shard.split("/"))
    if not 1 <= number_of <= of:
        yield f"header.shard: there is no part {number_of} of {of}"
    for number, row in enumerate(record.rows):
        yield from (f"rows[{number}]: {text}" for text in _row_contradictions(row))
        for rule in (*row.checked, *(violation.rule for violation in row.violations)):
            if rule not in record.header.requirements:
                yield f"rows[{number}]: {rule} is not among the header's requirements"
    footer = record.footer
    if footer is None:
        return
    if footer.rows != len(record.rows):
        yield f"footer.rows: {footer.rows}, yet {len(record.rows)} are there"
    if dict(footer.outcomes) != count_outcomes(record.rows):
        yield "footer.outcomes: other counts than the rows have"
    if footer.complete == bool(footer.reason):
        yield "footer.reason: given exactly where the run is not complete"


def _refuse(contradictions: Iterator[str]) -> None:
    for text in contradictions:
        raise ValueError(text)


def _to_row(data: Mapping[str, Any]) -> Row:
    violations = tuple(ViolationRow(**violation) for violation in data["violations"])
    lists = {name: tuple(data[name]) for name in ("features", "checked")}
    descriptors = {kind: tuple(times) for kind, times in data["descriptors"].items()}
    rest = {"outcome": Outcome(data["outcome"]), "violations": violations, "descriptors": descriptors}
    return Row(**{**data, **lists, **rest})


def _to_record(data: Mapping[str, Any]) -> Record:
    header, footer = data["header"], data.get("footer")
    if footer is not None:
        outcomes = {Outcome(name): count for name, count in footer["outcomes"].items()}
        footer = Footer(**{**footer, "outcomes": outcomes})
    lists = {name: tuple(header[name]) for name in ("devices", "kinds")}
    consumers = {id_: tuple(names) for id_, names in header["consumers"].items()}
    return Record(Header(**{**header, **lists, "consumers": consumers}), tuple(map(_to_row, data["rows"])), footer)
