"""The stored programs through torch.export, one test each: judged by chapter E alone."""

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
from reports.record import Outcome


@pytest.mark.parametrize("path", golden.files(golden.PROGRAMS), ids=lambda path: path.stem)
def test_exported_program(
    path: Path,
    exporter: Sandbox,
    exported_rules: tuple[str, ...],
    recorder: Recorder,
    run: Run,
    record_property: Callable[..., Any],
) -> None:
    program = read_or_fail(load, path, recorder, "exported")
    verdict = exporter.confirmed(program, only=exported_rules)
    if verdict.outcome is Outcome.UNSUPPORTED:  # most stored programs: their rows would say nothing
        return
    recorder.add(verdict, "exported", "exported")
    fail_on_new([verdict], exporter, run, record_property)
