"""Which branches of AOTAutograd the programs of one process take, and how long they take: told after each of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch


class CoverageError(Exception):
    """Nothing can be measured; the message says what to do."""


def check_that_coverage_is_there() -> None:
    """Raise CoverageError if the package ``coverage``, which measures, is missing."""
    if find_spec("coverage") is None:
        raise CoverageError("the package `coverage` is needed: pip install 'coverage>=7.7'")


def watched(home: Path) -> list[Path]:
    """The files of AOTAutograd in the torch that is installed at ``home``."""
    functorch = home / "_functorch"
    return [functorch / "aot_autograd.py", *sorted((functorch / "_aot_autograd").glob("*.py"))]


@dataclass(frozen=True)
class Trace:
    """What one program did: the branches it took, as ``file:line>line``, 0 for outside, and its seconds of CPU time."""

    branches: frozenset[str] = frozenset()
    seconds: float = 0.0


class Tracer:
    """Traces this process from now on. What it traces takes half as long again."""

    def __init__(self) -> None:
        from coverage import Coverage

        files = [str(path) for path in watched(Path(torch.__file__).parent)]
        self._coverage = Coverage(data_file=None, branch=True, include=files, config_file=False)
        self._begin()

    def _begin(self) -> None:
        self._coverage.start()
        self._began = time.process_time()

    def since_the_last(self) -> Trace:
        """What was done since this was last called."""
        seconds = time.process_time() - self._began
        self._coverage.stop()
        data = self._coverage.get_data()
        taken = {
            f"{Path(file).name}:{max(start, 0)}>{max(stop, 0)}"
            for file in data.measured_files()
            for start, stop in data.arcs(file) or ()
        }
        self._coverage.erase()
        self._begin()
        return Trace(frozenset(taken), seconds)
