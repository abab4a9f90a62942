"""A program walked through eager and the implementation once: all that the rules look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch

from conformance import scenarios
from conformance.difference import Difference, causes, same, unstable_paths
from conformance.implementation import Implementation, Joint
from conformance.observation import Facts, Raised, is_leaf, observe_tensor, value_of
from generators.build import Built, build
from generators.program import Const, Node, Program
from generators.variants import in_double

#: Values within so many tolerances of each other may differ by rounding alone.
NEAR_MISS = 1000.0
#: One program in so many is exported again, and with options: what two exports share needs a second one.
THOROUGH_SHARE = 64


@dataclass
class Case:
    """One program's observations and its exported joint graph; rules read it, and leave it as it is.

    ``eager`` and ``compiled`` hold facts by scenario; ``differences`` are what is left of both, by scenario;
    nothing is judged at the ``unjudged`` paths, where eager was seen to differ from itself. ``refusal`` is
    the error with which the export or the compile ended; then there is no ``joint``, or nothing in
    ``compiled``. ``before`` and ``after`` are what the caller holds around the export. A ``thorough`` case
    has a ``second`` export of the same program, one of an ``other`` program, and ``optioned`` exports by option.
    """

    program: Program
    device: str
    implementation: Implementation
    thorough: bool
    eager: dict[str, Facts] = field(default_factory=dict)
    unjudged: frozenset[str] = frozenset()
    before: Facts = field(default_factory=dict)
    after: Facts = field(default_factory=dict)
    joint: Any = None
    built: Any = None
    refusal: Raised | None = None
    compiled: dict[str, Facts] = field(default_factory=dict)
    differences: tuple[tuple[str, Difference], ...] = ()
    second: Joint | None = None
    other: Joint | None = None
    optioned: dict[str, Joint] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def decompositions(self) -> Mapping[Any, Callable[..., Any]]:
        """The table that the ``decompositions`` export was given."""
        return _decompositions()

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add what the block takes to the phase's seconds."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - start


def walk(program: Program, implementation: Implementation, device: str = "cpu", thorough: bool | None = None) -> Case:
    """The case of ``program``: eager watched, exported, compiled back, and watched again.

    A ``thorough`` walk goes through every scenario and exports again. Where it is not asked for or ruled out,
    one program in THOROUGH_SHARE gets it, by its hash, and the others take the scenarios IN_TURN.
    """
    if thorough is None:
        thorough = int(program.name[:4], 16) % THOROUGH_SHARE == 0
    case = Case(program, device, implementation, thorough)
    with case.timed("eager"):
        _watch_eager(case)
    with ExitStack() as stack:
        call = _export_and_compile(case, stack)
    if case.built is not None:
        case.after = standing(case.built)
    if call is not None:
        with case.timed("compiled"):
            for scenario in case.eager:
                case.compiled[scenario] = scenarios.run(scenario, call, program, device)
    with case.timed("rules"):
        case.differences = tuple(causes(case.eager, case.compiled, frozenset()))
    if case.differences:
        _believe_only_what_is_stable(case)
        _believe_near_misses_only_in_double(case)
    if thorough and case.joint is not None:
        with case.timed("export"):
            _export_again(case)
    return case


def _watch_eager(case: Case) -> None:
    def run(scenario: str) -> Facts:
        return scenarios.run(scenario, scenarios.call_module, case.program, case.device)

    case.eager["train"] = run("train")
    for scenario in _telling_scenarios(case):
        facts = run(scenario)
        if scenarios.INAPPLICABLE not in facts:
            case.eager[scenario] = facts


def _believe_only_what_is_stable(case: Case) -> None:
    """Run eager once more before a difference is believed: where it differs from itself, nothing is judged."""
    with case.timed("eager"):
        again = scenarios.run("train", scenarios.call_module, case.program, case.device)
    case.unjudged = unstable_paths(case.eager["train"], again)
    if case.unjudged:
        case.differences = tuple(causes(case.eager, case.compiled, case.unjudged))


def _believe_near_misses_only_in_double(case: Case) -> None:
    """Walk the program in double precision before a small difference of values is believed.

    What rounding makes of an ill-conditioned program differs between two right implementations; a fault is
    there in double precision too.
    """
    near = {(scenario, d.path) for scenario, d in case.differences if _is_near_miss(case, scenario, d.path)}
    program = in_double(case.program)
    if not near or program == case.program:
        return
    # Thorough, or the twin, which has another hash, would take other scenarios in its turn.
    twin = walk(program, case.implementation, case.device, thorough=True)
    also = {(scenario, difference.path) for scenario, difference in twin.differences}
    rounding = {(scenario, path) for scenario, path in near - also if scenario in twin.compiled}
    if twin.compiled and not twin.eager["train"]["error"]:
        case.differences = tuple((s, d) for s, d in case.differences if (s, d.path) not in rounding)


def _is_near_miss(case: Case, scenario: str, path: str) -> bool:
    expected, found = case.eager[scenario].get(path), case.compiled[scenario].get(path)
    return path.endswith(".value") and same(expected, found, NEAR_MISS)


def _telling_scenarios(case: Case) -> list[str]:
    """The scenarios that may say something that "train" did not."""
    train = case.eager["train"]
    if train["error"]:
        return []
    roots = sum(1 for p, fact in train.items() if p.startswith("outputs") and p.endswith(".autograd") and fact != "no grad")
    skipped = {"train"} | (set() if roots else scenarios.NEEDS_GRADIENT)
    if not any(path.endswith(".pieces") for path in train):
        skipped |= scenarios.NEEDS_SUBCLASSES
    if roots < 2:
        skipped |= scenarios.NEEDS_SEVERAL_ROOTS
    if roots and not case.thorough:
        turn = int(case.program.name[4:6], 16) % len(scenarios.IN_TURN)
        skipped |= {name for group in scenarios.IN_TURN if group is not scenarios.IN_TURN[turn] for name in group}
    return [name for name in scenarios.SCENARIOS if name not in skipped]


def _export_and_compile(case: Case, stack: ExitStack) -> scenarios.Call | None:
    try:
        case.built = build(case.program, case.device)
    except Exception as error:  # a setup that eager refuses leaves nothing to export
        case.refusal = Raised("setup", error)
        return None
    case.before = standing(case.built)
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


def standing(built: Built) -> Facts:
    """What the caller holds, as facts: tensors, versions, gradients, the module's attributes, the generator (J15)."""
    facts: Facts = {"error": None, "rng.value": torch.get_rng_state()}
    for name, tensor in built.tensors.items():
        observe_tensor(facts, f"caller.{name}", tensor)
        facts[f"caller.{name}.version"] = tensor._version
        grad = tensor.grad if is_leaf(tensor) is True else None
        facts[f"caller.{name}.grad.none"] = grad is None
        if grad is not None:
            facts[f"caller.{name}.grad.value"] = value_of(grad)
    for path, module in built.module.named_modules():
        for table in ("_parameters", "_buffers", "_modules"):
            for name, value in vars(module)[table].items():
                facts[f"module {path}.{table}.{name}"] = f"{type(value).__name__} {id(value)}"
        facts[f"module {path}.attributes"] = sorted(vars(module))
        facts[f"module {path}.training"] = module.training
    return facts


