"""The campaign itself: shards go out to workers, rows come in, new faults are shrunk beside, until it is told to stop.

It knows an executor and no more, so that one machine, a cluster, and a test's own thread are all the same to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any

from conformance.campaign import minima
from conformance.campaign.drafts import Fault, by_severity
from conformance.campaign.groups import Group, add_to_groups, size_of
from conformance.campaign.guidance import Couple, Guide
from conformance.campaign.plan import CampaignError, Folder, Plan
from conformance.campaign.screen import Status, Tell
from conformance.campaign.shrinking import Minimum, shrink, unshrunk
from conformance.campaign.work import FAILED, Seen, judge_shard
from conformance.sandbox import Job
from conformance.shards import SHARD_SIZE
from reports.record import Row

#: So many shards lost one after another, some of them for the second time, are no accident.
TOO_MANY_LOST = 4


@dataclass(frozen=True)
class Limit:
    """When no further shard is begun: after so many shards, or at this time (``time.time()``); None: never."""

    shards: int | None = None
    until: float | None = None


@dataclass
class Tally:
    """What all rows so far add up to."""

    programs: int = 0
    known: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    features: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Count one more program."""
        self.programs += 1
        self.known.update(violation.finding for violation in row.violations if violation.finding)
        self.kinds.update(row.descriptors)
        self.features.update(row.features)


