"""The descriptors of functionalized random numbers, on fake CUDA tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from torch import nn

from conformance.conftest import Run
from conformance.implementation import load_implementation
from conformance.philox import STRUCTURE, Dropout, Noise, judge_philox
from conformance.recording import Recorder


@pytest.mark.parametrize("module", [Noise, Dropout])
def test_random_numbers_have_their_descriptors(
    module: type[nn.Module], run: Run, recorder: Recorder, record_property: Callable[..., Any]
) -> None:
    record_property("requirement", "P6")
    record_property("implementation", run.implementation)
    judgement = judge_philox(load_implementation(run.implementation), module())
    kinds = {kind: (times, 0) for kind, times in judgement.kinds.items()}  # their values are not run
    recorder.add_without_program(f"Philox {module.__name__}", (*STRUCTURE, "P6"), judgement.violations, kinds)
    told = "\n".join(f"  {v.rule} {v.path}: expected {v.expected}, found {v.found}" for v in judgement.violations)
    assert not judgement.violations, told