def _export_again(case: Case) -> None:
    """The thorough exports. One that fails where the first did not is left out: the rules see it missing."""
    case.second = _try_export(case, case.program)
    outputs = Node("tuple", (case.program.outputs, Const(7)))
    case.other = _try_export(case, replace(case.program, outputs=outputs))
    offered = case.implementation.export_options()
    for option, value in _OPTIONS.items():
        if option in offered:
            joint = _try_export(case, case.program, **{option: value()})
            if joint is not None:
                case.optioned[option] = joint


def _try_export(case: Case, program: Program, **options: Any) -> Joint | None:
    built = build(program, case.device)
    try:
        with ExitStack() as stack:
            return case.implementation.export(stack, built.module, built.args, built.kwargs, **options)
    except Exception:
        return None


@cache
def _decompositions() -> Mapping[Any, Callable[..., Any]]:
    """A few decompositions, of ops that programs use forward and backward."""
    from torch._decomp import get_decompositions

    aten = torch.ops.aten
    return get_decompositions([aten.sigmoid_backward, aten.tanh_backward, aten.native_layer_norm, aten.addmm, aten.std])


_OPTIONS: dict[str, Callable[[], Any]] = {
    "decompositions": _decompositions,
    "keep_inference_input_mutations": lambda: True,
}
