"""The command `fuzz`: a campaign from its options to the page of faults and the run record."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console

from conformance.campaign.drafts import Fault, write
from conformance.campaign.engine import engine
from conformance.campaign.fuzz import Campaign, Limit
from conformance.campaign.plan import Folder, Plan
from conformance.campaign.screen import screen
from conformance.campaign.severity import CLASSES
from conformance.recording import header
from conformance.shards import shards_for
from reports.record import Header, RecordError, merge, read_record, write_record

#: How many faults are listed on the terminal; ``faults.md`` has all of them.
SHOWN = 20


@dataclass(frozen=True)
class Options:
    """What the command line says. ``minutes`` and ``programs``: the first that is reached ends the drawing."""

    minutes: float | None
    programs: int | None
    workers: int
    scheduler: str | None
    into: Path


def fuzz(plan: Plan, options: Options) -> int:
    """Run the plan's campaign in its folder, or go on with it. 1 if it found what no finding knows, else 0.

    Raises CampaignError where it can't begin or go on.
    """
    console = Console()
    folder = Folder(options.into)
    folder.claim(plan)
    about = header(plan.implementation, "campaign", plan.seed, ("cpu",), {})
    limit = Limit(
        None if options.programs is None else len(shards_for(options.programs, plan.seed)),
        None if options.minutes is None else time.time() + 60 * options.minutes,
    )
    with engine(options.workers, options.scheduler) as (executor, slots), screen(console) as tell:
        campaign = Campaign(folder, plan, limit, executor, slots, tell)
        try:
            reason = campaign.run()
        except BaseException:
            finish(campaign, about, "it broke off")
            raise
        finish(campaign, about, reason)
    console.print(ending(campaign, reason), soft_wrap=True, highlight=False, markup=False)
    return 1 if campaign.groups else 0


def finish(campaign: Campaign, about: Header, reason: str) -> None:
    """Write the record, the drafts and the page of faults."""
    folder, tally = campaign.folder, campaign.tally
    record = merge(about, folder.journals(), reason)
    if record.footer is not None:
        lasted = replace(record.footer, seconds=record.footer.seconds + _seconds_before(folder))
        write_record(replace(record, footer=lasted), folder.record)
    told = {"programs": tally.programs, "shards": len(folder.journals()), "known": sorted(tally.known), "reason": reason}
    write(campaign.faults(), folder.path, {**asdict(campaign.plan), **told})


def _seconds_before(folder: Folder) -> float:
    """How long the campaign ran before it was resumed."""
    try:
        footer = read_record(folder.record).footer
    except RecordError:
        return 0.0
    return footer.seconds if footer else 0.0


def ending(campaign: Campaign, reason: str) -> str:
    """What is told at the end: the faults, the worst first, and where everything is."""
    faults, status = campaign.faults(), campaign.status()
    lines = [f"{label:<10}{text}" for label, text in status.parts.items() if label != "left"]
    lines += [_line(number, fault) for number, fault in enumerate(faults[:SHOWN], 1)]
    if len(faults) > SHOWN:
        lines.append(f"     and {len(faults) - SHOWN} more")
    lines += [f"all of it: {campaign.folder.faults}", f"record:    {campaign.folder.record}"]
    if reason:
        lines.append(f"{reason}; the same command with --into {campaign.folder.path} goes on")
    return "\n".join(lines)


def _line(number: int, fault: Fault) -> str:
    return f"{number:>3}. {CLASSES[fault.severity]}: {fault.title} ({fault.group.programs} programs)"
