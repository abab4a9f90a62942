"""Programs that Hypothesis draws, shard by shard; the rest of the run is stored, this part searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.conftest import Run
from conformance.recording import Recorder
from conformance.reporting import fail_on_new
from conformance.sandbox import Sandbox
from conformance.shards import Shard


def test_drawn_programs(
    shard: Shard, sandbox: Sandbox, recorder: Recorder, run: Run, record_property: Callable[..., Any]
) -> None:
    if run.time_is_up:
        pytest.skip("the run's minutes are over")
    verdicts = []
    for program in sandbox.draw(shard):
        verdicts.append(sandbox.confirmed(program))
        recorder.add(verdicts[-1], "drawn", shard.name)
    fail_on_new(verdicts, sandbox, run, record_property)
