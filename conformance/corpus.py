"""Choosing the programs that the gate replays: few, and with every feature several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.shards import draw, shards_for
from generators.codec import dump
from generators.features import features
from generators.program import Program

#: How often each feature, and each pair of kinds, is to be among the stored programs.
WANTED = 3


def store(programs: int, keep: int, seed: int, into: Path) -> str:
    """Store at most ``keep`` programs of ``programs`` drawn ones under ``into``; what was there stays.

    Gives back one line that says how much of what was drawn the stored ones cover.
    """
    drawn = [program for shard in shards_for(programs, seed) for program in draw(shard)]
    chosen = list(choose(drawn, keep))
    into.mkdir(parents=True, exist_ok=True)
    for program in chosen:
        dump(program, into / f"{program.name}.json")
    seen, kept = ({trait for p in some for trait in features(p)} for some in (drawn, chosen))
    return f"stored {len(chosen)} of {len(drawn)} programs: {len(kept)} of {len(seen)} features"


def choose(drawn: Iterable[Program], keep: int) -> Iterator[Program]:
    """Programs that show something not yet shown WANTED times, the smallest first."""
    shown: Counter[str] = Counter()
    left = keep
    for program in sorted(drawn, key=lambda p: (len(p.body) + len(p.setup), p.name)):
        traits = set(_traits(program))
        if left and any(shown[trait] < WANTED for trait in traits):
            shown.update(traits)
            left -= 1
            yield program


def _traits(program: Program) -> Iterator[str]:
    """The features, and the pairs of those that say how values are written, aliased and handed out."""
    own = sorted(features(program))
    yield from own
    telling = [name for name in own if name.startswith(("writes:", "changes-metadata-of:", "output:", "input:", "state:"))]
    yield from (f"{a} with {b}" for i, a in enumerate(telling) for b in telling[i + 1 :])
