"""The stored programs, one test each: what the gate replays on every torch version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import golden
from conformance.conftest import Run
from conformance.recording import Recorder
from conformance.reporting import fail_on_new, unreadable
from conformance.sandbox import Sandbox
from generators.codec import ProgramError, load
from generators.program import Program


def stored_programs() -> Iterator[Any]:
    """A parameter for each stored program; a damaged file fails by itself."""
    for path in golden.program_files():
        try:
            program = load(path)
        except ProgramError as error:
            yield pytest.param(error, id=path.stem)
        else:
            yield pytest.param(program, id=path.stem)


@pytest.mark.parametrize("program", list(stored_programs()))
def test_stored_program(
    program: Program, sandbox: Sandbox, recorder: Recorder, run: Run, record_property: Callable[..., Any]
) -> None:
    unreadable(program)
    verdict = sandbox.judge(program)
    recorder.add(verdict, "stored", "stored")
    fail_on_new([verdict], sandbox, run, record_property)
