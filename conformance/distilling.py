"""The smallest set of programs that shows what many show, within a number of seconds: greedy set cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from generators.program import Program


@dataclass(frozen=True)
class Candidate:
    """A program, what it shows by family, and how many seconds it takes.

    It ``is_stored`` already, or even ``must_stay``.
    """

    program: Program
    shows: Mapping[str, frozenset[str]]
    seconds: float
    is_stored: bool = False
    must_stay: bool = False


@dataclass(frozen=True)
class Choice:
    """The candidates that were chosen, by name, and of each family what they do not show often enough."""

    chosen: tuple[Candidate, ...]
    left_out: dict[str, list[str]]

    @property
    def seconds(self) -> float:
        """How long they take in all."""
        return sum(candidate.seconds for candidate in self.chosen)


def distill(candidates: Iterable[Candidate], wanted: Mapping[str, int], seconds: float) -> Choice:
    """Few candidates that together show, of each family in ``wanted``, everything that any of them shows.

    Everything is shown so many times as ``wanted`` says, or by all that show it if these are fewer. The families come one
    after another, the first is served first. What is stored is preferred: another candidate is chosen for what no stored
    one shows. What would take more than ``seconds`` in all is not chosen, unless it must stay.

    How long each takes has a say in nothing else, so that within the seconds the same candidates give the same choice.
    """
    pool = sorted(candidates, key=_order)
    cover = _Cover(pool, wanted, seconds)
    for candidate in pool:
        if candidate.must_stay:
            cover.take(candidate)
    for family in wanted:
        cover.choose(family, [candidate for candidate in pool if candidate.is_stored])
        cover.choose(family, pool)
    left = {family: sorted(name for name, times in missing.items() if times) for family, missing in cover.missing.items()}
    chosen = _needed(sorted(cover.chosen, key=_order), cover.demand)
    return Choice(tuple(sorted(chosen, key=lambda candidate: candidate.program.name)), left)


def _order(candidate: Candidate) -> tuple[bool, int, str]:
    """What is stored first, then by size."""
    program = candidate.program
    return (not candidate.is_stored, len(program.body) + len(program.setup), program.name)


def _count(family: str, candidates: Iterable[Candidate]) -> Counter[str]:
    return Counter(name for candidate in candidates for name in candidate.shows[family])


class _Cover:
    """What is chosen so far, and by family how many times each thing is still to be shown."""

    def __init__(self, pool: Sequence[Candidate], wanted: Mapping[str, int], seconds: float) -> None:
        self.seconds = seconds
        self.chosen: list[Candidate] = []
        self.demand = {f: {name: min(times, least) for name, times in _count(f, pool).items()} for f, least in wanted.items()}
        self.missing = {family: dict(names) for family, names in self.demand.items()}

    def take(self, candidate: Candidate) -> None:
        """Choose the candidate."""
        self.chosen.append(candidate)
        self.seconds -= candidate.seconds
        for family, missing in self.missing.items():
            for name in candidate.shows[family]:
                missing[name] = max(0, missing[name] - 1)

    def choose(self, family: str, pool: Sequence[Candidate]) -> None:
        """Choose of the pool, again and again, what shows the most that is missing of the family.

        What a candidate would add only ever becomes less, so that the best is known once it was counted anew.
        """
        taken = {candidate.program.name for candidate in self.chosen}
        pool = [candidate for candidate in pool if candidate.program.name not in taken]
        heap = [(-self._added(family, candidate), place) for place, candidate in enumerate(pool)]
        heapify(heap)
        while heap and heap[0][0]:
            place = heap[0][1]
            added = self._added(family, pool[place])
            if -heap[0][0] != added:
                heapreplace(heap, (-added, place))
                continue
            heappop(heap)
            if pool[place].seconds <= self.seconds:
                self.take(pool[place])

    def _added(self, family: str, candidate: Candidate) -> int:
        return sum(self.missing[family][name] > 0 for name in candidate.shows[family])


def _needed(chosen: list[Candidate], demand: Mapping[str, Mapping[str, int]]) -> list[Candidate]:
    """Those of them without which something would be shown too seldom; the last are given up first."""
    shown = {family: _count(family, chosen) for family in demand}
    needed: list[Candidate] = []
    for candidate in reversed(chosen):
        spare = all(shown[f][name] > demand[f][name] for f in demand for name in candidate.shows[f])
        if candidate.must_stay or not spare:
            needed.append(candidate)
            continue
        for family, counts in shown.items():
            counts.subtract(candidate.shows[family])
    return needed
