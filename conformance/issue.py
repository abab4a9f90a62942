"""A finding, a draft or a program as the text of a GitHub issue: nothing is sent anywhere."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from conformance.campaign.running import Ran, run_script
from conformance.exported.passing import refused
from conformance.findings import Finding
from conformance.judge import Judged, Verdict
from conformance.requirements import REQUIREMENTS
from conformance.rule import Violation
from conformance.sandbox import Job, Sandbox
from conformance.telling import script
from conformance.templates import template
from generators.program import Program
from generators.source import source
from reports.record import Outcome

#: Characters of the script's own output that are quoted, from its end.
QUOTED = 3000


class NothingToReport(Exception):
    """The program shows no fault on this torch; the message is one line."""


def issue_text(program: Program, finding: Finding | None, job: Job) -> str:
    """Title, what is wrong, script, expected, actual and versions, in Markdown; the script is run for its output.

    Of a finding that is what the finding says is wrong; of a program, the first thing that is and that no finding knows.
    Raises NothingToReport if nothing is.
    """
    with Sandbox(job) as sandbox:
        verdict = sandbox.judge(program, thorough=True, only=finding.only if finding else ())
    failing = _failing(verdict, finding)
    if not failing and verdict.outcome not in (Outcome.CRASH, Outcome.TIMEOUT):
        raise NothingToReport(_nothing(verdict))
    item = failing[0] if failing else None
    text = script(item, program, job.device) if item else source(program, device=job.device)
    return _text(
        _Fault(
            title=finding.title if finding else _title(item, verdict),
            script=text,
            violation=item.violation if item else None,
            ending=f"{verdict.outcome.value}: {verdict.detail}",
        ),
        finding,
    )


def issue_text_on_types(finding: Finding, implementation: Any) -> str:
    """The same for a finding about types at the boundary of torch.export, by the first type that does not pass.

    Raises NothingToReport if all pass.
    """
    first = next(refused(finding, implementation), None)
    if first is None:
        raise NothingToReport(f"{finding.slug}: every type passes on torch {torch.__version__}: nothing to report")
    return _text(_Fault(finding.title, first.script, first.violation), finding)


@dataclass(frozen=True)
class _Fault:
    """What the text is about: a violation, or else how the process ended."""

    title: str
    script: str
    violation: Violation | None
    ending: str = ""


def _text(fault: _Fault, finding: Finding | None) -> str:
    violation = fault.violation
    return template("issue.md.j2").render(
        title=fault.title,
        explanation=finding.explanation if finding else "",
        requirement=REQUIREMENTS[violation.rule].sentence if violation else "",
        link=finding.link if finding else "",
        script=fault.script,
        expected=violation.expected if violation else "the process lives, as in eager",
        actual=violation.found if violation else fault.ending,
        path=violation.path if violation else "",
        ran=_cut(run_script(fault.script)),
        versions=versions(),
    )


def _failing(verdict: Verdict, finding: Finding | None) -> Sequence[Judged]:
    """What the finding knows; a draft is no finding of this checkout yet, so that it is asked itself."""
    if finding is None:
        return verdict.new
    return [item for item in verdict.judged if finding.knows(item.signature, verdict.features)]


def _nothing(verdict: Verdict) -> str:
    known = sorted({item.finding.slug for item in verdict.judged if item.finding})
    rest = f"; it shows what is known as {', '.join(known)}" if known else ""
    return f"{verdict.program.name} ends in {verdict.outcome.value} on torch {torch.__version__}: nothing to report{rest}"


def _title(item: Judged | None, verdict: Verdict) -> str:
    if item is None:
        return f"The process ends in a {verdict.outcome.value}: {verdict.detail}"
    return f"{item.violation.path}: {item.violation.found}, where eager says {item.violation.expected}"


def _cut(ran: Ran) -> Ran:
    return Ran(ran.status, ran.output.strip()[-QUOTED:])


def versions() -> dict[str, str]:
    """What a reader needs to see the same."""
    return {
        "torch": f"{torch.__version__} ({torch.version.git_version or 'no git hash'})",
        "Python": platform.python_version(),
        "platform": platform.platform(),
    }
