"""What a worker does in one task: draw one shard, judge its programs, give back what was seen.

Who dies of a program? Not the worker of the engine. Programs are drawn and judged in a child of it (the Sandbox),
as in any other run: so the parent knows which program it was, its crash or hang becomes that program's verdict
within the same shard, and a shard is never lost or judged twice. The engine's own remedy, a worker that is
replaced and its task given to another, stays for what goes wrong outside the child.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from conformance.campaign.guidance import Couple
from conformance.campaign.plan import CampaignError, Plan
from conformance.recording import Recorder
from conformance.sandbox import Sandbox
from conformance.shards import Shard
from generators.program import Program
from reports.record import Outcome

#: What became of a program that is kept.
FAILED = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT})


@dataclass(frozen=True)
class Seen:
    """What one shard showed: its rows as a journal has them, the programs that failed, and all programs."""

    shard: Shard
    journal: str
    failing: tuple[Program, ...]
    programs: tuple[Program, ...] = ()


def judge_shard(plan: Plan, number: int, couples: tuple[Couple, ...] = ()) -> Seen:
    """Draw and judge the plan's shard of that number, or make and judge the mutants of these couples.

    Raises CampaignError on a machine with another torch, RuntimeError if drawing dies.
    """
    if torch.__version__ != plan.torch:
        raise CampaignError(f"a worker has torch {torch.__version__}, the campaign is one of {plan.torch}")
    may_have_children()
    shard = plan.shard(number)
    failing: list[Program] = []
    # A child for each shard: what programs leave behind in it, memory above all, does not add up over a night.
    with Sandbox(plan.job) as sandbox, tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "rows.jsonl", sandbox.script)
        recorder.journal.touch()
        programs = _mutants(shard, couples, sandbox) if couples else sandbox.draw(shard)
        for program in programs:
            verdict = sandbox.confirmed(program)
            if plan.exported and verdict.outcome is Outcome.UNSUPPORTED:
                continue  # more than half of what is drawn is not for torch.export: the rows would say nothing
            recorder.add(verdict, "drawn", shard.name)
            if verdict.outcome in FAILED:
                failing.append(program)
        return Seen(shard, recorder.journal.read_text(encoding="utf-8"), tuple(failing), tuple(programs))


def _mutants(shard: Shard, couples: tuple[Couple, ...], sandbox: Sandbox) -> list[Program]:
    """A mutant of each couple that has one, each once."""
    made = [sandbox.mutant(*couple, f"{shard.seed} {shard.name} {index}") for index, couple in enumerate(couples)]
    return list({program.name: program for program in made if program is not None}.values())


def may_have_children() -> None:
    """Let this worker start child processes, which multiprocessing forbids to the daemons that Dask makes of them."""
    if multiprocessing.current_process().daemon:
        multiprocessing.current_process().daemon = False
