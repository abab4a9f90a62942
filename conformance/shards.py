"""The drawn programs of a run, cut into shards: the same for a seed, whatever the number of workers."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings

from generators.program import Program
from generators.strategies import MIXES, programs

#: Programs in a shard: small enough to spread over workers, large enough for Hypothesis to vary.
SHARD_SIZE = 80


@dataclass(frozen=True)
class Shard:
    """A part of the drawing: the mix it concentrates on, its number, and the seed of the whole run."""

    mix: str
    number: int
    seed: int
    size: int = SHARD_SIZE

    @property
    def name(self) -> str:
        """What the shard is called in node ids and records."""
        return f"{self.mix}-{self.number:02d}"


def shards_for(programs: int, run_seed: int) -> list[Shard]:
    """Shards that draw ``programs`` programs in all, the mixes in turn."""
    return [numbered_shard(number, run_seed) for number in range(-(-programs // SHARD_SIZE))]


def numbered_shard(number: int, run_seed: int, mixes: tuple[str, ...] = tuple(MIXES)) -> Shard:
    """The shard of that number, which any run of that seed and these mixes that is long enough draws."""
    return Shard(mixes[number % len(mixes)], number, run_seed)


def draw(shard: Shard) -> list[Program]:
    """The shard's programs: those that Hypothesis generates under the shard's own seed, each once.

    Hypothesis is asked to generate only. Judging and reducing come after, so that a known failure does not
    disturb the drawing.
    """
    drawn: list[Program] = []

    @seed(int(hashlib.sha256(f"{shard.seed} {shard.name}".encode()).hexdigest()[:12], 16))
    @settings(
        max_examples=shard.size,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(MIXES[shard.mix]))
    def collect(program: Program) -> None:
        drawn.append(program)

    torch.manual_seed(0)
    with warnings.catch_warnings():  # eager warns of odd programs, which is what is drawn here
        warnings.simplefilter("ignore")
        collect()
    return list({program.name: program for program in drawn}.values())
