"""The first screen of a page: the verdict, five numbers, and what changed or is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports import compare as comparing
from reports.compare import KINDS, Comparison, Kind, by_consumer, by_fault, compare
from reports.record import OUTCOMES, Header, Outcome, Record, Row, ViolationRow
from reports.storage import one_line
from reports.summary import VERDICTS, exit_code, summarize
from reports.tables import descriptor_counts

#: By exit code: the mark beside the verdict, and its tone.
_SIGNS = {0: ("✓", "good"), 1: ("✕", "bad"), 2: ("!", "warn"), 3: ("?", "open")}
_UPGRADE = {0: "You may upgrade", 1: "Look before you upgrade", 2: "Findings need attention", 3: "No verdict"}

#: By kind of change: its mark and tone. What fails as it did before is no change.
_MARKS = {
    Kind.REGRESSED: ("✕", "bad"),
    Kind.CRASHED: ("☠", "bad"),
    Kind.REMOVED: ("−", "bad"),
    Kind.CHANGED: ("≠", "warn"),
    Kind.NEW: ("+", "warn"),
    Kind.FIXED: ("✓", "good"),
}
#: The outcomes of one run that are told one by one.
_UNJUDGED = (
    (Outcome.CRASH, "☠", "bad"),
    (Outcome.TIMEOUT, "⧖", "bad"),
    (Outcome.ERROR, "?", "open"),
    (Outcome.OUT_OF_DATE, "!", "warn"),
)
_WIDTH = 400  # of what is told of an entry: the list of programs has all of it
_PROGRAMS = 8  # of an entry: likewise
_GRAPHS = 40  # whose contract changed: likewise


@dataclass(frozen=True)
class Number:
    """One of the five: `tone` colours it where it is not 0."""

    label: str
    value: int
    note: str
    tone: str = "none"


@dataclass(frozen=True)
class Entry:
    """One thing that changed: where, what was expected and found, in which programs, and how to run the first again."""

    what: str
    rule: str = ""
    expected: str = ""
    found: str = ""
    sentence: str = ""
    findings: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    count: int = 0
    replay: str = ""


@dataclass(frozen=True)
class Group:
    """All of one kind: `count` of them, told in entries of what is alike, `more` left to the list of programs."""

    name: str
    mark: str
    tone: str
    meaning: str
    count: int
    entries: tuple[Entry, ...]
    more: int = 0


@dataclass(frozen=True)
class Step:
    """From one version to the next, in a row of them."""

    label: str
    mark: str
    tone: str
    verdict: str
    broken: int
    fixed: int


@dataclass(frozen=True)
class Front:
    """`reason` says why there is this verdict, `told` what else to know first."""

    mark: str
    tone: str
    verdict: str
    reason: str
    told: tuple[str, ...]
    subject: str
    numbers: tuple[Number, ...]
    heading: str
    groups: tuple[Group, ...]
    nothing: str
    steps: tuple[Step, ...] = ()


def of_one(record: Record) -> Front:
    """The first screen for one run: whether it conforms, and what no finding knows."""
    code = exit_code(record)
    mark, tone = _SIGNS[code]
    verdict, _, reason = summarize(record).partition("\n")[0].partition(": ")
    return Front(
        mark=mark,
        tone=tone,
        verdict=verdict.capitalize(),
        reason=_sentence(reason or VERDICTS[code]),
        told=(),
        subject=one_line(f"torch {record.header.torch_version} · {_circumstances(record.header)}"),
        numbers=_numbers_of_one(record),
        heading="What is new",
        groups=tuple(group for group in _groups_of_one(record) if group.entries),
        nothing="Nothing: findings know all that failed, and nothing died.",
    )


def of_a_step(comparison: Comparison, steps: Sequence[Comparison] = ()) -> Front:
    """The first screen for two runs, or for the first and the last of several with the steps between."""
    code = comparison.status()
    mark, tone = _SIGNS[code]
    return Front(
        mark=mark,
        tone=tone,
        verdict=_UPGRADE[code],
        reason=_sentence(comparison.reason or _reason(code)),
        told=tuple(_told(comparison)),
        subject=one_line(f"torch {_versions(comparison)} · {_circumstances(comparison.after)}"),
        numbers=_numbers_of_a_step(comparison),
        heading="What changed",
        groups=tuple(group for group in _groups_of_a_step(comparison) if group.entries),
        nothing="Nothing: all that held before holds, and what failed fails in the same way.",
        steps=tuple(map(_step, steps)),
    )


def _reason(code: int) -> str:
    """What the gate says of this code, without what stands above it already."""
    parts = comparing.VERDICTS[code].split(": ")
    return ": ".join(part for part in parts if part != _UPGRADE[code].lower())


def _told(comparison: Comparison) -> Iterator[str]:
    consumers = by_consumer(comparison.breaks(), comparison.after)
    if consumers:
        yield _sentence("Rely on what broke: " + ", ".join(f"{name} ({len(broken)})" for name, broken in consumers.items()))
    if comparison.left_out:
        yield f"{comparison.left_out} drawn programs are not compared: another torch draws others."


def comparisons(records: Sequence[Record]) -> list[Comparison]:
    """From each record to the next."""
    return [compare(before, after) for before, after in pairwise(records)]


def _circumstances(header: Header) -> str:
    return f"{header.implementation} · profile {header.profile} · {header.started[:10]}"


def _versions(comparison: Comparison) -> str:
    return f"{comparison.before.torch_version} → {comparison.after.torch_version}"


def _sentence(text: str) -> str:
    text = one_line(text)
    return f"{text[:1].upper()}{text[1:]}."


def _step(comparison: Comparison) -> Step:
    code = comparison.status()
    mark, tone = _SIGNS[code]
    verdict = f"{_UPGRADE[code]}: {comparison.reason}" if comparison.reason else _UPGRADE[code]
    label, told = one_line(_versions(comparison)), one_line(verdict)
    return Step(label, mark, tone, told, len(comparison.breaks()), len(comparison.of(Kind.FIXED)))


# The numbers


def _numbers_of_one(record: Record) -> tuple[Number, ...]:
    new = _new_by_signature(record)
    failed = {row.program for found in new.values() for row, _ in found}
    known = {v.finding for row in record.rows for v in row.violations if v.finding}
    died = [row for row in record.rows if row.outcome in (Outcome.CRASH, Outcome.TIMEOUT)]
    counts = descriptor_counts(record)
    judged = {rule for row in record.rows for rule in row.checked}
    return (
        Number("new violations", len(new), f"in {len(failed)} programs" if new else "", "bad"),
        Number("crashed or hung", len(died), "programs" if died else "", "bad"),
        Number("known faults", len(known), "findings that absorbed something", "warn"),
        Number("programs", len(record.rows), f"judged by {len(judged)} requirements"),
        Number("descriptor kinds", sum(seen > 0 for seen, _ in counts.values()), f"of {len(counts)} were shown"),
    )


def _numbers_of_a_step(comparison: Comparison) -> tuple[Number, ...]:
    broken, fixed, same = comparison.breaks(), comparison.of(Kind.FIXED), comparison.of(Kind.KNOWN)
    other = comparison.of(Kind.CHANGED, Kind.NEW)
    explained = sum(change.is_explained for change in broken)
    graphs = [change.kind for change in comparison.graphs.values()]
    contracts, rest = graphs.count("contract"), f"{graphs.count('graph')} in ops alone, {graphs.count('cosmetic')} in names"
    return (
        Number("broke", len(broken), f"{_on(broken)}, {explained} explained by findings" if broken else "", "bad"),
        Number("fixed", len(fixed), _on(fixed), "good"),
        Number("fail otherwise", len(other), _on(other), "warn"),
        Number("fail as before", len(same), f"{_on(same)} of {comparison.programs}" if same else ""),
        Number("graph contracts changed", contracts, f"of {len(graphs)} graphs; {rest}", "warn"),
    )


def _on(changes: Sequence[comparing.Change]) -> str:
    return f"on {len({change.name for change in changes})} programs" if changes else ""


# What changed


def _groups_of_one(record: Record) -> Iterator[Group]:
    header = record.header
    new = sorted(_new_by_signature(record).values(), key=len, reverse=True)
    entries = tuple(_entry(header, [row for row, _ in found], found[0][1]) for found in new)
    yield Group("violations", "✕", "bad", "no finding knows them", len(entries), entries)
    for outcome, mark, tone in _UNJUDGED:
        rows = [row for row in record.rows if row.outcome is outcome]
        name = outcome.value.replace("_", " ")
        yield Group(name, mark, tone, OUTCOMES[outcome].text, len(rows), tuple(_entry(header, [row]) for row in rows))


def _groups_of_a_step(comparison: Comparison) -> Iterator[Group]:
    for kind, (mark, tone) in _MARKS.items():
        changes = comparison.of(kind)
        entries = tuple(_of_changes(comparison.after, alike) for alike in by_fault(changes))
        yield Group(kind.value, mark, tone, f"{_on(changes)} · {KINDS[kind].text}", len(changes), entries)
    stale = tuple(Entry(what=one_line(name)) for name in comparison.out_of_date)
    yield Group("out of date", "!", "warn", OUTCOMES[Outcome.OUT_OF_DATE].text, len(stale), stale)
    contracts = [(name, change.lines) for name, change in comparison.graphs.items() if change.kind == "contract"]
    shown = contracts[:_GRAPHS]
    entries = tuple(Entry(what=_cut("; ".join(lines)), programs=(name,), count=1) for name, lines in shown)
    meaning = "descriptors, their order and number, what is taken and given, aliased or written"
    yield Group("graph contract", "≠", "warn", meaning, len(contracts), entries, len(contracts) - len(entries))


def _new_by_signature(record: Record) -> dict[str, list[tuple[Row, ViolationRow]]]:
    found: dict[str, list[tuple[Row, ViolationRow]]] = {}
    for row in record.rows:
        for violation in {v.signature: v for v in reversed(row.violations) if v.is_new}.values():
            found.setdefault(violation.signature, []).append((row, violation))
    return found


def _of_changes(header: Header, changes: list[comparing.Change]) -> Entry:
    first = changes[0]
    telling = first.telling[0] if first.telling else None
    return _entry(header, [change.after for change in changes], telling, first.findings)


def _entry(header: Header, rows: list[Row], violation: ViolationRow | None = None, findings: tuple[str, ...] = ()) -> Entry:
    """Of rows that are alike; where there is no violation, of what became of the first."""
    first = rows[0]
    programs = tuple(dict.fromkeys(row.program for row in rows))
    return Entry(
        rule=violation.rule if violation else "",
        what=_cut(violation.path if violation else first.detail or first.finding or first.outcome.value),
        expected=_cut(violation.expected) if violation else "",
        found=_cut(violation.found) if violation else "",
        sentence=one_line(header.requirements.get(violation.rule, "")) if violation else "",
        findings=findings,
        programs=programs[:_PROGRAMS],
        count=len(programs),
        replay=one_line(f"{header.replay} {first.name}"),
    )


def _cut(text: str) -> str:
    return one_line(text, _WIDTH)
