"""A comparison told to those who ask whether they may upgrade: about 15 lines, Markdown, JSON, and scripts to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.text import Text

from reports.compare import KINDS, VERDICTS, Change, Comparison, Kind, by_consumer, by_fault, by_requirement
from reports.graph_changes import Kind as GraphKind
from reports.policy import EVERYTHING, Policy
from reports.record import Header
from reports.storage import dump, one_line

STYLES = {0: "bold green", 1: "bold red", 2: "bold yellow", 3: "bold yellow"}
SHOWN = 3  # faults in the terminal: Markdown has all of them
TOLD = 40  # faults in Markdown: a job summary takes no more than a megabyte
WIDTH = 240  # of what is cited from a record

#: What a record cites may hold any text: in Markdown it stands between backticks, and holds none itself.
_TICKS = str.maketrans({"`": "'"})


@dataclass(frozen=True)
class Gate:
    """A comparison, what of it decides, and where the script of each change that stands against the upgrade lies."""

    comparison: Comparison
    policy: Policy = EVERYTHING
    scripts: Mapping[tuple[str, str], Path] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The exit status: a key of `VERDICTS`."""
        return self.comparison.status(self.policy)

    @property
    def elsewhere(self) -> list[Change]:
        """What broke, yet does not matter to this policy."""
        deciding = {id(change) for change in self.comparison.breaks(self.policy)}
        return [change for change in self.comparison.breaks() if id(change) not in deciding]

    def script(self, change: Change) -> str:
        """Where its script lies, "" if there is none."""
        return str(self.scripts.get((change.requirement, change.name), ""))


def replay(change: Change, header: Header) -> str:
    """The command that judges the program again by this requirement, whether a finding knows the failure or not."""
    if change.after.origin == "vocabulary":
        return f"pytest conformance/ -k {change.requirement}"
    requirement = f" --requirement {change.requirement}" if change.requirement else ""
    return f"{header.replay} {change.name}{requirement}"


def write_scripts(changes: Iterable[Change], header: Header, folder: Path) -> dict[tuple[str, str], Path]:
    """Writes the program of each change as a script that says first what to look at; the paths by requirement and name."""
    written = {}
    for change in changes:
        if change.after.source or change.before.source:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{change.requirement or change.kind.value}-{change.name}.py"
            comments = (f"# {line}" for line in _told(change, header))
            path.write_text("\n".join([*comments, change.after.source or change.before.source]), "utf-8")
            written[change.requirement, change.name] = path
    return written


def _told(change: Change, header: Header) -> Iterator[str]:
    """What there is to know of a change, a line each."""
    yield one_line(f"{change.kind.value}: {KINDS[change.kind].text}")
    if change.requirement:
        yield one_line(f"{change.requirement}: {header.requirements[change.requirement]}")
    for violation in change.telling:
        yield one_line(f"at {violation.path}", WIDTH)
        yield one_line(f"expected {violation.expected}", WIDTH)
        yield one_line(f"found {violation.found}", WIDTH)
    for name in change.findings:
        yield one_line(f"known as {name}: {header.findings.get(name, '')}")
    if change.after.detail:
        yield one_line(change.after.detail, WIDTH)
    yield one_line(f"replay: {replay(change, header)}")


# Terminal


def as_text(gate: Gate) -> Text:
    """About 15 lines, the verdict first."""
    text = Text(f"{_headline(gate)}\n", STYLES[gate.status])
    for label, told in _lines(gate):
        text.append(f"{label:<12}", "dim").append(f"{one_line(told)}\n")
    return text.append(f"exit {gate.status}: {VERDICTS[gate.status]}")


def _headline(gate: Gate) -> str:
    comparison = gate.comparison
    if gate.status == 3:
        return one_line(f"NOT COMPARABLE: {comparison.reason}")
    if gate.status == 1:
        return f"REGRESSIONS: {_count(comparison.breaks(gate.policy))}"
    if gate.status == 2:
        unknown = comparison.unknown(gate.policy)
        return f"FINDINGS NEED ATTENTION: {len(comparison.out_of_date)} out of date, {len(unknown)} failures unknown to them"
    return "NOTHING BROKE" if not gate.elsewhere else "NOTHING BROKE THAT DECIDES"


def _lines(gate: Gate) -> Iterator[tuple[str, str]]:
    comparison = gate.comparison
    yield "before", ran(comparison.before)
    yield "after", ran(comparison.after)
    yield "compared", compared(comparison)
    for kind in Kind:
        changes = comparison.of(kind)
        if changes or kind is Kind.REGRESSED:
            yield kind.value, tally(changes) + ("" if kind is Kind.KNOWN else requirements(changes))
    if comparison.out_of_date:
        yield "out of date", ", ".join(comparison.out_of_date)
    yield "graphs", graph_counts(comparison)
    yield "consumers", "; ".join(by_consumers(comparison)) or "none is known to rely on what changed"
    if gate.policy != EVERYTHING:
        yield "decides", f"{decides(gate.policy)}; broken elsewhere: {_count(gate.elsewhere)}"
    faults = by_fault(comparison.breaks(gate.policy))
    for group in faults[:SHOWN]:
        yield "look at", one_line(f"{_fault(group)}: {gate.script(group[0]) or replay(group[0], comparison.after)}")
    if len(faults) > SHOWN:
        yield "", f"and {len(faults) - SHOWN} more faults"


