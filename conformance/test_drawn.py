"""Programs that Hypothesis draws, shard by shard; the rest of the run is stored, this part searches."""

from __future__ import annotations

import pytest

from conformance.reporting import fail_on_new


def test_drawn_programs(shard, sandbox, recorder, run, record_property):
    if run.time_is_up:
        pytest.skip("the run's minutes are over")
    verdicts = []
    for program in sandbox.draw(shard):
        verdicts.append(sandbox.judge(program))
        recorder.add(verdicts[-1], "drawn", shard.name)
    fail_on_new(verdicts, sandbox, run, record_property)
