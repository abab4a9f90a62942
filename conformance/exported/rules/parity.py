"""Chapter E: an exported program, called, does what eager does."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.exported.case import Exported
from conformance.refusals import documented
from conformance.rule import Complaint, exported_rule


@exported_rule("E8", lambda case: bool(case.eager) and not case.eager["error"])
def calls_are_as_in_eager(case: Exported) -> Iterator[Complaint]:
    """In each form; one that can't be made where eager runs is told too, unless it is a documented refusal.

    Gradients are compared of what an export gives, strict or not: torch.export's guide has that IR be for training, and go
    through eager's autograd ("Export IR: Training vs Inference"). It has that of run_decompositions be for inference.
    How outputs alias inputs, no document says: nothing is judged of it.
    """
    for form, raised in case.refusals.items():
        if documented(raised.error, raised.stage) is None:
            yield f"{form}:error", "no error, as in eager", raised
    for form, difference in case.differences:
        found: object = case.results[form]["error"] if difference.path == "error" else None
        yield f"{form}:{difference.path}", difference.expected, found or difference.found
