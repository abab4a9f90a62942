"""A program walked through eager and the implementation once: all that the rules look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import torch
import torch._functorch.config
from torch._guards import detect_fake_mode

from conformance import effects, scenarios
from conformance.difference import NEAR_MISS, Difference, causes, same, unstable_paths
from conformance.exporting import arguments_for, compile_back, export, not_offered, primals_for, try_export
from conformance.graph import lines_of
from conformance.hygiene import forget, left_behind, put_back
from conformance.implementation import Implementation, Joint
from conformance.named import Stated
from conformance.observation import Facts, Raised, is_leaf, observe_tensor, value_of
from conformance.requirements import REQUIREMENTS
from conformance.routes import ROUTED, in_turn, take_routes
from conformance.sizes import are_other_sizes
from conformance.snapshot import snapshot
from conformance.specification import Specified, specify
from conformance.thorough import decompositions, export_again
from conformance.timing import Timed
from generators.build import Built, build
from generators.program import Program
from generators.variants import OTHER_SIZES, in_double, sizes_in

#: One program in so many is exported again, and with options: what two exports share needs a second one.
THOROUGH_SHARE = 64
#: And one of so many of those is captured by Dynamo first, which takes as long as all the rest.
CAPTURED_SHARE = 4 * THOROUGH_SHARE
#: Seeds that show what hangs on the generator: so many, since two coins of 0.9 fall alike under most of them.
OTHER_SEEDS = range(1, 17)


@dataclass
class Case(Timed):
    """One program's observations and its exported joint graph; rules read it, and leave it as it is.

    ``eager`` and ``compiled`` hold facts by scenario; ``differences`` are what is left of both, by scenario; nothing
    is judged at the ``unjudged`` paths, where eager was seen to differ from itself. Of the scenarios that differ,
    ``random`` holds the facts that hang on the seed of eager's generator (scenario, path). ``unsupported`` says which
    option of the program is not offered; then it is not exported at all. The caller passes the ``primals``, by their
    plain descriptors, as they were before the export. The export was given the ``arguments``, and gave the ``graph``,
    as text (a compile may change it). ``refusal`` is the error with which the export or the
    compile ended; then there is no ``joint``, or nothing in ``compiled``. ``before`` and ``after`` are what the
    caller holds around the export, ``left_behind`` the global state that is other than before once the ExitStack is
    closed, ``meaning`` what the graph gave when it was run from its descriptors alone. A named case has ``stated``
    which descriptors its graph must have.

    A ``thorough`` case has the ``lines`` of its graph as exported (a compile may change the graph), a ``second``
    export of the same program, one of an ``other`` program, ``optioned`` exports by option, and
    what they show in "train"; if it is ``to_capture``, the export of what Dynamo ``captured``; if it went
    through "train", facts of "train" by the other ``routes`` from an export to a callable.
    """

    program: Program
    device: str
    implementation: Implementation
    thorough: bool
    to_capture: bool = False
    stated: Stated | None = None
    eager: dict[str, Facts] = field(default_factory=dict)
    unjudged: frozenset[str] = frozenset()
    before: Facts = field(default_factory=dict)
    after: Facts = field(default_factory=dict)
    left_behind: dict[str, str] = field(default_factory=dict)
    joint: Any = None
    built: Any = None
    primals: dict[Any, Any] = field(default_factory=dict)
    arguments: Any = None
    refusal: Raised | None = None
    unsupported: str = ""
    compiled: dict[str, Facts] = field(default_factory=dict)
    differences: tuple[tuple[str, Difference], ...] = ()
    random: frozenset[tuple[str, str]] = frozenset()
    graph: str = ""
    lines: list[str] = field(default_factory=list)
    second: Joint | None = None
    other: Joint | None = None
    optioned: dict[str, Joint] = field(default_factory=dict)
    meaning: Specified | None = None
    routes: dict[str, Facts] = field(default_factory=dict)
    optioned_results: dict[str, Facts] = field(default_factory=dict)
    captured: Any = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def decompositions(self) -> Mapping[Any, Callable[..., Any]]:
        """The table that the ``decompositions`` export was given."""
        return decompositions()


def walk(
    program: Program,
    implementation: Implementation,
    device: str = "cpu",
    thorough: bool | None = None,
    only: Collection[str] = (),
    stated: Stated | None = None,
) -> Case:
    """The case of ``program``: eager watched, exported, compiled back, and watched again.

    A ``thorough`` walk goes through every scenario, exports again, and takes the routes. Where it is not asked for
    or ruled out, one program in THOROUGH_SHARE gets it, by its hash, with the routes in turn, and the others take
    the scenarios IN_TURN. ``only`` names the rules that are to judge the case, if not all do: a thorough walk
    leaves out what none of them reads. ``stated`` are the descriptors that a named case must have.
    """
    rules = frozenset(only or REQUIREMENTS).difference(() if thorough else ROUTED.difference(in_turn(program)))
    case = _begun(program, implementation, device, thorough)
    case.stated = stated
    if case.unsupported:
        return case
    forget()
    with case.timed("eager"):
        _watch_eager(case)
    spoilt_before = bool(left_behind())
    with ExitStack() as stack:
        call = _export_and_compile(case, stack)
    _note_what_is_left(case, spoilt_before)
    believable = not left_behind()
    if case.built is not None:
        case.after = standing(case.built)
    if call is not None and believable:
        _watch_compiled(case, call)
    _compare(case)
    if case.joint is not None and believable and not case.eager["train"]["error"]:
        with case.timed("rules"):
            case.meaning = specify(implementation, case.joint, program, device, partial(try_export, implementation, device))
    if case.thorough and case.joint is not None and believable:
        _go_further(case, rules, spoilt_before)
    return case


def watch_eager_alone(program: Program, implementation: Implementation, device: str, thorough: bool | None) -> None:
    """Run in eager what a walk runs there, and nothing else: a process that dies of this dies of eager."""
    case = _begun(program, implementation, device, thorough)
    if not case.unsupported:
        _watch_eager(case)


def _go_further(case: Case, rules: Collection[str], spoilt_before: bool) -> None:
    """What only a thorough case does, as far as these rules read it: exported again, and compiled by other routes."""
    with case.timed("export"):
        export_again(case, rules)
    with case.timed("compiled"):
        take_routes(case, rules)
    _note_what_is_left(case, spoilt_before)


def _begun(program: Program, implementation: Implementation, device: str, thorough: bool | None) -> Case:
    """The case with nothing watched yet; where it isn't said, the program's hash says how thorough the walk is."""
    turn = int(program.name[:4], 16)
    is_plain = not (program.options or program.dressing or program.symbolic)
    to_capture = is_plain and (turn % CAPTURED_SHARE == 0 if thorough is None else thorough)
    if thorough is None:
        thorough = turn % THOROUGH_SHARE == 0
    return Case(program, device, implementation, thorough, to_capture, unsupported=not_offered(program, implementation))


def _watch_compiled(case: Case, call: scenarios.Call) -> None:
    with case.timed("compiled"):
        for scenario in list(case.eager):
            if _holds_at(case, scenario):
                case.compiled[scenario] = scenarios.run(scenario, call, case.program, case.device)


def _compare(case: Case) -> None:
    """What is left of the differences between eager and the compiled joint."""
    with case.timed("rules"):
        case.differences = tuple(causes(case.eager, case.compiled, frozenset()))
    if case.differences:
        _believe_only_what_is_stable(case)
        _believe_near_misses_only_in_double(case)
        _find_out_what_is_random(case)


def _note_what_is_left(case: Case, spoilt_before: bool) -> None:
    """Remember what the exports left behind, unless it isn't theirs, and put it back."""
    if not spoilt_before:
        case.left_behind |= left_behind()
        put_back()