def _fault(group: list[Change]) -> str:
    change = group[0]
    paths = ", ".join(violation.path for violation in change.telling[:1])
    known = f" (known as {', '.join(change.findings)})" if change.is_explained else " (no finding knows it)"
    return f"{one_line(f'{change.requirement or change.kind.value} {paths}', 60)}{known}, {_programs(group)}"


def ran(header: Header) -> str:
    """What ran, as one line."""
    torch = f"torch {header.torch_version} ({header.torch_git[:10] or 'no git hash'})"
    return f"{torch}, {header.implementation} on {', '.join(header.devices)}"


def compared(comparison: Comparison) -> str:
    """How much was compared, as one line."""
    left_out = f"; {comparison.left_out} drawn ones left out" if comparison.left_out else ""
    return f"{comparison.programs} programs, profile {comparison.after.profile}{left_out}"


def tally(changes: list[Change]) -> str:
    """How many they are, and how many of them findings explain."""
    explained = sum(change.is_explained for change in changes)
    return f"{_count(changes)}, {explained} explained by findings" if changes else "none"


def requirements(changes: list[Change]) -> str:
    """What follows the tally: how many are of which requirement."""
    parts = ", ".join(f"{id_ or 'the program itself'} {len(group)}" for id_, group in by_requirement(changes).items())
    return f": {parts}" if parts else ""


def graph_counts(comparison: Comparison) -> str:
    """How many joint graphs changed, by class."""
    counts = Counter(change.kind for change in comparison.graphs.values())
    return ", ".join(f"{counts[kind]} {kind}" for kind in reversed(get_args(GraphKind)))


def by_consumers(comparison: Comparison) -> list[str]:
    """What broke and what was fixed of what each consumer relies on."""
    broken = by_consumer(comparison.breaks(), comparison.after)
    fixed = by_consumer(comparison.of(Kind.FIXED), comparison.after)
    names = sorted(broken.keys() | fixed.keys())
    return [f"{name} {len(broken.get(name, []))} broken, {len(fixed.get(name, []))} fixed" for name in names]


def decides(policy: Policy) -> str:
    """What the policy holds to matter, as one line."""
    consumers = f"what {' and '.join(policy.consumers)} relies on" if policy.consumers else ""
    return ", ".join(filter(None, [consumers, *policy.requirements]))


def _count(changes: list[Change]) -> str:
    return f"{len(changes)} on {_programs(changes)}"


def _programs(changes: list[Change]) -> str:
    count = len({(change.after.origin, change.name) for change in changes})
    return f"{count} program{'' if count == 1 else 's'}"


# Markdown and JSON


def as_markdown(gate: Gate) -> str:
    """For the summary of a CI job: the verdict, the numbers, and how to look at each fault."""
    environment = Environment(
        loader=PackageLoader("reports"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["code"] = lambda text: f"`{one_line(str(text), WIDTH).translate(_TICKS)}`"
    comparison = gate.comparison
    faults = by_fault(comparison.breaks(gate.policy))
    return environment.get_template("gate.md.jinja").render(
        gate=gate,
        headline=_headline(gate),
        lines=[(label, told) for label, told in _lines(gate) if label not in ("look at", "")],
        faults=faults[:TOLD],
        left_out=len(faults[TOLD:]),
        elsewhere=by_requirement(gate.elsewhere),
        graphs=[(name, change) for name, change in comparison.graphs.items() if change.kind == "contract"][:TOLD],
        told=lambda change: _told(change, comparison.after),
        verdict=f"exit {gate.status}: {VERDICTS[gate.status]}",
    )


def as_json(gate: Gate) -> str:
    """The comparison as data: the verdict, each change but what is known on both, the classes of the graphs."""
    comparison = gate.comparison
    return dump(
        {
            "exit": gate.status,
            "verdict": VERDICTS[gate.status],
            "reason": comparison.reason,
            "before": comparison.before.torch_version,
            "after": comparison.after.torch_version,
            "programs": comparison.programs,
            "counts": {kind.value: len(comparison.of(kind)) for kind in Kind},
            "out_of_date": comparison.out_of_date,
            "changes": [_as_data(change, gate) for change in comparison.changes if change.kind is not Kind.KNOWN],
            "graphs": {name: change.kind for name, change in comparison.graphs.items()},
        }
    )


def _as_data(change: Change, gate: Gate) -> dict[str, object]:
    return {
        "kind": change.kind.value,
        "requirement": change.requirement,
        "program": change.name,
        "decides": KINDS[change.kind].breaks and gate.policy.matters(change.requirement, gate.comparison.after),
        "findings": change.findings,
        "violations": change.telling,
        "replay": replay(change, gate.comparison.after),
        "script": gate.script(change),
    }
