"""A finding, a draft or a program as the text of a GitHub issue: nothing is sent anywhere."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import torch

from conformance.campaign.running import Ran, run_script
from conformance.findings import Finding
from conformance.judge import Judged, Verdict
from conformance.requirements import REQUIREMENTS
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
    return template("issue.md.j2").render(
        title=finding.title if finding else _title(item, verdict),
        explanation=finding.explanation if finding else "",
        requirement=REQUIREMENTS[item.violation.rule].sentence if item else "",
        link=finding.link if finding else "",
        script=text,
        expected=item.violation.expected if item else "the process lives, as in eager",
        actual=item.violation.found if item else f"{verdict.outcome.value}: {verdict.detail}",
        path=item.violation.path if item else "",
        ran=_cut(run_script(text)),
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
