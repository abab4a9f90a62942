"""The first version of torch on which a program fails, found among installed ones, or wheels to be installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: What is imported in every version: this suite, so that they differ in torch alone.
HOME = Path(__file__).parent.parent
#: Where tox keeps its environments, and where those of wheels are made.
TOX, MADE = Path(".tox"), Path("runs") / "bisect"
_REPLAY = "from conformance.cli import main; main()"


class BisectionError(Exception):
    """Nothing can be bisected; one line that says why."""


@dataclass(frozen=True)
class Found:
    """The first version that fails, and the last before it that does not: None where the first given one fails."""

    first: str
    before: str | None


def first_failing(versions: Sequence[str], fails: Callable[[str], bool]) -> Found | None:
    """The first of the versions, oldest first, on which ``fails`` holds; None if the newest does not fail.

    It takes for granted that a version that fails is followed by none that doesn't, and asks for few of them.
    """
    if not fails(versions[-1]):
        return None
    if len(versions) == 1 or fails(versions[0]):
        return Found(versions[0], None)
    holds, broken = 0, len(versions) - 1
    while broken - holds > 1:
        middle = (holds + broken) // 2
        holds, broken = (holds, middle) if fails(versions[middle]) else (middle, broken)
    return Found(versions[broken], versions[holds])


def interpreter_of(version: str) -> Path:
    """The Python of a version: the path of an interpreter, a wheel of torch, or a version that tox has installed (2.13).

    A wheel gets an environment of its own. Raises BisectionError.
    """
    path = Path(version)
    if path.suffix == ".whl" and path.is_file():
        return _environment_of(path)
    for candidate in (path, TOX / f"torch{version}" / "bin" / "python"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise BisectionError(f"{version}: no interpreter, no wheel, and no environment torch{version} that tox made under {TOX}")


def _environment_of(wheel: Path) -> Path:
    """A new environment with this torch and what the suite needs; one that is there already is taken as it is."""
    python = MADE / wheel.stem / "bin" / "python"
    done = MADE / wheel.stem / "installed"
    if not done.exists():
        _call(sys.executable, "-m", "venv", str(MADE / wheel.stem))
        _call(str(python), "-m", "pip", "install", "--quiet", str(wheel), str(HOME))
        done.touch()
    return python


def _call(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise BisectionError(f"{' '.join(words)} failed: {''.join(last)}")


def replay(python: Path, words: Sequence[str]) -> tuple[bool, str]:
    """Whether the replay fails under this interpreter, and the line that says so. Raises BisectionError if it can't judge."""
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run([str(python), "-c", _REPLAY, "replay", *words], capture_output=True, text=True, env=environment)
    said = (done.stdout.strip() or done.stderr.strip() or "nothing was said").splitlines()[-1]
    if done.returncode not in (0, 1) or not said.startswith(("FIXED", "FAILED")):
        raise BisectionError(f"{python} can't judge it: {said}")
    return done.returncode == 1, said
