"""The command line: replay one program, show what a run saw, measure, store programs for the gate."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NoReturn

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")

import click
from rich.console import Console
from rich.progress import Progress

import golden
from conformance import benchmark as measuring
from conformance import covering
from conformance.exported.passing import refused
from conformance.findings import Finding, FindingError, load_finding
from conformance.implementation import AdapterError, Implementation, load_implementation
from conformance.issue import NothingToReport, issue_text, issue_text_on_types
from conformance.judge import Judged, Verdict
from conformance.named import CaseError, load_case, stated_of
from conformance.reporting import KEPT, RUNS
from conformance.rule import EXPORTED_RULES, RULES
from conformance.sandbox import Job, Sandbox
from conformance.smoke import broken_adapter
from conformance.telling import DEFAULT, script, violation_text
from conformance.tracing import CoverageError
from conformance.upgrading import bisect, gate, merge, page
from generators.codec import ProgramError, load
from generators.program import Program
from generators.source import source
from generators.strategies import MIXES
from reports import tables as showing
from reports.promises import promises_table
from reports.record import Outcome, RecordError, read_record

_IMPLEMENTATION = click.option("--implementation", default=DEFAULT, show_default=True)
_REQUIREMENT = click.Choice([*RULES, *EXPORTED_RULES])
_FOLDER = click.Path(file_okay=False, path_type=Path)
_CAMPAIGN = click.Path(exists=True, file_okay=False, path_type=Path)
_DEVICE = click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)


@click.group()
def main() -> None:
    """Conformance of joint graphs with descriptors. The suite itself is `pytest -n auto conformance/`."""


for command in (gate, page, merge, bisect):
    main.add_command(command)


@main.command()
@click.argument("what")
@click.option("--source", "as_source", is_flag=True, help="Print the program as a stand-alone torch script, and stop.")
@click.option("--requirement", type=_REQUIREMENT, metavar="ID", help="Judge by this requirement alone.")
@_IMPLEMENTATION
@_DEVICE
def replay(what: str, as_source: bool, requirement: str | None, implementation: str, device: str) -> None:
    """Judge WHAT again: a program's hash, a program file, or the name of a finding or of a named case.

    Says FIXED (exit 0), FAILED (exit 1) or ERROR (exit 2). A finding fails while its own violation is there;
    a program, while there is one that no finding knows; either, if a requirement is given, while that is violated.
    """
    finding, program = _found(what)
    if finding and finding.types:
        _replay_types(finding, implementation, as_source, requirement)
        return
    job = Job(implementation, device, (requirement,) if requirement else tuple(finding.only if finding else ()))
    try:
        with Sandbox(job) as sandbox:
            verdict = sandbox.judge(program, thorough=True, stated=stated_of(program))
    except RuntimeError as error:
        _end(2, f"ERROR {program.name}: {broken_adapter(job) or error}")
    failing = [item for item in verdict.judged if requirement or item.finding == finding]
    if as_source:
        shown = failing or list(verdict.judged)
        click.echo(script(shown[0], program, device) if shown else source(program, device=device), nl=False)
    elif verdict.outcome is Outcome.ERROR:
        _end(2, f"ERROR {program.name}: {broken_adapter(job) or verdict.detail}")
    else:
        if finding:
            click.echo("\n".join(filter(None, (finding.title, finding.explanation, finding.link))) + "\n")
        _tell(verdict, failing, device)


def _replay_types(finding: Finding, implementation: str, as_source: bool, requirement: str | None) -> None:
    if requirement:
        raise click.ClickException(f"{finding.slug} is about types, no program: leave out --requirement")
    shown = list(refused(finding, _exporting(implementation)))
    if as_source:
        click.echo(shown[0].script if shown else f"# {finding.slug}: every type passes", nl=not shown)
        return
    click.echo(f"{finding.title}\n{finding.explanation}\n")
    for item in shown:
        click.echo(f"{item.violation.path}: expected {item.violation.expected}, found {item.violation.found}")
    if shown:
        _end(1, f"FAILED {finding.slug}: {len(shown)} violations of E9")
    _end(0, f"FIXED {finding.slug}: {len(finding.types)} types judged")


def _exporting(implementation: str) -> Implementation:
    """The implementation that is named. Exits with one line if there is none, or it has no torch.export."""
    try:
        loaded = load_implementation(implementation)
    except AdapterError as error:
        raise click.ClickException(str(error)) from None
    if not hasattr(loaded, "export_ir"):
        raise click.ClickException(f"--implementation {implementation}: export_ir is not offered, and E9 is about it")
    return loaded


@main.command()
@click.argument("what")
@_IMPLEMENTATION
@_DEVICE
def report(what: str, implementation: str, device: str) -> None:
    """WHAT as the text of a GitHub issue, in Markdown: a finding's name, a draft of one, or what `replay` takes.

    The program is judged and its script run for what it prints; nothing is sent anywhere.
    """
    try:
        finding, program = _draft(Path(what)) if what.endswith(".json") else _found(what)
        if finding and finding.types:
            text = issue_text_on_types(finding, _exporting(implementation))
        else:
            text = issue_text(program, finding, Job(implementation, device))
        click.echo(text, nl=False)
    except (NothingToReport, RuntimeError) as error:
        raise click.ClickException(str(error)) from None


def _draft(path: Path) -> tuple[Finding | None, Program]:
    """The finding in the file, or else the program that is in it."""
    try:
        finding = load_finding(path)
        return finding, finding.program
    except FindingError:
        return _found(str(path))


def _tell(verdict: Verdict, failing: list[Judged], device: str) -> None:
    program = verdict.program
    if failing:
        click.echo(violation_text(failing[0], program, device))
    for signature in sorted({str(item.signature) for item in failing[1:]}):
        click.echo(f"also {signature}")
    for slug in sorted({item.finding.slug for item in verdict.judged if item.finding and item not in failing}):
        click.echo(f"known {slug}")
    if failing or verdict.outcome in (Outcome.CRASH, Outcome.TIMEOUT):
        _end(1, f"FAILED {program.name}: {verdict.detail or failing[0].signature}")
    _end(0, f"FIXED {program.name}: {len(verdict.checked)} requirements checked")


def _end(status: int, verdict: str) -> NoReturn:
    click.echo(verdict)
    sys.exit(status)


def _found(what: str) -> tuple[Finding | None, Program]:
    """The finding or program that ``what`` names. Exits with one line if there is none, or it is damaged."""
    try:
        for path in (golden.FINDINGS / f"{what}.json", golden.BOUNDARY / f"{what}.json"):
            if path.exists():
                finding = load_finding(path)
                return finding, finding.program
        if (path := golden.CASES / f"{what}.py").is_file():
            return None, load_case(path).program
        of_campaigns = RUNS.glob(f"*/programs/{what}.json") if what.isalnum() else ()
        for path in (Path(what), golden.PROGRAMS / f"{what}.json", KEPT / f"{what}.json", *of_campaigns):
            if path.is_file():
                return None, load(path)
    except (FindingError, ProgramError, CaseError) as error:
        raise click.ClickException(str(error)) from None
    raise click.ClickException(
        f"{what}: no program file, no finding under {golden.FINDINGS}, no case under {golden.CASES}, "
        f"no program of that hash under {golden.PROGRAMS} or {RUNS}"
    )


@main.command()
@click.option("--programs", default=400, show_default=True, help="How many programs to measure.")
@click.option("--repeats", default=5, show_default=True, help="How many times, for median and spread.")
@click.option("--seed", default=0, show_default=True)
@_IMPLEMENTATION
def benchmark(programs: int, repeats: int, seed: int, implementation: str) -> None:
    """Programs a second and core, and our whole time beside the bare work of torch on the same programs."""
    click.echo(measuring.report(programs, repeats, seed, implementation))


@main.command()
@click.option("--from", "folders", multiple=True, type=_CAMPAIGN, help="The folder of a campaign; may be repeated.")
@click.option("--programs", default=4000, show_default=True, help="How many programs to draw, beside those of campaigns.")
@click.option("--seed", default=0, show_default=True)
@click.option("--seconds", default=90.0, show_default=True, help="How long the replay may take with so many workers.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--into", type=_FOLDER, default=golden.PROGRAMS, show_default=True)
@_IMPLEMENTATION
def store(
    folders: tuple[Path, ...], programs: int, seed: int, seconds: float, workers: int, into: Path, implementation: str
) -> None:
    """Distil the programs of the gate from what is stored, campaigns and draws.

    The smallest set that shows all descriptor kinds, requirements, features and branches of AOTAutograd; what is stored
    already is preferred.
    """
    from conformance import corpus
    from conformance.campaign.plan import Folder

    sources = corpus.Sources(tuple(map(Folder, folders)), programs, seed)
    with Progress(transient=True, disable=not sys.stdout.isatty()) as progress:
        task = progress.add_task("judged")
        job, each = Job(implementation), lambda total: progress.update(task, total=total, advance=1)
        try:
            told = corpus.store(sources, into, seconds, workers, job, each)
        except (ProgramError, CoverageError) as error:
            raise click.ClickException(str(error)) from None
    click.echo(told)


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def tables(record: Path, as_json: bool) -> None:
    """What the run of RECORD showed: descriptor kinds, options and features, each with how often."""
    try:
        found = read_record(record)
    except RecordError as error:
        raise click.ClickException(str(error)) from None
    click.echo(showing.as_json(found) if as_json else showing.as_text(found))


@main.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
def promises(records: tuple[Path, ...]) -> None:
    """Each promise of the export IR's specification: does it hold in the runs of RECORDS? One column a record."""
    try:
        found = [read_record(path) for path in records]
    except RecordError as error:
        raise click.ClickException(str(error)) from None
    click.echo(showing.text_of(promises_table(found)))


