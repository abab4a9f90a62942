"""Programs drawn for the suite's own tests: as the runs draw them, and with evenly spread choices."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from conformance.shards import draw, shards_for
from generators import loose
from generators.loose import Loose
from generators.program import Program
from generators.strategies import EVERYTHING, Mix


@cache
def drawn(number: int = 2080) -> tuple[Program, ...]:
    """About ``number`` programs of all mixes, drawn as a run with seed 0 draws them; those drawn twice once."""
    return tuple(program for shard in shards_for(number, 0) for program in draw(shard))


def even(number: int, mix: Mix = EVERYTHING, seed: int = 0) -> Iterator[Loose]:
    """Loose programs in which every choice is as likely as every other, and sizes are at their bounds."""
    stream = random.Random(seed)

    def some(size: int, most: int) -> list[bytes]:
        return [stream.randbytes(size) for _ in range(most)]

    for _ in range(number):
        yield Loose(
            family=stream.randrange(256),
            leaves=tuple(loose.leaf(choices, subclasses=mix.subclasses) for choices in some(loose.LEAF_BYTES, mix.leaves)),
            setup=loose.statements(some(loose.STATEMENT_BYTES, mix.setup), mix.setup_kinds),
            ties=(),
            args=tuple(map(loose.item, some(loose.ITEM_BYTES, 4))),
            keywords=0,
            body=loose.statements(some(loose.STATEMENT_BYTES, mix.statements), mix.kinds),
            outputs=tuple(map(loose.item, some(loose.ITEM_BYTES, 2))),
            output_container="tuple",
            keep_refused=False,
        )