@dataclass
class Campaign:
    """One campaign, as far as it is. ``judge`` and ``shrinks`` are what the workers are given to do."""

    folder: Folder
    plan: Plan
    limit: Limit
    executor: Executor
    slots: Callable[[], int]
    tell: Tell
    judge: Callable[[Plan, int, tuple[Couple, ...]], Seen] = judge_shard
    shrinks: Callable[[str, Any, Job], Minimum] = shrink
    tally: Tally = field(default_factory=Tally)
    groups: dict[str, Group] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = time.time()
        self.minima = minima.read(self.folder.minima)
        self._guide = Guide(self.plan, self.folder)
        for row in self.folder.rows():
            self._count(row)
        self.before = self.tally.programs
        self._next = 0
        self._again: list[int] = []
        self._drawing: dict[Future[Seen], int] = {}
        self._shrinking: dict[Future[Minimum], str] = {}
        self._lost_once: set[int] = set()
        self._lost_in_a_row = 0

    def run(self) -> str:
        """Go on until the limit, and until what failed is shrunk; why it ended before, or "".

        Raises CampaignError if shards are lost one after another.
        """
        try:
            while self._send_out():
                for future in wait(self._running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    self._take_in(future)
                self.tell(self.status())
        except KeyboardInterrupt:
            return "interrupted"
        finally:
            for future in self._running:
                future.cancel()
        return f"lost: {', '.join(self.lost)}" if self.lost else ""

    @property
    def _running(self) -> list[Future[Any]]:
        return [*self._drawing, *self._shrinking]

    def _send_out(self) -> bool:
        """Give the workers enough to do; whether anything is under way.

        While shards are drawn, half of the workers at the most shrink: a campaign that is interrupted has shrunk
        what it found, and one that finds much still draws.
        """
        slots = self.slots()
        # One more than can run: the next begins at once, and hardly any are left to be done when the time is up.
        while len(self._drawing) <= slots and (number := self._next_shard()) is not None:
            self._drawing[self.executor.submit(self.judge, self.plan, number, self._guide.couples(number))] = number
        at_a_time = max(1, slots // 2) if self._drawing else 2 * slots
        for group in self._to_shrink()[: max(0, at_a_time - len(self._shrinking))]:
            self._shrinking[self.executor.submit(self.shrinks, group.key, group.smallest, self.plan.job)] = group.key
        return bool(self._drawing or self._shrinking)

    def _next_shard(self) -> int | None:
        """The number of the next shard that is missing, if there is to be one."""
        if self.limit.until is not None and time.time() > self.limit.until:
            return None
        if self._again:
            return self._again.pop(0)
        while self.limit.shards is None or self._next < self.limit.shards:
            number, shard = self._next, self.plan.shard(self._next)
            if self.folder.has(shard):
                self._guide.take(number, self.folder.rows_of(shard))
            elif not self._guide.is_ready(number):
                return None
            self._next += 1
            if not self.folder.has(shard):
                return number
        return None

    def _to_shrink(self) -> list[Group]:
        """Groups without a minimum, or with a program that is smaller than it; the worst first."""
        running = set(self._shrinking.values())
        waiting = [g for g in self.groups.values() if g.key not in running and self._is_smaller(g)]
        return [fault.group for fault in by_severity(Fault(group, None) for group in waiting)]

    def _is_smaller(self, group: Group) -> bool:
        minimum = self.minima.get(group.key)
        return minimum is None or size_of(group.smallest.program) < size_of(minimum.program)

    def _take_in(self, future: Future[Any]) -> None:
        if future in self._shrinking:
            self._take_minimum(self._shrinking.pop(future), future)
        else:
            self._take_shard(self._drawing.pop(future), future)

    def _take_shard(self, number: int, future: Future[Seen]) -> None:
        shard = self.plan.shard(number)
        try:
            seen = future.result()
        except Exception as error:  # whatever the engine says of a worker that was lost
            self._lose(number, shard.name, error)
            return
        self._lost_in_a_row = 0
        rows = self.folder.add(shard, seen.journal, seen.failing)
        self._guide.take(number, rows, seen.programs)
        for row in rows:
            self._count(row)

    def _lose(self, number: int, name: str, error: BaseException) -> None:
        """Give a lost shard out again, and at its second loss say so: the fault may have been its neighbour's."""
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= TOO_MANY_LOST:
            raise CampaignError(f"{TOO_MANY_LOST} tasks were lost in a row, the last on {name}: {error}") from None
        if number in self._lost_once:
            self.lost.append(name)
            self._guide.take(number, ())
        else:
            self._lost_once.add(number)
            self._again.append(number)

    def _take_minimum(self, key: str, future: Future[Minimum]) -> None:
        try:
            minimum = future.result()
        except Exception:  # as above
            minimum = unshrunk(key, self.groups[key].smallest)
        self.minima[key] = minimum
        minima.append(self.folder.minima, minimum)

    def _count(self, row: Row) -> None:
        self.tally.add(row)
        if row.outcome in FAILED:
            add_to_groups(self.groups, row, self.folder.program(row.program))

    def faults(self) -> list[Fault]:
        """Each group with its minimum, the worst first."""
        return by_severity(Fault(group, self.minima.get(group.key)) for group in self.groups.values())

    def status(self) -> Status:
        """How far it is."""
        rate = (self.tally.programs - self.before) / max(0.1, time.time() - self.began)
        return Status(
            programs=self.tally.programs,
            rate=rate,
            new=len(self.groups),
            known=len(self.tally.known),
            shrunk=sum(key in self.minima for key in self.groups),
            kinds=len(self.tally.kinds),
            features=len(self.tally.features),
            left=self._left(rate),
        )

    def _left(self, rate: float) -> str:
        if self._drawing:
            return drawing_left(self.limit, time.time(), len(self.folder.journals()), rate)
        return f"{len(self._shrinking) + len(self._to_shrink())} faults to shrink"


def drawing_left(limit: Limit, now: float, finished: int, rate: float) -> str:
    """What is left to draw after so many shards, at so many programs a second."""
    if limit.until is not None:
        return f"{_in_minutes(limit.until - now)} of drawing"
    if limit.shards is None:
        return "until ctrl-C"
    missing = limit.shards - finished
    return f"{missing} shards" + (f", {_in_minutes(missing * SHARD_SIZE / rate)}" if rate else "")


def _in_minutes(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
