"""One failure made as small as it gets while its signature stays, in child processes and within a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from conformance.campaign.groups import Failure
from conformance.campaign.running import run_script
from conformance.campaign.work import may_have_children
from conformance.judge import Judged, Verdict
from conformance.sandbox import Job, Sandbox
from conformance.signature import Signature
from conformance.telling import script
from generators.program import Program
from generators.reduce import reduce
from generators.source import source
from reports.record import Outcome

#: Seconds and verdicts that shrinking one failure may take.
SECONDS = 120.0
VERDICTS = 500
#: Seconds after which a smaller program is taken to hang, where the failure is that it hangs.
HANGS = 10.0
#: How shrinking ended.
MINIMAL, CUT_OFF, GONE, LOST = "nothing smaller fails so", "its time was up", "not seen again", "the worker was lost"
#: Not GONE: whether the program still fails so isn't known, since it hung, or was slow, before the rules had their say.
HUNG = "no verdict in time"
#: The ends after which there is nothing to show.
NOTHING_SHOWN = frozenset({GONE, HUNG, LOST})


@dataclass(frozen=True)
class Minimum:
    """The smallest program found for a group, and what it shows.

    ``signature`` is None where the process dies or hangs. ``script`` is "" where none can be written, ``exit_status``
    what it ended with: 1 where it shows the fault, None where it did not end.
    """

    key: str
    program: Program
    drawn: Program
    signature: Signature | None
    path: str
    expected: str
    found: str
    ended: str
    verdicts: int = 0
    seconds: float = 0.0
    script: str = ""
    exit_status: int | None = None


def shrink(key: str, failure: Failure, job: Job, seconds: float = SECONDS) -> Minimum:
    """The failure of the group ``key`` made small.

    A candidate is run in eager by this process, before a child judges it. Where that kills or hangs it, the engine
    replaces it; what is given to the next worker fares the same, and in the end the group is listed as it was drawn.
    """
    may_have_children()
    began = time.monotonic()
    patient = replace(job, timeout=2 * job.timeout)
    with _ended_after(10 * seconds + 4 * job.timeout), Sandbox(_hasty(job, failure)) as sandbox, Sandbox(patient) as again:
        search = _Search(failure, sandbox, again, began + seconds)
        ended = search.run()
        text = _script(search.best, search.item, failure, job.device)
        return Minimum(
            key,
            search.best,
            failure.program,
            search.item.signature if search.item else None,
            *_told(search.item, failure),
            ended=ended,
            verdicts=search.asked,
            seconds=round(time.monotonic() - began, 1),
            script=text,
            exit_status=run_script(text).status if text else None,
        )


def unshrunk(key: str, failure: Failure) -> Minimum:
    """What is known of a failure whose shrinking cost the worker."""
    return Minimum(key, failure.program, failure.program, None, *_told(None, failure), ended=LOST)


def _hasty(job: Job, failure: Failure) -> Job:
    """In haste where candidates hang; with more time than in the campaign where all scenarios are gone through."""
    return replace(job, timeout=HANGS if failure.row.outcome is Outcome.TIMEOUT else 2 * job.timeout)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End this process if it takes so long: a candidate hangs it in eager."""
    watchdog = threading.Timer(seconds, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


class _TimeIsUp(Exception):
    """No further verdict is asked for."""


@dataclass
class _Search:
    """The verdicts on ever smaller programs; ``best`` is the last that failed in the same way, by the violation ``item``;
    ``last`` is what became of the one asked about last.

    Whether a program hangs is asked in haste by ``sandbox``, and of the first and the last program by the ``patient`` one:
    on a machine that is busy with other things, slow ones hang too.
    """

    failure: Failure
    sandbox: Sandbox
    patient: Sandbox
    until: float
    asked: int = 0
    item: Judged | None = None
    last: Outcome | None = None
    best: Program = field(init=False)

    def __post_init__(self) -> None:
        self.best = self.failure.program

    def run(self) -> str:
        """Look for the smallest program that fails in this way; how the search ended."""
        hangs = self.failure.row.outcome is Outcome.TIMEOUT
        if not self._fails(self.failure.program, self.patient if hangs else self.sandbox):
            return HUNG if self.last is Outcome.TIMEOUT else GONE
        ended = self._reduce()
        if hangs and not self._fails(self.best, self.patient):
            self.best, ended = self.failure.program, CUT_OFF
        return ended

    def _reduce(self) -> str:
        with suppress(_TimeIsUp):
            reduce(self.failure.program, self._fails_in_time, budget=VERDICTS)
            return MINIMAL if self.asked <= VERDICTS else CUT_OFF
        return CUT_OFF

    def _fails_in_time(self, program: Program) -> bool:
        if time.monotonic() > self.until:
            raise _TimeIsUp
        return self._fails(program, self.sandbox)

    def _fails(self, program: Program, sandbox: Sandbox) -> bool:
        self.asked += 1
        violation = self.failure.violation
        verdict = sandbox.judge(program, thorough=True, only=(violation.rule,) if violation else ())
        self.last = verdict.outcome
        item = next((new for new in verdict.new if str(new.signature) == self.failure.sign), None)
        if item is None and (violation or not _ended_alike(verdict, self.failure)):
            return False
        self.best, self.item = program, item
        return True


def _ended_alike(verdict: Verdict, failure: Failure) -> bool:
    """Whether the process died of the same, or hung as well."""
    same = verdict.outcome is failure.row.outcome
    return same and (verdict.outcome is Outcome.TIMEOUT or verdict.detail == failure.row.detail)


def _told(item: Judged | None, failure: Failure) -> tuple[str, str, str]:
    """Where it is, what was expected, and what was found."""
    shown = item.violation if item else failure.violation
    return (shown.path, shown.expected, shown.found) if shown else ("process", "as eager, which goes through", failure.sign)


def _script(program: Program, item: Judged | None, failure: Failure, device: str) -> str:
    """The program as a script; "" where eager refuses already what is done before the call."""
    try:
        if item is not None:
            return script(item, program, device)
        return source(program, title=f"The process ends in a {failure.sign}", device=device)
    except Exception:  # whatever eager raises in a setup statement
        return ""
