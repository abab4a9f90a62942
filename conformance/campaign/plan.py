"""What a campaign is, and the folder that keeps it: what was done stays, what is missing is done by the next run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import torch

import golden
from conformance.rule import EXPORTED_RULES
from conformance.sandbox import Job
from conformance.shards import Shard, numbered_shard
from generators.codec import dump, load
from generators.program import Program
from reports.record import Row, read_rows
from reports.storage import replace_file

#: In place of a mix, for shards that are not drawn.
MUTANTS = "mutants"


class CampaignError(Exception):
    """A campaign can't begin or go on; the message is one line that says why."""


@dataclass(frozen=True)
class Plan:
    """What decides which programs a campaign draws, and who is judged by them.

    ``exported``: they go through torch.export and are judged by chapter E, instead of through the joint export.
    A ``guided`` one judges mutants, too (conformance/campaign/guidance.py), the first ones of the stored programs.
    """

    seed: int
    mixes: tuple[str, ...]
    implementation: str
    exported: bool = False
    torch: str = torch.__version__
    hypothesis: str = version("hypothesis")
    guided: bool = False
    stored: str = field(default_factory=lambda: golden.content_hash(golden.files(golden.PROGRAMS)))

    def is_of_mutants(self, number: int) -> bool:
        """Whether the shard of that number is one of mutants."""
        return self.guided and number % 2 == 1

    @property
    def job(self) -> Job:
        """What a child that judges for this campaign needs to know."""
        return Job(self.implementation, only=tuple(EXPORTED_RULES) if self.exported else ())

    def shard(self, number: int) -> Shard:
        """The shard of that number: the same whatever the number of workers, and however often it is resumed."""
        if self.is_of_mutants(number):
            return Shard(MUTANTS, number, self.seed)
        if self.guided:
            return Shard(self.mixes[number // 2 % len(self.mixes)], number, self.seed)
        return numbered_shard(number, self.seed, self.mixes)


class Folder:
    """A campaign's folder: the plan, a file of rows for each finished shard, the programs that failed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shards = path / "shards"
        self.programs = path / "programs"
        self.parents = path / "kept"
        self.minima = path / "minima.jsonl"
        self.record = path / "record.json"
        self.faults = path / "faults.md"

    def claim(self, plan: Plan) -> None:
        """Begin the plan's campaign here, or go on with it. Raises CampaignError if another one is here."""
        file = self.path / "campaign.json"
        mine = json.loads(json.dumps(asdict(plan)))
        if file.exists():
            other = _read_plan(file)
            if told := [f"{key} {other.get(key)}, not {value}" for key, value in mine.items() if other.get(key) != value]:
                raise CampaignError(f"{self.path} holds another campaign ({'; '.join(told)}): give another folder with --into")
        for folder in (self.shards, self.programs):
            folder.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(mine, indent=1) + "\n")

    def journals(self) -> list[Path]:
        """The rows of all finished shards, a file each."""
        return sorted(self.shards.glob("*.jsonl"))

    def has(self, shard: Shard) -> bool:
        """Whether this shard was finished."""
        return self._journal(shard).exists()

    def rows_of(self, shard: Shard) -> tuple[Row, ...]:
        """The rows of a finished shard."""
        return read_rows(self._journal(shard))[0]

    def add(self, shard: Shard, journal: str, failing: Iterable[Program]) -> tuple[Row, ...]:
        """Keep what was seen in a shard, all of it or nothing, and give back its rows."""
        for program in failing:
            dump(program, self.programs / f"{program.name}.json")
        replace_file(self._journal(shard), journal)
        return self.rows_of(shard)

    def rows(self) -> Iterator[Row]:
        """The rows of all finished shards."""
        for path in self.journals():
            yield from read_rows(path)[0]

    def failing(self) -> list[Program]:
        """The programs that failed, by name. Raises ProgramError if a file is damaged."""
        return [load(path) for path in sorted(self.programs.glob("*.json"))]

    def program(self, name: str) -> Program:
        """The program of that hash, which failed. Raises ProgramError if its file is gone or damaged."""
        return load(self.programs / f"{name}.json")

    def keep(self, program: Program) -> None:
        """Keep a program that showed something new."""
        self.parents.mkdir(parents=True, exist_ok=True)
        dump(program, self.parents / f"{program.name}.json")

    def kept(self, name: str) -> Program:
        """The program of that hash, which was kept. Raises ProgramError if its file is gone or damaged."""
        return load(self.parents / f"{name}.json")

    def all_kept(self) -> list[Program]:
        """The programs that showed something new, by name. Raises ProgramError if a file is damaged."""
        return [load(path) for path in sorted(self.parents.glob("*.json"))]

    def _journal(self, shard: Shard) -> Path:
        return self.shards / f"{shard.name}.jsonl"


def _read_plan(file: Path) -> dict[str, object]:
    try:
        plan = json.loads(file.read_text())
        return dict(plan)
    except (OSError, ValueError, TypeError) as error:
        raise CampaignError(f"{file} can't be read: {error}") from None
