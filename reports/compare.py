"""Two runs of the same programs, one before and one after: what held and no longer holds, and the reverse.

The programs compared are those that every run has alike, stored ones, the findings' own, and what is judged
without a program; drawn programs are other ones on another torch, and are left out. For each program and each
requirement the violations of both runs are compared by their signatures.

Whether a finding knows a violation says whose it is, not whether it matters: somebody who upgrades has code that
works before, and no longer after. So a fault that a finding has as not seen on the old version and seen on the new
is a regression like any other, one that the finding explains; and the other way round it is fixed.

A run that shows too little to be a verdict by itself, since an old torch can't export half of it, is compared all
the same: what it could not show is among the changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from reports.graph_changes import Change as GraphChange
from reports.graph_changes import classify
from reports.policy import EVERYTHING, Policy
from reports.record import Header, Outcome, Record, Row, ViolationRow
from reports.summary import why_not_whole

VERDICTS = {
    0: "you may upgrade: nothing broke that matters to you, as far as the programs look",
    1: "what held before no longer holds: look before you upgrade",
    2: "nothing broke that matters to you, but findings are out of date, or do not know what fails",
    3: "no verdict: a run is incomplete, or the two cannot be compared",
}


class Kind(str, Enum):
    """What became of one requirement on one program; `KINDS` says what each means."""

    REGRESSED = "regressed"
    CRASHED = "crashed"
    REMOVED = "removed"
    CHANGED = "changed"
    NEW = "new"
    FIXED = "fixed"
    KNOWN = "known"


class Meaning(NamedTuple):
    text: str
    breaks: bool  # code that worked before does not any more


KINDS: Mapping[Kind, Meaning] = {
    Kind.REGRESSED: Meaning("it held before; or it failed, and now fails in a further way", True),
    Kind.CRASHED: Meaning("the process dies or hangs, which it did not before", True),
    Kind.REMOVED: Meaning("the program was exported before, and is not offered or refused now", True),
    Kind.CHANGED: Meaning("it failed before, and now fails in another way", False),
    Kind.NEW: Meaning("nothing judged it before: there was no graph to judge", False),
    Kind.FIXED: Meaning("it failed before, and holds now, or fails in fewer ways", False),
    Kind.KNOWN: Meaning("it fails in the same way on both", False),
}


@dataclass(frozen=True)
class Change:
    """What became of one requirement ("" for the program as a whole) on one program.

    `failed` are the violations before, `fails` those after, one a signature; either row is of that program.
    """

    kind: Kind
    requirement: str
    before: Row
    after: Row
    failed: tuple[ViolationRow, ...] = ()
    fails: tuple[ViolationRow, ...] = ()

    @property
    def name(self) -> str:
        """What replays the program."""
        return self.after.name

    @property
    def come(self) -> tuple[ViolationRow, ...]:
        """The violations that were not there before."""
        return _without(self.fails, self.failed)

    @property
    def telling(self) -> tuple[ViolationRow, ...]:
        """The violations that this is about: those that came, or that went, or that stay."""
        return self.come or _without(self.failed, self.fails) or self.fails

    @property
    def findings(self) -> tuple[str, ...]:
        """The findings that explain it, by name."""
        return tuple(sorted({violation.finding for violation in self.telling if violation.finding}))

    @property
    def is_explained(self) -> bool:
        """Whether findings know all that it is about."""
        return bool(self.telling) and all(violation.finding for violation in self.telling)


@dataclass(frozen=True)
class Comparison:
    """What became of all programs that both runs judged.

    `reason` says why there is no verdict, "" where there is one. `changes` come the gravest kind first, within a
    kind what no finding explains, then the smallest programs. `graphs` has what became of each joint graph that
    both exported, by the program's name; `out_of_date` the findings that no longer fail in one of the runs;
    `left_out` how many drawn programs were not compared.
    """

    before: Header
    after: Header
    reason: str
    changes: tuple[Change, ...]
    graphs: Mapping[str, GraphChange] = field(default_factory=dict)
    out_of_date: tuple[str, ...] = ()
    programs: int = 0
    left_out: int = 0

    def of(self, *kinds: Kind) -> list[Change]:
        """The changes of these kinds."""
        return [change for change in self.changes if change.kind in kinds]

    def breaks(self, policy: Policy = EVERYTHING) -> list[Change]:
        """What stands against the upgrade, as far as it matters to this policy."""
        breaking = [change for change in self.changes if KINDS[change.kind].breaks]
        return [change for change in breaking if policy.matters(change.requirement, self.after)]

    def unknown(self, policy: Policy = EVERYTHING) -> list[Change]:
        """What fails after and is no regression, and no finding knows it: a violation, or a process that dies on both."""
        failing = self.of(Kind.CHANGED, Kind.NEW, Kind.KNOWN)
        unknown = [change for change in failing if not change.fails or not all(violation.finding for violation in change.fails)]
        return [change for change in unknown if policy.matters(change.requirement, self.after)]

    def status(self, policy: Policy = EVERYTHING) -> int:
        """The key of `VERDICTS`; what is missing outweighs what was seen, since it may hide more."""
        if self.reason:
            return 3
        if self.breaks(policy):
            return 1
        return 2 if self.out_of_date or self.unknown(policy) else 0


def compare(before: Record, after: Record, graphs: Callable[[str, str], GraphChange] = classify) -> Comparison:
    """What became of each requirement on each program, from one run to another.

    `graphs` classifies the change from one graph's text to another's. Two records that can't be compared give what
    can be said all the same, and the reason why it is no verdict.
    """
    old, new = _programs(before), _programs(after)
    both = [(old[key], new[key]) for key in old if key in new]
    exported = [(first[0], last[0]) for first, last in both if first[0].graph and last[0].graph]
    changes = sorted((change for pair in both for change in _changes(*pair)), key=_gravity)
    return Comparison(
        before=before.header,
        after=after.header,
        reason=_why_not(before, after, old.keys() ^ new.keys()),
        changes=tuple(changes),
        graphs={last.name: graphs(first.graph, last.graph) for first, last in exported},
        out_of_date=tuple(sorted(set(_out_of_date(before)) | set(_out_of_date(after)))),
        programs=len(both),
        left_out=sum(row.origin == "drawn" for record in (before, after) for row in record.rows),
    )


def by_requirement(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """The changes of each requirement, in the order of the ids; "" first."""
    groups: dict[str, list[Change]] = {}
    for change in sorted(changes, key=lambda change: _number(change.requirement)):
        groups.setdefault(change.requirement, []).append(change)
    return groups


def by_consumer(changes: Iterable[Change], header: Header) -> dict[str, list[Change]]:
    """The changes of the requirements that each consumer is known to rely on, by the consumer's name."""
    groups: dict[str, list[Change]] = {}
    for change in changes:
        for consumer in header.consumers.get(change.requirement, ()):
            groups.setdefault(consumer, []).append(change)
    return dict(sorted(groups.items()))


