"""A campaign without torch's work: shards, rows and minima that are made up, and an executor that does it at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.campaign.fuzz import Campaign, Limit
from conformance.campaign.groups import Failure
from conformance.campaign.guidance import Couple
from conformance.campaign.plan import Folder, Plan
from conformance.campaign.shrinking import MINIMAL, Minimum
from conformance.campaign.work import Seen
from conformance.sandbox import Job
from conformance.signature import Signature
from generators.program import Program
from reports.record import Outcome, Row, ViolationRow
from reports.storage import dump
from tests.programs import INFERENCE, ONE_OUTPUT, TWO_OUTPUTS
from tests.reports.samples import CRASHED, FAILED, NEW, PASSED

PLAN = Plan(0, ("everything", "aliasing"), "nowhere:Nothing")
VIOLATION = replace(NEW, rule="C2", path="train:outputs[0].stride", signature="C2 train:outputs[#].stride (#..) -> (#..)")


class Here(Executor):
    """Does what it is given as it is given."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def row(program: Program, *violations: ViolationRow, **other: Any) -> Row:
    """The row of a program that failed with these violations, or passed without any."""
    sample = FAILED if violations else PASSED
    return replace(sample, program=program.name, violations=violations, **other)


@dataclass
class Judge:
    """What is seen in each shard: in the first TWO_OUTPUTS fails, in the second ONE_OUTPUT as well, in all others none."""

    asked: list[int] = field(default_factory=list)

    def __call__(self, plan: Plan, number: int, couples: tuple[Couple, ...] = ()) -> Seen:
        self.asked.append(number)
        failing = {0: (TWO_OUTPUTS,), 1: (ONE_OUTPUT,)}.get(number, ())
        rows = [row(program, VIOLATION) for program in failing] or [row(INFERENCE)]
        shard = plan.shard(number)
        journal = "".join(dump(replace(one, shard=shard.name)) + "\n" for one in rows)
        return Seen(shard, journal, failing)


def shrunk(key: str, failure: Failure, job: Job) -> Minimum:
    """A minimum that is the program itself."""
    signature = Signature("C2", "train:outputs[#].stride", "(#..)", "(#..)")
    program, told = failure.program, (VIOLATION.path, "(3, 1)", "(1, 3)")
    return Minimum(key, program, program, signature, *told, ended=MINIMAL, script="pass\n", exit_status=1)


Judging = Callable[[Plan, int, tuple[Couple, ...]], Seen]


def campaign(folder: Path, judge: Judging | None = None, shards: int | None = 4, slots: int = 1) -> Campaign:
    """A campaign of so many shards in the folder."""
    home = Folder(folder)
    home.claim(PLAN)
    return Campaign(home, PLAN, Limit(shards), Here(), lambda: slots, lambda status: None, judge or Judge(), shrunk)


def failure(violation: ViolationRow | None, program: Program = ONE_OUTPUT) -> Failure:
    """A failure of the program: this violation, or a crash."""
    crash = replace(CRASHED, program=program.name, outcome=Outcome.CRASH, detail="SIGABRT")
    return Failure(program, row(program, violation) if violation else crash, violation)
