"""The programs that the gate replays: distilled from those that are stored, from campaigns and from draws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import golden
from conformance.campaign.guidance import telling_pairs
from conformance.campaign.plan import Folder
from conformance.distilling import Candidate, Choice, distill
from conformance.rule import EXPORTED_RULES
from conformance.sandbox import TIMEOUT, Job, Sandbox
from conformance.shards import shards_for
from conformance.tracing import check_that_coverage_is_there
from conformance.vacuity import WANTED, wanted_of, write_wanted
from generators.codec import dump, load
from generators.features import features
from generators.program import Program
from reports.record import Outcome

#: What the stored programs show together, and how often: the families that a gate can't do without come first.
KINDS, REQUIREMENTS, FEATURES, BRANCHES = "descriptor kinds", "requirements", "features", "branches"
PAIRS = "telling pairs of features"
SHOWN = {KINDS: WANTED, REQUIREMENTS: WANTED, FEATURES: WANTED, BRANCHES: 1, PAIRS: 1}
#: What becomes of a program that is no good for a gate: it doesn't come to an end, or no finding knows what it shows.
UNFIT = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.ERROR, Outcome.FAIL})
#: Of the seconds that a program takes while it is traced, the part that it takes in the gate, its script included: as measured.
UNTRACED = 0.8
#: How many things that are left out are named.
LISTED = 20
#: Where stored programs are named by their hash.
TEXTS = (golden.HOME.parent / "README.md", *sorted((golden.HOME.parent / "tests").rglob("*.py")))


@dataclass(frozen=True)
class Sources:
    """Where candidates come from, beside what is stored: campaigns, and so many programs drawn with a seed."""

    campaigns: tuple[Folder, ...]
    programs: int
    seed: int


@dataclass(frozen=True)
class Gathered:
    """The candidates' programs, and which of them are stored now, by name."""

    programs: tuple[Program, ...]
    stored: frozenset[str]


def store(
    sources: Sources, into: Path, seconds: float, workers: int, job: Job, each: Callable[[int], None] = lambda of: None
) -> str:
    """Make the programs under ``into`` the smallest set that shows what they and those of the sources show.

    So many ``workers`` replay it within ``seconds``. Each candidate is judged as the gate does, by a traced process;
    ``each`` is then told how many candidates there are. What the gate must show from now on is written beside ``into``,
    as ``shown.json``.

    Gives back a text that says what is stored, what that shows, and what is left out.
    Raises ProgramError if a file is damaged, CoverageError without the package ``coverage``.
    """
    check_that_coverage_is_there()
    gathered = gather(sources, into, job)
    # Traced, on a machine that does other things besides, what takes long is not what hangs.
    patient = replace(job, traced=True, timeout=4 * TIMEOUT)
    judged = measure(gathered.programs, workers, patient, lambda: each(len(gathered.programs)))
    named = named_in(TEXTS)
    candidates = [
        replace(c, is_stored=c.program.name in gathered.stored, must_stay=c.program.name in gathered.stored & named)
        for c in judged
    ]
    choice = distill(candidates, SHOWN, seconds * workers)
    write(choice, into)
    return as_text(choice, candidates, gathered, workers)


def gather(sources: Sources, into: Path, job: Job) -> Gathered:
    """The programs under ``into`` and those of the sources, each once, in an order that is always the same."""
    stored = [load(path) for path in golden.files(into)]
    found = [program for folder in sources.campaigns for program in (*folder.failing(), *folder.all_kept())]
    with Sandbox(job) as sandbox:
        drawn = [program for shard in shards_for(sources.programs, sources.seed) for program in sandbox.draw(shard)]
    names = {program.name: program for program in (*stored, *found, *drawn)}
    return Gathered(tuple(names.values()), frozenset(program.name for program in stored))


def measure(programs: Sequence[Program], workers: int, job: Job, each: Callable[[], None]) -> list[Candidate]:
    """What each program shows that is good for a gate; ``each`` is called after every program."""

    def measured(some: Sequence[Program]) -> list[Candidate]:
        with Sandbox(job) as joint, Sandbox(job) as exporter:
            found: list[Candidate] = []
            for program in some:
                found += _measured(program, joint, exporter)
                each()
            return found

    with ThreadPoolExecutor(workers) as pool:
        return [c for some in pool.map(measured, [programs[i::workers] for i in range(workers)]) for c in some]


def _measured(program: Program, joint: Sandbox, exporter: Sandbox) -> Iterator[Candidate]:
    """The program as a candidate, unless it is unfit; judged as the gate judges it, by both walks."""
    verdicts = (joint.confirmed(program), exporter.confirmed(program, only=tuple(EXPORTED_RULES)))
    if UNFIT.isdisjoint(verdict.outcome for verdict in verdicts):
        shows = {
            KINDS: frozenset(verdicts[0].descriptors),
            REQUIREMENTS: frozenset(id for verdict in verdicts for id in verdict.checked),
            FEATURES: features(program),
            PAIRS: telling_pairs(features(program)),
            BRANCHES: frozenset(branch for verdict in verdicts for branch in verdict.trace.branches),
        }
        yield Candidate(program, shows, UNTRACED * sum(verdict.trace.seconds for verdict in verdicts))


def named_in(texts: Iterable[Path]) -> frozenset[str]:
    """What may be hashes of programs in these files: who names a program means it to stay."""
    return frozenset(name for text in texts if text.exists() for name in re.findall(r"\b[0-9a-f]{12}\b", text.read_text()))


def write(choice: Choice, into: Path) -> None:
    """Store what was chosen and nothing else, and beside it what the gate must show."""
    into.mkdir(parents=True, exist_ok=True)
    chosen = {candidate.program.name: candidate.program for candidate in choice.chosen}
    for path in golden.files(into):
        if path.stem not in chosen:
            path.unlink()
    for name, program in chosen.items():
        if not (into / f"{name}.json").exists():
            dump(program, into / f"{name}.json")
    write_wanted(wanted_of(chosen.values()), into.with_name(golden.SHOWN.name))


def as_text(choice: Choice, candidates: Sequence[Candidate], gathered: Gathered, workers: int) -> str:
    """What was stored, what that shows beside what was stored before and what all candidates show, and what is left out."""
    chosen = {candidate.program.name for candidate in choice.chosen}
    new, gone = len(chosen - gathered.stored), len(gathered.stored - chosen)
    lines = [f"{'stored':<10}{len(chosen)} programs: {new} of them new, {gone} of {len(gathered.stored)} taken away"]
    lines.append(f"{'replay':<10}{choice.seconds / workers:.0f} seconds with {workers} workers")
    before = [candidate for candidate in candidates if candidate.is_stored]
    for family in SHOWN:
        now, then, ever = (_number(family, some) for some in (choice.chosen, before, candidates))
        lines.append(f"{'shown':<10}{now} of {ever} {family}, {then} before")
    unfit = {program.name for program in gathered.programs} - {candidate.program.name for candidate in candidates}
    told = ", ".join(sorted(unfit & gathered.stored))
    lines.append(f"{'unfit':<10}{len(unfit)} of {len(gathered.programs)} candidates{': stored was ' + told if told else ''}")
    lines += [f"{'left out':<10}{len(names)} {family}: {_listed(names)}" for family, names in choice.left_out.items() if names]
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    return ", ".join([*names[:LISTED], *([f"and {len(names) - LISTED} more"] if len(names) > LISTED else [])])


def _number(family: str, candidates: Iterable[Candidate]) -> int:
    return len(frozenset().union(*(candidate.shows[family] for candidate in candidates)))
