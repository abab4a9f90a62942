"""What a run must show before its silence means anything: features, ops, descriptor kinds, each so many times.

A run that shows less is no verdict: an op that no program called and a descriptor that no graph carried were
not judged, whatever the rules say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

import golden
from conformance.rules.vocabulary import expected_kinds
from generators.features import features
from generators.program import Program
from generators.vocabulary import OPS
from reports.tables import DESCRIPTOR

#: How often each feature, and each telling pair of features, is to be among the stored programs.
WANTED = 2
#: Kinds that never are on an exported joint graph (P4), and why.
NOT_ON_JOINT_GRAPHS = {
    "DummyAOTInput": "never on a graph",
    "SavedForBackwardsAOTOutput": "on partitioned forward graphs alone",
    "SavedForBackwardsNoVcCheckAOTOutput": "on partitioned forward graphs alone",
    "DummyAOTOutput": "never on a graph",
}
#: Kinds that a run without a GPU can't show, and why. The forward's own seed and offset are shown with fake tensors.
NEEDS_GPU = dict.fromkeys(
    (
        "PhiloxBackwardSeedAOTInput",
        "PhiloxBackwardBaseOffsetAOTInput",
        "PhiloxUpdatedBackwardOffsetAOTOutput",
    ),
    "needs a GPU",
)
#: Profiles that promise to look at everything.
WHOLE_PROFILES = ("gate", "quick")
#: The tests that judge the stored and the drawn programs.
TESTS = tuple(Path(__file__).with_name(name) for name in ("test_stored.py", "test_drawn.py"))


def documented_kinds() -> tuple[str, ...]:
    """The descriptor kinds that the installed torch documents, in the order of the reference."""
    return tuple(kind.name for kind in expected_kinds())


def not_expected(devices: Collection[str]) -> dict[str, str]:
    """The kinds that no run on these devices shows, with the reason."""
    reasons = NOT_ON_JOINT_GRAPHS if "cuda" in devices else {**NOT_ON_JOINT_GRAPHS, **NEEDS_GPU}
    return {kind: reasons[kind] for kind in documented_kinds() if kind in reasons}


def wanted(devices: Collection[str]) -> dict[str, int]:
    """What a whole run must show, and how often: what drawing showed when the stored programs were chosen,
    each op of the vocabulary, each descriptor kind that is expected.

    Raises ValueError if the file that says what drawing showed is missing or damaged.
    """
    ops = {f"op:{op.name}": WANTED for op in OPS}
    kinds = [kind for kind in documented_kinds() if kind not in not_expected(devices)]
    return {**ops, **read_wanted(golden.SHOWN), **{DESCRIPTOR + kind: WANTED for kind in kinds}}


def wanted_of(programs: Iterable[Program]) -> dict[str, int]:
    """Each feature of the programs with how often it is wanted: WANTED times, or once if it is as rare as that."""
    distinct = {program.name: program for program in programs}.values()
    counts = Counter(trait for program in distinct for trait in features(program))
    return {trait: min(count, WANTED) for trait, count in sorted(counts.items())}


def write_wanted(names: dict[str, int], path: Path) -> None:
    """Write the file that ``read_wanted`` reads, one name a line."""
    path.write_text(json.dumps(names, indent=0) + "\n")


def read_wanted(path: Path) -> dict[str, int]:
    """The names in the file, and how often each is wanted. Raises ValueError with one line that says what to do."""
    try:
        names = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}; `joint-conformance store` writes it anew") from None
    if not isinstance(names, dict) or not all(type(least) is int and least > 0 for least in names.values()):
        raise ValueError(f"{path}: not an object of numbers; `joint-conformance store` writes it anew")
    return names


def looks_at_everything(config: pytest.Config) -> bool:
    """Whether nothing restricts this run: a profile that promises all, and no option that takes some of it away."""
    option = config.option
    restrictions = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "maxfail")
    if any(getattr(option, name, None) for name in restrictions):
        return False
    if option.profile not in WHOLE_PROFILES or option.programs is not None or option.minutes is not None:
        return False
    chosen = [(config.invocation_params.dir / arg).resolve() for arg in config.args]
    return all(any(test.is_relative_to(path) for path in chosen) for test in TESTS)