def by_fault(changes: Iterable[Change]) -> list[list[Change]]:
    """The changes that are likely one change of torch: of one kind and requirement, by one finding or at one place."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        first = change.telling[0] if change.telling else None
        fault = first and (first.finding or re.sub(r"\d+", "#", first.path))
        groups.setdefault((change.kind, change.requirement, fault), []).append(change)
    return sorted(groups.values(), key=lambda group: (_gravity(group[0])[:2], -len(group)))


# Of one program

_Key = tuple[str, str]


def _programs(record: Record) -> dict[_Key, list[Row]]:
    """The rows of each program that every run has: several where it was judged on several devices."""
    programs: dict[_Key, list[Row]] = {}
    for row in record.rows:
        if row.origin not in ("drawn", "smoke"):
            programs.setdefault((row.origin, row.name), []).append(row)
    return programs


def _changes(before: list[Row], after: list[Row]) -> Iterator[Change]:
    rows = (before[0], after[0])
    died, dies = _died(before), _died(after)
    if died or dies:
        yield Change(Kind.KNOWN if died and dies else Kind.CRASHED if dies else Kind.FIXED, "", *rows)
    elif _is_removed(before, after):
        yield Change(Kind.REMOVED, "", *rows)
    judged = {requirement for row in (*before, *after) for requirement in _judged(row)}
    for requirement in sorted(judged, key=_number):
        failed, fails = _violations(before, requirement), _violations(after, requirement)
        was_judged, is_judged = (any(requirement in _judged(row) for row in some) for some in (before, after))
        if (failed or fails) and is_judged:
            yield Change(_kind(failed, fails, was_judged), requirement, *rows, failed, fails)


def _kind(failed: tuple[ViolationRow, ...], fails: tuple[ViolationRow, ...], was_judged: bool) -> Kind:
    come, gone = _without(fails, failed), _without(failed, fails)
    if not was_judged:
        return Kind.NEW
    if come:
        return Kind.CHANGED if gone else Kind.REGRESSED
    return Kind.FIXED if gone else Kind.KNOWN


def _died(rows: list[Row]) -> bool:
    return any(row.outcome in (Outcome.CRASH, Outcome.TIMEOUT) for row in rows)


def _is_removed(before: list[Row], after: list[Row]) -> bool:
    turned_away = [row for row in after if row.outcome in (Outcome.UNSUPPORTED, Outcome.REFUSED)]
    return bool(turned_away) and any(row.exported for row in before) and not any(row.exported for row in after)


def _judged(row: Row) -> set[str]:
    return {*row.checked, *(violation.rule for violation in row.violations)}


def _violations(rows: list[Row], requirement: str) -> tuple[ViolationRow, ...]:
    found = [violation for row in rows for violation in row.violations if violation.rule == requirement]
    return tuple({violation.signature: violation for violation in reversed(found)}.values())[::-1]


def _without(some: tuple[ViolationRow, ...], others: tuple[ViolationRow, ...]) -> tuple[ViolationRow, ...]:
    signatures = {violation.signature for violation in others}
    return tuple(violation for violation in some if violation.signature not in signatures)


def _number(requirement: str) -> tuple[str, int]:
    """Requirement ids as a reader counts: C2 before C10."""
    return requirement[:1], int(requirement[1:] or 0)


def _gravity(change: Change) -> tuple[int, bool, tuple[str, int], int, str]:
    return (
        list(Kind).index(change.kind),
        change.is_explained,
        _number(change.requirement),
        len(change.after.source),
        change.name,
    )


# Whether they can be compared

#: What must be the same in both headers, and what is said where it is not.
_ALIKE = {
    "suite_version": "other versions of the suite",
    "corpus_hash": "other stored programs or named cases",
    "findings_hash": "other findings",
    "profile": "other profiles",
    "selection": "other selections of tests",
    "devices": "other devices",
    "shard": "other shards",
}


def _why_not(before: Record, after: Record, not_in_both: Iterable[_Key]) -> str:
    """Why there can be no verdict, "" if there can."""
    for name, told in _ALIKE.items():
        old, new = getattr(before.header, name), getattr(after.header, name)
        if old != new:
            return f"{told}: {_said(old)} before, {_said(new)} after"
    if before.header.requirements.keys() != after.header.requirements.keys():
        return "other rules: the two runs are of different suites"
    if not after.header.is_whole:
        return f"shards ({after.header.shard}): merge them first"
    for when, record in (("before", before), ("after", after)):
        if why := why_not_whole(record):
            return f"{when}: {why}"
    missing = sorted(not_in_both)
    if missing:
        return f"{len(missing)} programs are in one record alone, {missing[0][0]} {missing[0][1]} first"
    unjudged = sorted(_all_judged(before) - _all_judged(after), key=_number)
    return f"the run after judged nothing by {', '.join(unjudged)}, the run before did" if unjudged else ""


def _said(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value) or "none"


def _all_judged(record: Record) -> set[str]:
    return {requirement for row in record.rows if row.origin != "drawn" for requirement in _judged(row)}


def _out_of_date(record: Record) -> Iterator[str]:
    for row in record.rows:
        if row.outcome is Outcome.OUT_OF_DATE:
            yield f"{row.finding} on torch {record.header.torch_version}"
