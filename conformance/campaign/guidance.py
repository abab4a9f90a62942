"""Guidance: programs that show what none before them showed are kept, and mutants of them are judged, too.

Of a guided campaign every second shard is one of mutants. Whose mutants is decided by the shards of earlier rounds
alone, in the order of their numbers: so that the same seed gives the same programs, whoever is done first.

New is a feature, a kind of descriptor, or two of them together. Lines of AOTAutograd that no program before ran
(``sys.monitoring``) were tried beside them: in equal time, two seeds, they found 8 and 6 distinct new faults where
these alone found 10 and 6, and 88 and 90 known ones where these alone found 91 and 89. So they are not in.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from random import Random

import golden
from conformance.campaign.plan import Folder, Plan
from conformance.shards import SHARD_SIZE
from generators.codec import load
from generators.features import features
from generators.program import Program
from reports.record import Outcome, Row

#: Shards in a round. A shard of mutants waits for all rounds but its own and the one before: while those are judged, there is
#: work for so many workers.
ROUND = 16
#: The features that are looked at in pairs, with each other and with the kinds of descriptors.
_TELLING = ("writes:", "changes-metadata-of:", "output:", "input:", "state:")
#: What is no parent: its mutants would do the same, and take their time.
_BARREN = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR, Outcome.UNSUPPORTED})

Couple = tuple[Program, Program]


def shown(traits: Iterable[str], kinds: Iterable[str] = ()) -> frozenset[str]:
    """What a program shows: its traits, the kinds of descriptors on its graph, their set, and telling pairs of both."""
    traits, kinds = frozenset(traits), sorted(kinds)
    return frozenset({*traits, *kinds, " ".join(kinds), *telling_pairs(traits, kinds)})


def telling_pairs(traits: Iterable[str], kinds: Iterable[str] = ()) -> frozenset[str]:
    """The pairs of features that say how values are written, aliased and handed out, and of kinds."""
    telling = [*sorted(trait for trait in traits if trait.startswith(_TELLING)), *sorted(kinds)]
    return frozenset(f"{a} with {b}" for a, b in combinations(telling, 2))


def _shown_in(row: Row) -> frozenset[str]:
    return shown((*row.features, *row.checked), row.descriptors)


class Guide:
    """The programs that are kept, by name: the stored ones to begin with, then what showed something new."""

    def __init__(self, plan: Plan, folder: Folder) -> None:
        self._plan, self._folder = plan, folder
        stored = [load(path) for path in golden.files(golden.PROGRAMS)]
        self._programs = {program.name: program for program in stored}
        self._seen = {trait for program in stored for trait in shown(features(program))}
        self._kept = list(self._programs)
        self._waiting: dict[int, tuple[Row, ...]] = {}
        self._done = 0
        self._sizes = [len(self._kept)]

    def take(self, number: int, rows: tuple[Row, ...], programs: Iterable[Program] = ()) -> None:
        """Learn from the shard of that number, as soon as all before it were taken; a shard that is lost has no rows.

        What may come to be kept is written into the campaign's folder, for the case that it is interrupted.
        """
        mine = {program.name: program for program in programs}
        for row in rows:
            if row.program in mine and self._is_new(row):
                self._folder.keep(mine[row.program])
        self._waiting[number] = rows
        while self._done in self._waiting:
            for row in self._waiting.pop(self._done):
                self._learn(row)
            self._done += 1
            if self._done % ROUND == 0:
                self._sizes.append(len(self._kept))

    def _is_new(self, row: Row) -> bool:
        return row.outcome not in _BARREN and not _shown_in(row) <= self._seen

    def _learn(self, row: Row) -> None:
        if self._is_new(row):
            self._kept.append(row.program)
        self._seen |= _shown_in(row)

    def is_ready(self, number: int) -> bool:
        """Whether it is known which programs the shard of that number judges."""
        return not self._plan.is_of_mutants(number) or _rounds_before(number) < len(self._sizes)

    def couples(self, number: int) -> tuple[Couple, ...]:
        """Of each mutant of that shard the program that is changed, and another that it may take a part of."""
        if not self._plan.is_of_mutants(number):
            return ()
        random = Random(f"{self._plan.seed} {number}")
        names = self._kept[: self._sizes[_rounds_before(number)]]
        return tuple(self._couple(names, random) for _ in range(SHARD_SIZE))

    def _couple(self, names: list[str], random: Random) -> Couple:
        """Half of the mutants are of the newer half of the programs."""
        newer = names[len(names) // 2 :]
        return self._program(random.choice(newer if random.random() < 0.5 else names)), self._program(random.choice(names))

    def _program(self, name: str) -> Program:
        if name not in self._programs:
            self._programs[name] = self._folder.kept(name)
        return self._programs[name]


def _rounds_before(number: int) -> int:
    return max(0, number // ROUND - 1)