@main.command()
def verifier() -> None:
    """Corruptions of good exports: which are caught by the rules of chapter E, which by PyTorch's own Verifier."""
    from conformance.exported.verifier import as_table, compared  # it is not needed by the processes that judge

    Console(width=None if sys.stdout.isatty() else 160).print(as_table(compared()))


@main.command()
@click.option("--minutes", type=float, default=10.0, show_default=True, help="How long to draw and judge.")
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="How many processes at a time.")
@click.option("--regions", default=15, show_default=True, help="How many regions that were not reached to list.")
def coverage(minutes: float, seed: int, workers: int, regions: int) -> None:
    """How much of AOTAutograd the suite reaches: lines, branches, and the largest regions that are left out."""
    try:
        measured = covering.measure(minutes, seed, workers)
    except CoverageError as error:
        raise click.ClickException(str(error)) from None
    path = RUNS / f"coverage-torch{measured.torch}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    covering.write(measured, path)
    click.echo(f"{covering.as_text(measured, regions)}\nall of it: {path}")


@main.command()
@click.option("--minutes", type=float, default=None, help="Draw for so long; what was found is shrunk to the end.")
@click.option("--programs", type=click.IntRange(min=1), default=None, help="Draw so many, in whole shards of 80.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--mix", "mixes", multiple=True, type=click.Choice(list(MIXES)), help="Only this mix; may be repeated.")
@click.option("--guided/--unguided", default=True, show_default=True, help="Judge mutants of what showed something new, too.")
@click.option("--exported", is_flag=True, help="Through torch.export, judged by chapter E, and not through the joint export.")
@click.option("--workers", type=click.IntRange(min=1), default=os.cpu_count(), show_default="cores")
@click.option("--scheduler", metavar="ADDRESS", help="Work on the workers of this Dask scheduler, and not on this machine.")
@click.option("--into", type=_FOLDER, help="The campaign's folder; the same goes on.")
@_IMPLEMENTATION
def fuzz(
    minutes: float | None,
    programs: int | None,
    seed: int,
    mixes: tuple[str, ...],
    guided: bool,
    exported: bool,
    workers: int,
    scheduler: str | None,
    into: Path | None,
    implementation: str,
) -> None:
    """Draw and judge programs until told to stop, and leave a page of distinct faults, each with a small script.

    Without --minutes and --programs it goes on until ctrl-C. Exits 1 if it found what no finding knows.
    """
    # Dask takes a second to import, and each child process that judges imports this file.
    from conformance.campaign import command
    from conformance.campaign.plan import CampaignError, Plan

    if reason := broken_adapter(Job(implementation)):
        raise click.ClickException(f"the adapter is broken, nothing was judged: {reason}")
    folder = into or RUNS / f"campaign-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        plan = Plan(seed, mixes or tuple(MIXES), implementation, exported, guided=guided)
        sys.exit(command.fuzz(plan, command.Options(minutes, programs, workers, scheduler, folder)))
    except (CampaignError, ProgramError) as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
