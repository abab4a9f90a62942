"""A program walked through eager and the implementation once: all that the rules look at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from conformance import scenarios
from conformance.difference import unstable_paths
from conformance.implementation import Implementation, Joint
from conformance.observation import Facts, Raised
from generators.build import Built, build
from generators.program import Program


@dataclass
class Case:
    """One program's observations and its exported joint graph; rules read it, and change nothing.

    ``eager`` and ``compiled`` hold facts by scenario. ``refusal`` is the error with which the export or
    the compile ended; then there is no ``joint``, or nothing in ``compiled``.
    """

    program: Program
    device: str
    implementation: Implementation
    eager: dict[str, Facts] = field(default_factory=dict)
    unjudged: frozenset[str] = frozenset()
    before: Facts = field(default_factory=dict)
    after: Facts = field(default_factory=dict)
    joint: Joint | None = None
    built: Built | None = None
    refusal: Raised | None = None
    compiled: dict[str, Facts] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add what the block takes to the phase's seconds."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - start


def walk(program: Program, implementation: Implementation, device: str = "cpu") -> Case:
    """The case of ``program``: eager watched, exported, compiled back, and watched again."""
    case = Case(program, device, implementation)
    with case.timed("eager"):
        _watch_eager(case)
    with ExitStack() as stack:
        call = _export_and_compile(case, stack)
    if call is not None:
        with case.timed("compiled"):
            for scenario in case.eager:
                case.compiled[scenario] = scenarios.run(scenario, call, program, device)
    return case


def _watch_eager(case: Case) -> None:
    run = lambda scenario: scenarios.run(scenario, scenarios.call_module, case.program, case.device)  # noqa: E731
    case.eager["train"] = run("train")
    case.unjudged = unstable_paths(case.eager["train"], run("train"))
    for scenario in _telling_scenarios(case.eager["train"]):
        case.eager[scenario] = run(scenario)


def _telling_scenarios(train: Facts) -> list[str]:
    """The scenarios that may say something that "train" did not."""
    if train["error"]:
        return []
    roots = sum(1 for path, fact in train.items() if path.startswith("outputs") and path.endswith("requires_grad") and fact)
    skipped = set() if roots else set(scenarios.NEEDS_GRADIENT)
    if roots < 2:
        skipped |= scenarios.NEEDS_SEVERAL_ROOTS
    return [name for name in scenarios.SCENARIOS if name != "train" and name not in skipped]


def _export_and_compile(case: Case, stack: ExitStack) -> scenarios.Call | None:
    case.built = build(case.program, case.device)
    stage = "export"
    try:
        with case.timed("export"):
            case.joint = case.implementation.export(stack, case.built.module, case.built.args, case.built.kwargs)
        stage = "compile"
        with case.timed("compile"):
            compiled = case.implementation.compile(case.joint)
    except Exception as error:
        case.refusal = Raised(stage, error)
        return None
    fqns = [*case.joint.params_spec, *case.joint.buffers_spec]
    return lambda built: compiled(*(built.state(fqn) for fqn in fqns), *built.args, **built.kwargs)