def _watch_eager(case: Case) -> None:
    def run(scenario: str) -> Facts:
        return scenarios.run(scenario, scenarios.call_module, case.program, case.device)

    case.eager["train"] = run("train")
    for scenario in _telling_scenarios(case):
        facts = run(scenario)
        is_other_size = scenario in OTHER_SIZES
        if scenarios.INAPPLICABLE not in facts and not (is_other_size and facts["error"]):
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
    # Thorough, or the twin, which has another hash, would take other scenarios in its turn; C2 reads nothing else.
    twin = walk(program, case.implementation, case.device, thorough=True, only=("C2",))
    also = {(scenario, difference.path) for scenario, difference in twin.differences}
    rounding = {(scenario, path) for scenario, path in near - also if scenario in twin.compiled}
    if twin.compiled and not twin.eager["train"]["error"]:
        case.differences = tuple((s, d) for s, d in case.differences if (s, d.path) not in rounding)


def _find_out_what_is_random(case: Case) -> None:
    """Run eager under other seeds, where it draws numbers: what differs then hangs on them."""
    untouched = torch.Generator().manual_seed(0).get_state()
    if same(case.eager["train"].get("rng.value"), untouched):
        return
    with case.timed("eager"):
        for scenario, seed in product({scenario for scenario, _ in case.differences}, OTHER_SEEDS):
            other = scenarios.run(scenario, scenarios.call_module, case.program, case.device, seed=seed)
            paths = unstable_paths(case.eager[scenario], other)
            case.random |= {(scenario, path) for path in paths if path.endswith(".value")}


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
    if not case.program.symbolic:
        skipped |= OTHER_SIZES.keys()
    if not any(path.endswith(".pieces") for path in train):
        skipped |= scenarios.NEEDS_SUBCLASSES
    if roots < 2:
        skipped |= scenarios.NEEDS_SEVERAL_ROOTS
    if roots and not case.thorough:
        turn = int(case.program.name[4:6], 16) % len(scenarios.IN_TURN)
        skipped |= {name for group in scenarios.IN_TURN if group is not scenarios.IN_TURN[turn] for name in group}
    return [name for name in scenarios.SCENARIOS if name not in skipped]


