"""The types that may pass the boundary of torch.export, and the findings about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import conformance.exported.rules  # noqa: F401
import golden
from conformance.conftest import Run
from conformance.exported.passing import Refused, refused
from conformance.exported.pytrees import TYPES, Type, passed
from conformance.findings import load_finding, load_findings
from conformance.implementation import Implementation, load_implementation
from conformance.recording import Recorder
from conformance.reporting import read_or_fail
from conformance.requirements import REQUIREMENTS
from conformance.rule import PYTREE_RULES


@pytest.fixture
def implementation(run: Run) -> Implementation:
    loaded = load_implementation(run.implementation)
    if not hasattr(loaded, "export_ir"):
        pytest.skip("export_ir is not offered")
    return loaded


@pytest.mark.parametrize("type", TYPES.values(), ids=lambda type: f"E9-{type.name}")
def test_type_passes_the_boundary(
    type: Type, implementation: Implementation, run: Run, recorder: Recorder, record_property: Callable[..., Any]
) -> None:
    record_property("requirement", "E9")
    record_property("implementation", run.implementation)
    violations = PYTREE_RULES["E9"].judge(passed(type, implementation))
    findings = load_findings(golden.BOUNDARY)
    new = recorder.add_without_program(f"{type.kind} {type.name}", ("E9",), violations, findings=findings)
    told = "\n".join(f"  {v.path}: expected {v.expected}, found {v.found}" for v in (item.violation for item in new))
    script = Refused(type, new[0].violation).script if new else ""
    assert not new, f"E9: {REQUIREMENTS['E9'].sentence}\n{told}\n\n{script}"


@pytest.mark.parametrize("path", golden.files(golden.BOUNDARY), ids=lambda path: f"E9-{path.stem}")
def test_finding_about_types_is_right_about_this_torch(
    path: Path, implementation: Implementation, recorder: Recorder
) -> None:
    finding = read_or_fail(load_finding, path, recorder, "finding")
    is_shown = any(refused(finding, implementation))
    if finding.applies_here and not is_shown:
        recorder.add_out_of_date(finding)
    assert is_shown or not finding.applies_here, f"{finding.slug} no longer fails: add this torch to its not_seen"
