"""How much of AOTAutograd the suite reaches: line and branch coverage of torch's own files.

Programs are judged in worker processes that coverage starts before torch is imported, so that lines that run at
import count. A worker saves after each part of its work (the stored programs, or one shard), so that a program
that kills it loses that part alone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import torch

import golden
from conformance.judge import judge
from conformance.pytorch import PyTorch
from conformance.sandbox import DRAW_TIMEOUT, TIMEOUT, prepare_child
from conformance.shards import draw, numbered_shard
from conformance.tracing import CoverageError, check_that_coverage_is_there, watched
from conformance.unreached import File, Region, Share, read, regions, shares
from generators.codec import load
from generators.program import Program
from reports.record import Outcome

#: The part of the work that is the stored programs; the others are numbers of shards.
STORED = "stored"
#: Shards that one worker draws before it ends and the next one starts afresh.
SHARDS_A_WORKER = 4


@dataclass(frozen=True)
class Part:
    """A part of the work, and how many programs were judged in it: None where the worker did not come to its end."""

    name: str
    judged: int | None


@dataclass(frozen=True)
class Measured:
    """What was reached, of which files, by how many programs."""

    torch: str
    seed: int
    minutes: float
    workers: int
    parts: tuple[Part, ...]
    shares: dict[str, Share]
    regions: list[Region]

    @property
    def judged(self) -> int:
        """Programs judged in the parts that came to their end."""
        return sum(part.judged or 0 for part in self.parts)

    @property
    def lost(self) -> list[str]:
        """The parts in which the worker died, or was killed since a program hung."""
        return [part.name for part in self.parts if part.judged is None]


def measure(minutes: float, seed: int, workers: int) -> Measured:
    """Judge programs for so long, the stored ones first, and see what of AOTAutograd they reach.

    Raises CoverageError if the ``coverage`` package is missing, or no worker left any data.
    """
    check_that_coverage_is_there()
    home = Path(torch.__file__).parent
    with tempfile.TemporaryDirectory(prefix="joint-conformance-") as name:
        folder = Path(name)
        (folder / "coveragerc").write_text(_configuration(folder, home))
        parts = tuple(_judge_for(minutes, seed, workers, folder / "coveragerc"))
        files = _combined(folder, home)
    return Measured(torch.__version__, seed, minutes, workers, parts, shares(files), regions(files))


def _configuration(folder: Path, home: Path) -> str:
    """Coverage's own configuration file, so that none that lies in the current directory is taken."""
    files = "\n    ".join(map(str, watched(home)))
    return f"[run]\nbranch = true\nparallel = true\ndata_file = {folder / 'data'}\ninclude =\n    {files}\n"


def _judge_for(minutes: float, seed: int, workers: int, configuration: Path) -> Iterator[Part]:
    until = time.time() + 60 * minutes
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={configuration}", "-m", "conformance.covering"]
    batches = map(batch, count())

    def work_through() -> list[Part]:
        done: list[Part] = []
        names: list[str] = []
        while time.time() < until:
            names = names or next(batches)
            parts = parts_of(names, _output([*command, str(until), str(seed), *names]))
            names = names[len(parts) :]
            done += parts
        return done

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work_through) for _ in range(workers)]:
            yield from future.result()


def batch(number: int) -> list[str]:
    """What the worker of this number does: the first one the stored programs, the others some shards each."""
    first = (number - 1) * SHARDS_A_WORKER
    return [STORED] if number == 0 else [str(shard) for shard in range(first, first + SHARDS_A_WORKER)]


def _output(command: list[str]) -> str:
    """What the worker printed before it ended or died."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    worker = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return worker.stdout.decode(errors="replace")


def parts_of(names: list[str], output: str) -> list[Part]:
    """The parts that came to their end, and the one in which the worker died."""
    judged = dict(re.findall(r"^judged (\w+) (\d+)$", output, re.MULTILINE))
    ended = [Part(name, int(judged[name])) for name in names if name in judged]
    return [*ended, *(Part(name, None) for name in names[len(ended) :][:1])]


def _combined(folder: Path, home: Path) -> list[File]:
    from coverage import Coverage
    from coverage.exceptions import NoDataError

    coverage = Coverage(config_file=str(folder / "coveragerc"))
    try:
        coverage.combine([str(folder)])
    except NoDataError:
        raise CoverageError("no worker left any data: each died, or none was ready in time") from None
    return read(coverage, watched(home), home)


def as_text(measured: Measured, most: int) -> str:
    """The numbers, and the largest regions that were not reached: ``most`` of them."""
    found = measured.shares
    lost = f"; a worker died in {', '.join(measured.lost)}" if measured.lost else ""
    effort = f"{measured.judged} judged in {measured.minutes:g} minutes by {measured.workers} workers{lost}"
    lines = [f"{'torch':<12}{measured.torch}", f"{'programs':<12}{effort}"]
    for kind in ("lines", "branches"):
        alone = found[f"{kind} of function bodies"].percent
        lines.append(f"{kind:<12}{found[kind].percent:.1f} % of {found[kind].total} (function bodies alone {alone:.1f} %)")
    lines.append("not reached, the largest regions first (lines, where it begins, function):")
    lines += [f"  {region.lines:>4}  {region.file}:{region.first}  {region.function}" for region in measured.regions[:most]]
    return "\n".join(lines)


def write(measured: Measured, path: Path) -> None:
    """Write all of it as JSON, every region included."""
    data = {
        **{name: getattr(measured, name) for name in ("torch", "seed", "minutes", "workers", "judged", "lost")},
        "shares": {name: {**share._asdict(), "percent": share.percent} for name, share in measured.shares.items()},
        "regions": [region._asdict() for region in measured.regions],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")


def _work(until: float, seed: int, names: Iterable[str]) -> None:
    """The worker: judges the programs of each part until the time is up, and says how many they were.

    A program that hangs kills it, and it ends at one on which the suite itself fails: what that one left behind
    would spoil the others.
    """
    from coverage import Coverage

    told = os.fdopen(os.dup(sys.stdout.fileno()), "w")  # a child that judges has no other stdout
    prepare_child("cpu")
    for name in names:
        judged = 0
        for program in _programs(name, seed) if time.time() < until else ():
            signal.alarm(round(TIMEOUT))
            if judge(program, PyTorch()).outcome is Outcome.ERROR:
                sys.exit(f"the suite failed on {program.name}")
            judged += 1
            if time.time() > until:
                break
        signal.alarm(0)
        watching = Coverage.current()
        assert watching is not None, "a worker runs under coverage"
        watching.save()
        print(f"judged {name} {judged}", file=told, flush=True)


def _programs(name: str, seed: int) -> list[Program]:
    signal.alarm(round(DRAW_TIMEOUT))
    return list(map(load, golden.files(golden.PROGRAMS))) if name == STORED else draw(numbered_shard(int(name), seed))


if __name__ == "__main__":
    _work(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
