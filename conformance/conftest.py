"""The pytest entry: options, what the tests share, the run record and its summary."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    import torch
except ImportError:
    pytest.exit("PyTorch is not installed here: `pip install torch`, or `make conformance` for a fresh environment", 3)

import golden
from conformance.profiles import PROFILES
from conformance.recording import Recorder, header
from conformance.reporting import RUNS
from conformance.rule import EVERY_KIND, EXPORTED_RULES, RULES
from conformance.sandbox import Job, Sandbox
from conformance.shards import Shard, shards_for
from conformance.smoke import broken_adapter
from conformance.stored import Snapshots, told, why_no_update
from conformance.telling import DEFAULT
from conformance.vacuity import looks_at_everything, wanted
from generators.codec import ProgramError, load
from generators.features import features
from generators.strategies import MIXES
from reports.record import Record, merge, write_record
from reports.summary import exit_code, summarize

#: The exit status of a run that says nothing about the implementation.
NO_VERDICT = 3
#: More programs than a machine judges in a minute.
MOST_A_MINUTE = 10_000

CONFIGURATION = pytest.StashKey["Run"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("joint-conformance")
    meanings = "; ".join(f"{name}: {profile.meaning}" for name, profile in PROFILES.items())
    group.addoption("--profile", choices=list(PROFILES), default="quick", help=meanings)
    group.addoption("--seed", default="0", metavar="N|random", help="what the drawn programs come from (default 0)")
    group.addoption("--programs", type=int, default=None, metavar="N", help="draw N programs, whatever the profile says")
    group.addoption("--minutes", type=float, default=None, metavar="M", help="start no shard after M minutes")
    group.addoption("--device", choices=("cpu", "cuda", "all"), default="cpu", help="where programs run (default cpu)")
    group.addoption("--implementation", default=DEFAULT, metavar="MODULE:ATTRIBUTE")
    group.addoption("--shard", type=part, default=(1, 1), metavar="K/N", help="run the K-th of N disjoint parts of the tests")
    group.addoption("--update-snapshots", action="store_true", help="write the named cases' snapshots for this torch")
    group.addoption("--record", type=Path, default=None, metavar="FILE", help="where the run record goes (default runs/)")


class Run:
    """What the workers of one run share: options, the folder of journals, the time at which it began."""

    def __init__(self, config: pytest.Config) -> None:
        shared = getattr(config, "workerinput", None)
        self.is_worker = shared is not None
        option = config.option
        self.folder = Path(shared["journals"]) if shared else Path(tempfile.mkdtemp(prefix="joint-conformance-"))
        self.seed = shared["seed"] if shared else _seed(option.seed)
        self.began = shared["began"] if shared else time.time()
        self.profile = option.profile
        self.implementation = option.implementation
        self.devices = _devices(option.device)
        self.minutes = option.minutes
        self.shrinks = PROFILES[option.profile].shrinks
        self.programs = programs_to_draw(option.profile, option.programs, option.minutes)
        self.only = _named_rules(option.keyword)
        demands = _demands(config, self.devices)
        part = "/".join(map(str, option.shard))
        self.header = header(
            option.implementation, option.profile, self.seed, self.devices, demands, option.keyword, part
        )
        is_pytorch = option.implementation == DEFAULT
        self.snapshots = Snapshots(torch.__version__, option.update_snapshots, is_pytorch and not self.only)
        self.record: Record | None = None
        self.path: Path = option.record or RUNS / f"{run_name(option.profile)}.json"

    @property
    def time_is_up(self) -> bool:
        """Whether no further shard is to be started."""
        return self.minutes is not None and time.time() - self.began > 60 * self.minutes


def part(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"{text}: two numbers are needed, as in 2/5")
    return int(match[1]), int(match[2])


def _demands(config: pytest.Config, devices: tuple[str, ...]) -> dict[str, int]:
    """What the run must show: nothing in particular where it is told to look at a part."""
    try:
        return wanted(devices) if looks_at_everything(config) and not config.option.update_snapshots else {}
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def programs_to_draw(profile: str, programs: int | None, minutes: float | None) -> int:
    """As many as are asked for; for a run that is told how long to last, more than it can judge in that time."""
    if programs is not None:
        return programs
    return max(PROFILES[profile].programs, round(MOST_A_MINUTE * minutes) if minutes else 0)


def _named_rules(keyword: str) -> tuple[str, ...]:
    """The requirements that ``-k`` asks for: those it names, unless it rules something out."""
    if re.search(r"\bnot\b", keyword):
        return ()
    return tuple(id for id in re.findall(r"\b[A-Z]\d+\b", keyword) if any(id in rules for rules in EVERY_KIND))


def run_name(profile: str) -> str:
    """What a record is called where nobody says: profile, torch version, time."""
    return f"{profile}-torch{torch.__version__}-{time.strftime('%Y%m%d-%H%M%S')}"


def _seed(text: str) -> int:
    if text == "random":
        return int.from_bytes(os.urandom(4), "big")
    if not text.isdigit():
        raise pytest.UsageError(f"--seed {text}: a number or the word random is needed")
    return int(text)


def _devices(chosen: str) -> tuple[str, ...]:
    there = torch.cuda.is_available()
    if chosen == "cuda" and not there:
        raise pytest.UsageError("--device cuda: this torch sees no CUDA device; run without it to check the CPU")
    if chosen == "all":
        return ("cpu", "cuda") if there else ("cpu",)
    return (chosen,)


def pytest_configure(config: pytest.Config) -> None:
    _refuse_to_update(config.option)
    config.stash[CONFIGURATION] = run = Run(config)
    if not run.is_worker and not config.option.collectonly:
        reason = broken_adapter(Job(run.implementation, run.devices[0]))
        if reason:
            raise pytest.UsageError(f"the adapter is broken, nothing was judged: {reason}")


def _refuse_to_update(option: Any) -> None:
    restricted = bool(option.keyword or option.shard != (1, 1))
    reason = why_no_update(os.environ, getattr(option, "numprocesses", None), option.implementation, restricted)
    if option.update_snapshots and reason:
        raise pytest.UsageError(f"--update-snapshots: {reason}")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker what this run is."""
    run = node.config.stash[CONFIGURATION]
    node.workerinput.update(journals=str(run.folder), seed=run.seed, began=run.began)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let ``-k`` select by requirement and by feature.

    Every test that judges programs judges all requirements; those that ``-k`` names are then the only ones
    judged. A stored program has its features, a shard the kinds of ops that it draws.
    """
    fixtures = getattr(item, "fixturenames", ())
    if "sandbox" in fixtures:
        item.extra_keyword_matches.update(RULES)
    if "exporter" in fixtures:
        item.extra_keyword_matches.update(EXPORTED_RULES)
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for parameter in parameters:
        if isinstance(parameter, Path) and parameter.parent == golden.PROGRAMS:
            with suppress(ProgramError):  # a damaged file fails its own test
                item.extra_keyword_matches.update(features(load(parameter)))
        elif isinstance(parameter, Shard):
            item.extra_keyword_matches.update(MIXES[parameter.mix].kinds)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep every N-th test of what -k and the like have left, so that each shard gets some of every kind.

    Where snapshots are written, only what writes them.
    """
    number, of = config.option.shard
    if config.option.update_snapshots:
        kept = [item for item in items if "snapshots" in getattr(item, "fixturenames", ())]
    else:
        kept = items[number - 1 :: of]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=list(set(items).difference(kept)))
        items[:] = kept


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> Run:
    """The run that this test is part of."""
    return request.config.stash[CONFIGURATION]


