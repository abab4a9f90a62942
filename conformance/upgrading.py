"""The commands of those who ask whether they may upgrade: compare two runs, join shards, find the first bad version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from conformance.bisection import BisectionError, first_failing, interpreter_of
from conformance.bisection import replay as replay_with
from conformance.reporting import RUNS
from reports.compare import compare
from reports.gate import Gate, as_json, as_markdown, as_text, write_scripts
from reports.joining import join
from reports.page import page as page_of
from reports.policy import EVERYTHING, Policy, PolicyError, read_policy
from reports.record import Record, RecordError, read_record, write_record
from reports.storage import replace_file

#: Where tox leaves the record of each version.
RECORDS = RUNS / "gate"


class NoVerdict(click.ClickException):
    """What was given can't be compared."""

    exit_code = 3


class CanNotJudge(click.ClickException):
    """A version that is to be bisected can't judge the program."""

    exit_code = 2


class GateCommand(click.Command):
    """A command whose exit status is a verdict: misuse is none, so it must not look like one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, parsed; misuse exits 3."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise NoVerdict(error.format_message()) from None


@click.command(cls=GateCommand)
@click.argument("before")
@click.argument("after")
@click.option("--for", "consumers", multiple=True, metavar="CONSUMER", help="Only what this consumer relies on decides.")
@click.option("--policy", type=click.Path(path_type=Path), help="A TOML file: lists of consumers and requirements that decide.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Append the answer to this file: a CI job's summary.")
@click.option("--scripts", type=click.Path(path_type=Path), help="Where the programs of what broke go, as scripts.")
@click.option("--json", "as_data", is_flag=True, help="Print the comparison as JSON.")
def gate(
    before: str,
    after: str,
    consumers: tuple[str, ...],
    policy: Path | None,
    markdown: Path | None,
    scripts: Path | None,
    as_data: bool,
) -> None:
    """May we move from BEFORE to AFTER? Each is the record of a run, or a version whose record tox left (2.13).

    Exit status: 0 you may, 1 something that held no longer holds, 2 findings need attention, 3 no verdict.
    """
    old, new = _record(before), _record(after)
    comparison = compare(old, new)
    folder = scripts or RECORDS / f"{old.header.torch_version}-to-{new.header.torch_version}"
    try:
        wanted = _policy(consumers, policy, new)
        written = write_scripts(comparison.breaks(), new.header, folder)
        answer = Gate(comparison, wanted, written)
        if markdown is not None:
            with markdown.open("a", encoding="utf-8") as summary:
                summary.write(as_markdown(answer))
    except (PolicyError, OSError) as error:
        raise NoVerdict(str(error)) from None
    if as_data:
        click.echo(as_json(answer))
    else:
        Console(highlight=False, soft_wrap=True).print(as_text(answer))
    raise SystemExit(answer.status)


@click.command()
@click.argument("records", nargs=-1, required=True)
@click.option("--into", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The HTML file to write.")
def page(records: tuple[str, ...], into: Path) -> None:
    """Write RECORDS as one HTML file: a run, the step from one to another, or several versions, the oldest first.

    Each is the record of a run, or a version whose record tox left (2.13).
    """
    text = page_of([_record(record) for record in records])
    try:
        replace_file(into, text)
    except OSError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{into}: {len(text.encode()):,} bytes")


def _record(what: str) -> Record:
    path = next((path for path in (Path(what), RECORDS / f"torch{what}.json") if path.is_file()), None)
    if path is None:
        raise NoVerdict(f"{what}: no record, and no {RECORDS / f'torch{what}.json'}, which `tox -e torch{what}` leaves")
    try:
        return read_record(path)
    except RecordError as error:
        raise NoVerdict(str(error)) from None


def _policy(consumers: Sequence[str], path: Path | None, record: Record) -> Policy:
    policy = (read_policy(path) if path else EVERYTHING).also_for(consumers)
    policy.check(record.header)
    return policy


@click.command()
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--into", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Where the joined record goes.")
def merge(records: tuple[Path, ...], into: Path) -> None:
    """Join the RECORDS of all shards of one run, which `--shard K/N` ran, into one record."""
    try:
        joined = join([read_record(path) for path in records])
        write_record(joined, into)
    except (RecordError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{into}: {len(joined.rows)} programs of {len(records)} shards")


@click.command()
@click.argument("program")
@click.argument("versions", nargs=-1, required=True)
@click.option("--requirement", metavar="ID", help="It fails where this requirement is violated, known or not.")
def bisect(program: str, versions: tuple[str, ...], requirement: str | None) -> None:
    """The first of VERSIONS, oldest first, on which PROGRAM fails: its hash, its file, or a finding's name.

    A version is an interpreter, a wheel of torch, or the version of an environment that tox made (2.13).
    Exit status: 0 it is found, 1 there is none, 2 a version can't judge the program.
    """
    words = [program, *(["--requirement", requirement] if requirement else [])]

    def fails(version: str) -> bool:
        failed, said = replay_with(interpreter_of(version), words)
        click.echo(f"{version}: {said}")
        return failed

    try:
        found = first_failing(versions, fails)
    except BisectionError as error:
        raise CanNotJudge(str(error)) from None
    if found is None:
        click.echo(f"{program} does not fail on {versions[-1]}")
        raise SystemExit(1)
    click.echo(f"{program} fails since {found.first}{f', not on {found.before}' if found.before else ', the oldest given'}")
