"""Is the adapter alive? The check that runs first, so that a broken adapter is not taken for a wrong implementation."""

from __future__ import annotations

from conformance.implementation import AdapterError, load_implementation
from conformance.sandbox import Job, Sandbox
from generators.program import Leaf, Node, Program, Ref, Statement
from reports.record import Outcome

#: y = sin(x): any implementation can export, compile and call it.
PROGRAM = Program(
    leaves=(Leaf("x0", (3,), requires_grad=True),),
    args=(Ref("x0"),),
    body=(Statement("sin", ("a0",), (), ("v0",)),),
    outputs=Node("tuple", (Ref("v0"),)),
)

#: What makes an adapter broken: without a joint graph or a callable there is nothing to judge.
_FATAL = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR})


def broken_adapter(job: Job) -> str:
    """Why the adapter can't be judged, as one line; empty if it can."""
    try:
        load_implementation(job.implementation)
    except AdapterError as error:
        return str(error)
    try:
        with Sandbox(job) as sandbox:
            verdict = sandbox.judge(PROGRAM, thorough=False)
    except RuntimeError as error:
        return str(error)
    if verdict.outcome in _FATAL:
        return f"{job.implementation}: y = sin(x) ended in {verdict.outcome.value}: {verdict.detail}"
    errors = [item.violation for item in verdict.judged if item.violation.path in ("export:error", "compile:error")]
    if errors:
        return f"{job.implementation}: y = sin(x) could not be exported and compiled: {errors[0].found}"
    return ""
