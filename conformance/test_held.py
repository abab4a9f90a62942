"""Programs whose module holds constants and custom objects, through torch.export: judged by chapter E, in every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.conftest import Run
from conformance.exported.held import HELD
from conformance.named import read_case
from conformance.recording import Recorder
from conformance.reporting import AsItIs, fail_on_new
from conformance.sandbox import Sandbox


@pytest.mark.parametrize("name", HELD)
def test_what_a_module_holds_is_lifted(
    name: str,
    exporter: Sandbox,
    exported_rules: tuple[str, ...],
    recorder: Recorder,
    run: Run,
    record_property: Callable[..., Any],
) -> None:
    case = read_case(HELD[name], name)
    verdict = exporter.confirmed(case.program, thorough=True, only=exported_rules, stated=case.stated)
    recorder.add(verdict, "exported", "exported")
    fail_on_new([verdict], exporter, AsItIs(run.implementation), record_property)
