"""The stored programs, one test each: what the gate replays on every torch version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import golden
from conformance.conftest import Run
from conformance.recording import Recorder
from conformance.reporting import fail_on_new, read_or_fail
from conformance.sandbox import Sandbox
from generators.codec import load


@pytest.mark.parametrize("path", golden.files(golden.PROGRAMS), ids=lambda path: path.stem)
def test_stored_program(
    path: Path, sandbox: Sandbox, recorder: Recorder, run: Run, record_property: Callable[..., Any]
) -> None:
    verdict = sandbox.confirmed(read_or_fail(load, path, recorder, "stored"))
    recorder.add(verdict, "stored", "stored")
    fail_on_new([verdict], sandbox, run, record_property)
