"""The descriptor classes themselves, without any program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import conformance.rules  # noqa: F401
from conformance.conftest import Run
from conformance.implementation import load_implementation
from conformance.recording import Recorder
from conformance.requirements import REQUIREMENTS
from conformance.rule import VOCABULARY_RULES


@pytest.mark.parametrize("requirement", VOCABULARY_RULES)
def test_descriptor_classes_keep(requirement: str, run: Run, recorder: Recorder, record_property: Callable[..., Any]) -> None:
    record_property("requirement", requirement)
    record_property("implementation", run.implementation)
    namespace = load_implementation(run.implementation).descriptors
    violations = VOCABULARY_RULES[requirement].judge(namespace)
    recorder.add_without_program(requirement, (requirement,), violations)
    told = "\n".join(f"  {v.path}: expected {v.expected}, found {v.found}" for v in violations)
    assert not violations, f"{requirement}: {REQUIREMENTS[requirement].sentence}\n{told}"