def _export_and_compile(case: Case, stack: ExitStack) -> scenarios.Call | None:
    program = case.program
    try:
        case.built = build(program, case.device)
    except Exception as error:  # a setup that eager refuses leaves nothing to export
        case.refusal = Raised("setup", error)
        return None
    case.before = standing(case.built)
    case.primals = primals_for(case.implementation, case.built)
    case.arguments = arguments_for(case.built)
    stage = "export"
    try:
        with case.timed("export"):
            case.joint = export(case.implementation, stack, case.built, case.arguments)
        with suppress(Exception):  # a graph that can't be read is for the rules to accuse
            case.graph = snapshot(case)
        stage = "compile"
        case.lines = lines_of(case.joint) if case.thorough else []
        with case.timed("compile"):
            return compile_back(case.implementation, case.joint, program)
    except Exception as error:
        case.refusal = Raised(stage, error)
        return None


def _holds_at(case: Case, scenario: str) -> bool:
    """Whether the export claims anything at the sizes of this scenario."""
    if scenario not in OTHER_SIZES:
        return True
    built = build(case.program, case.device, sizes=sizes_in(scenario, case.program))
    mode = detect_fake_mode(case.arguments)  # the joint of 2.9 does not say what its mode is
    return mode is not None and are_other_sizes(mode.shape_env, case.arguments, (built.args, built.kwargs))


def standing(built: Built) -> Facts:
    """What the caller holds, as facts: tensors, versions, gradients, the module's attributes, the generator, effects (J15)."""
    facts: Facts = {"error": None, "rng.value": torch.get_rng_state(), "effects": [name for name, _ in effects.performed()]}
    for name, tensor in built.tensors.items():
        observe_tensor(facts, f"caller.{name}", tensor)
        facts[f"caller.{name}.parameter"] = isinstance(tensor, torch.nn.Parameter)
        facts[f"caller.{name}.version"] = tensor._version
        facts[f"caller.{name}.hooks"] = len(tensor._backward_hooks or ())
        grad = tensor.grad if is_leaf(tensor) is True else None
        facts[f"caller.{name}.grad.none"] = grad is None
        if grad is not None:
            facts[f"caller.{name}.grad.value"] = value_of(grad)
    for path, module in built.module.named_modules():
        for table in ("_parameters", "_buffers", "_modules"):
            for name, value in vars(module)[table].items():
                facts[f"module {path}.{table}.{name}"] = f"{type(value).__name__} {id(value)}"
        facts[f"module {path}.attributes"] = sorted(vars(module))
        facts.update({f"module {path}.{name}": len(value) for name, value in vars(module).items() if name.endswith("_hooks")})
        facts[f"module {path}.training"] = module.training
    return facts
