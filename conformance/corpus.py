"""Choosing the programs that the gate replays: few, and with every feature several times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import golden
from conformance.sandbox import Job, Sandbox
from conformance.shards import shards_for
from conformance.vacuity import WANTED, wanted_of, write_wanted
from generators.codec import dump, load
from generators.features import features
from generators.program import Program
from reports.record import Outcome


def store(programs: int, keep: int, seed: int, into: Path, job: Job) -> str:
    """Store at most ``keep`` programs of ``programs`` drawn ones under ``into``; what was there stays.

    Each drawn program is judged once as the job says, since which kinds of descriptors are on its graph is known
    by exporting it; one that kills or hangs its process is not stored. What the gate must show from now on is
    written beside ``into``, as ``shown.json``.

    Gives back one line that says how much of what was drawn the stored ones cover.
    """
    with Sandbox(job) as sandbox:
        judged = [sandbox.judge(p, thorough=False) for shard in shards_for(programs, seed) for p in sandbox.draw(shard)]
    kinds = {verdict.program: frozenset(verdict.descriptors) for verdict in judged if verdict.outcome not in _UNFIT}
    drawn = list(kinds)
    chosen = choose(drawn, keep, kinds.__getitem__)
    into.mkdir(parents=True, exist_ok=True)
    for program in chosen:
        dump(program, into / f"{program.name}.json")
    stored = [load(path) for path in golden.files(into)]
    write_wanted(wanted_of([*drawn, *stored]), into.with_name(golden.SHOWN.name))
    seen, kept = ({trait for p in some for trait in features(p)} for some in (drawn, chosen))
    return f"stored {len(chosen)} of {len(drawn)} programs: {len(kept)} of {len(seen)} features"


Traits = Callable[[Program], frozenset[str]]
#: What became of a program that is no good for a gate.
_UNFIT = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR})


def choose(drawn: Iterable[Program], keep: int, kinds: Traits = lambda program: frozenset()) -> list[Program]:
    """Programs that show each feature and each of their ``kinds`` of descriptors WANTED times; then each telling pair
    of features, while there is room.

    The rarest comes first, since the programs that show it show common ones too.
    """
    pool = sorted({p.name: p for p in drawn}.values(), key=lambda p: (len(p.body) + len(p.setup), p.name))
    chosen: dict[str, Program] = {}
    for traits_of in (kinds, features, telling_pairs):
        for _, showing in _by_rarity(pool, traits_of):
            missing = WANTED - sum(program.name in chosen for program in showing)
            fresh = [program for program in showing if program.name not in chosen]
            for program in fresh[: max(0, min(missing, keep - len(chosen)))]:
                chosen[program.name] = program
    return list(chosen.values())


def _by_rarity(pool: list[Program], traits_of: Traits) -> list[tuple[str, list[Program]]]:
    """Each trait with the programs that show it, smallest first; the rarest trait first."""
    showing: dict[str, list[Program]] = {}
    for program in pool:
        for trait in traits_of(program):
            showing.setdefault(trait, []).append(program)
    return sorted(showing.items(), key=lambda item: (len(item[1]), item[0]))


def telling_pairs(program: Program) -> frozenset[str]:
    """The pairs of features that say how values are written, aliased and handed out."""
    telling = sorted(name for name in features(program) if name.startswith(_TELLING))
    return frozenset(f"{a} with {b}" for i, a in enumerate(telling) for b in telling[i + 1 :])


_TELLING = ("writes:", "changes-metadata-of:", "output:", "input:", "state:")