def _children(run: Run) -> Iterator[dict[str, Sandbox]]:
    """A child process for each device, ended after the last test."""
    held = {device: Sandbox(Job(run.implementation, device, run.only)) for device in run.devices}
    yield held
    for sandbox in held.values():
        sandbox.close()


@pytest.fixture(scope="session")
def sandboxes(run: Run) -> Iterator[dict[str, Sandbox]]:
    """A child process for each device."""
    yield from _children(run)


@pytest.fixture
def sandbox(sandboxes: dict[str, Sandbox], device: str) -> Sandbox:
    """The child process that judges on this test's device."""
    return sandboxes[device]


@pytest.fixture(scope="session")
def exporters(run: Run) -> Iterator[dict[str, Sandbox]]:
    """A child process for each device that runs torch.export: its traces stay out of those of the joint."""
    yield from _children(run)


@pytest.fixture
def exporter(exporters: dict[str, Sandbox], device: str) -> Sandbox:
    """The child process that exports on this test's device."""
    return exporters[device]


@pytest.fixture(scope="session")
def exported_rules(run: Run) -> tuple[str, ...]:
    """The rules over exported programs: all, or those that ``-k`` names."""
    return tuple(id for id in EXPORTED_RULES if not run.only or id in run.only)


@pytest.fixture(scope="session")
def snapshots(run: Run) -> Snapshots:
    """The stored graphs of the named cases, to compare with or to write."""
    return run.snapshots


@pytest.fixture(scope="session")
def recorder(run: Run, sandboxes: dict[str, Sandbox]) -> Recorder:
    """This process's journal. Scripts are made where programs run: making one runs a part of it."""
    journal = run.folder / f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}.jsonl"
    journal.touch()
    return Recorder(journal, lambda verdict: sandboxes[verdict.device].script(verdict))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    run = metafunc.config.stash[CONFIGURATION]
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", run.devices)
    if "shard" in metafunc.fixturenames:
        shards = shards_for(run.programs, run.seed)
        metafunc.parametrize("shard", shards, ids=[shard.name for shard in shards])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    run = session.config.stash[CONFIGURATION]
    if run.is_worker or session.config.option.collectonly:
        return
    reason = "interrupted" if exitstatus == pytest.ExitCode.INTERRUPTED else ""
    run.record = merge(run.header, sorted(run.folder.glob("*.jsonl")), reason)
    shutil.rmtree(run.folder, ignore_errors=True)
    run.path.parent.mkdir(parents=True, exist_ok=True)
    write_record(run.record, run.path)
    if run.record.rows and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = exit_code(run.record) or exitstatus
    if run.snapshots.updating:
        session.exitstatus = NO_VERDICT


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    run = config.stash[CONFIGURATION]
    reports = [report for group in ("passed", "failed") for report in terminalreporter.stats.get(group, ())]
    if run.record is not None and (lines := told(run.snapshots, [dict(report.user_properties) for report in reports])):
        terminalreporter.section("snapshots")
        terminalreporter.write_line("\n".join(lines))
    if run.record is not None and run.record.rows:
        terminalreporter.section("joint conformance")
        terminalreporter.write_line(summarize(run.record))
        terminalreporter.write_line(f"record: {run.path}")
