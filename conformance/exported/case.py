"""A program exported to the IR of torch.export, in each form that it takes: all that the rules of chapter E look at.

A form is one ExportedProgram: as the export gave it, strict or not, after ``run_decompositions``, and saved and loaded
again. Each is called through ``module()`` and watched as eager is; what is for training is differentiated, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from conformance.difference import NEAR_MISS, Difference, differences, same, unstable_paths
from conformance.exported.forms import (
    CALLED_ALONE,
    DECOMPOSED,
    EXPORTED,
    MADE_OF_IT,
    OTHERS,
    STRICT,
    TRAINING,
    Source,
    forms_in_turn,
)
from conformance.exported.running import Run, interpret
from conformance.exported.sizes import Trial, shapes_tried, with_shapes
from conformance.exported.snapshot import exported_snapshot, signature_rows
from conformance.exporting import try_export
from conformance.hygiene import left_behind, put_back
from conformance.implementation import Joint
from conformance.named import Stated
from conformance.observation import Facts, Raised, roots_of, value_of
from conformance.scenarios import Call, Stopped, Watch, call_module
from conformance.timing import Timed
from generators.build import Built, build
from generators.dynamic import Way, way_of
from generators.preludes.objects import OBJECTS
from generators.program import Program, Ref
from generators.variants import in_double
from generators.vocabulary import VOCABULARY

#: What of a call the exported program promises to do as eager: values, what they are of, structure, mutations (E8).
PROMISED = (".value", ".type", ".plain", ".shape", ".dtype", ".device", ".structure", "error", ".none", "backward")
#: Where it is told which of the outputs a backward can start from.
ROOTS = "differentiable.plain"


@dataclass
class Exported(Timed):
    """One program's observations and its exported programs; rules read it, and leave it as it is.

    ``built`` is what was exported, ``forms`` the ExportedProgram of each form that could be made, ``modules`` what makes
    the module of those that are only called, and ``refusals`` the error in the place of each that could not be made.
    ``results`` are the facts of each form's call, ``differences`` what of them is not as in ``eager``; ``runs`` are the
    graphs run node by node. ``changed`` are the caller's tensors that hold other values after eager's call: not every op
    counts what it writes. Where sizes are dynamic, ``way`` is how that was asked for, ``trials`` are the calls of each
    form with other shapes, and ``resized_runs`` as ``runs``, with the largest sizes. ``joint`` is the joint graph of the
    same program, exported beside a decomposition alone, and where it can be. ``unsupported`` says why the program is not
    exported at all. A named case has ``stated`` which form it is in and what its signature must be; of that form, it has the
    ``graph`` as text and the ``rows`` of the signature, as they are before anything else is done with it.
    """

    program: Program
    device: str
    implementation: Any
    way: Way | None = None
    unsupported: str = ""
    stated: Stated | None = None
    graph: str = ""
    rows: tuple[list[str], list[str]] | None = None
    eager: Facts = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    built: Any = None
    forms: dict[str, Any] = field(default_factory=dict)
    modules: dict[str, Callable[[], Any]] = field(default_factory=dict)
    joint: Joint | None = None
    refusals: dict[str, Raised] = field(default_factory=dict)
    results: dict[str, Facts] = field(default_factory=dict)
    differences: tuple[tuple[str, Difference], ...] = ()
    runs: dict[str, Run] = field(default_factory=dict)
    trials: dict[str, dict[str, Trial]] = field(default_factory=dict)
    resized_runs: dict[str, Run] = field(default_factory=dict)
    was_clean: bool = True
    left_behind: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def written(self) -> frozenset[str]:
        """The caller's tensors that eager wrote: those that say so, and those that changed without."""
        told = (path.split(".") for path, fact in self.eager.items() if path.endswith(".written") and fact)
        return self.changed | {name for _, name, _ in told}


def export_walk(
    program: Program,
    implementation: Any,
    device: str = "cpu",
    others: Collection[str] = (),
    way: Way | None = None,
    stated: Stated | None = None,
) -> Exported:
    """The case of ``program``: eager watched, exported, brought into other forms, and each form watched.

    ``others`` are the forms that are made beside the first, and ``way`` how its symbolic sizes are asked for; a program
    for which nobody says gets one, by its hash. A named case has ``stated`` what its signature must be, and in which form.
    """
    case = Exported(program, device, implementation, unsupported=not_taken(program, implementation), stated=stated)
    case.way = (way or way_of(program)) if program.symbolic else None
    if case.unsupported:
        return case
    with case.timed("eager"):
        case.eager = _called(call_module, program, device)
        case.changed = _changed(case)
    case.unsupported = _writes_aliases(case)
    if case.unsupported:
        return case
    case.was_clean = not left_behind()
    with case.timed("export"):
        _make_forms(case, others or _form_stated(case) or forms_in_turn(program))
        if stated and stated.form in case.forms:
            case.graph = exported_snapshot(case.forms[stated.form], program, stated)
            case.rows = signature_rows(case.forms[stated.form])
        if DECOMPOSED in case.forms:
            case.joint = try_export(implementation, device, program)
    _clear_away(case)
    _watch_forms(case)
    case.differences = tuple(_told(case))
    _run_graphs(case)
    return case


def _watch_forms(case: Exported) -> None:
    """Call each form as eager was called, and with other shapes where sizes are dynamic."""
    with case.timed("compiled"):
        for form, exported in case.forms.items():
            case.results[form] = _called(_through(exported.module), case.program, case.device, _is_to_train(case, form))
            case.trials[form] = _tried(case, exported)
            _clear_away(case)
        for form, module in case.modules.items():
            case.results[form] = _called(_through(module), case.program, case.device, differentiated=False)
            _clear_away(case)


def _is_to_train(case: Exported, form: str) -> bool:
    """Whether the form can be used with eager's autograd: what an export gives is for training, says its guide.

    What run_decompositions gives is for inference. Nobody promises that hooks on a backward are kept.
    """
    ops = [VOCABULARY[statement.op].kind for statement in case.program.body]
    return form in TRAINING and "hook" not in ops and not any("backward" in name for name in case.program.dressing)


def _run_graphs(case: Exported) -> None:
    """Run the graph of each form node by node, with the largest sizes too where they are dynamic."""
    with case.timed("rules"):
        for form, exported in case.forms.items():
            torch.manual_seed(0)
            case.runs[form] = interpret(exported, build(case.program, case.device))
            largest = case.trials[form].get("largest")
            if largest is not None and not largest.eager["error"]:
                torch.manual_seed(0)
                case.resized_runs[form] = interpret(exported, build(with_shapes(case.program, largest.shapes), case.device))
            _clear_away(case)


def _clear_away(case: Exported) -> None:
    """Note what global state is other than before the export, and put it back: a call may end inside a vmap, say."""
    if case.was_clean:
        case.left_behind |= left_behind()
        put_back()


def not_taken(program: Program, implementation: Any) -> str:
    """Why the walk does not take the program, "" where it does.

    It takes what the documents of torch.export speak of without reserve: plain tensors that are no views of one another.
    """
    if not hasattr(implementation, "export_ir"):
        return "export_ir is not offered"
    if program.options:
        return f"{program.options[0]} is no option of torch.export"
    if any(leaf.subclass for leaf in program.leaves) or any(VOCABULARY[s.op].kind == "subclass" for s in program.body):
        return "a tensor subclass is in it"
    if OBJECTS is None and "layer_with_object" in program.dressing:
        return "this torch knows no custom objects of Python"
    return "what is passed may be views of one another" if program.setup else ""


def _changed(case: Exported) -> frozenset[str]:
    before = build(case.program, case.device).tensors if not case.eager["error"] else {}
    changed = {name for name, tensor in before.items() if not same(value_of(tensor), case.eager[f"caller.{name}.value"])}
    return frozenset(changed)


def _writes_aliases(case: Exported) -> str:
    """Why what the program writes is not judged: it may be written through another name that the caller has for it."""
    program = case.program
    passed = [leaf.name for leaf in program.flat_args if isinstance(leaf, Ref)] + [state.value for state in program.state]
    return "something is passed twice, and written" if len(set(passed)) < len(passed) and case.written else ""


def _form_stated(case: Exported) -> tuple[str, ...]:
    """The form that a named case is in, where that is another than the export's own."""
    return (case.stated.form,) if case.stated and case.stated.form in OTHERS else ()


def _make_forms(case: Exported, others: Collection[str]) -> None:
    """The export and these forms of it; in place of one that can't be made, the error."""
    try:
        case.built = build(case.program, case.device)
    except Exception as error:  # eager refuses the setup too
        case.refusals["setup"] = Raised("setup", error)
        return
    source = Source(case.program, case.built, case.implementation, case.way)
    _make(case, EXPORTED, source.exported)
    if STRICT in others:
        _make(case, STRICT, source.exported_strictly)
    for made, into in ((MADE_OF_IT, case.forms), (CALLED_ALONE, case.modules)):
        for form, make in made.items():
            if form in others and EXPORTED in case.forms:
                _make(case, form, partial(make, source, case.forms[EXPORTED]), into)


def _make(case: Exported, form: str, make: Callable[[], Any], into: dict[str, Any] | None = None) -> None:
    try:
        torch.manual_seed(0)
        (case.forms if into is None else into)[form] = make()
    except Exception as error:
        case.refusals[form] = Raised(form, error)


def _through(make: Callable[[], Any]) -> Call:
    """A module made of an exported program, called as eager is: with the values that the caller's module holds."""

    def call(built: Built) -> Any:
        module = make()
        for fqn, tensor in held_by(built.module):
            _hold(module, fqn, tensor)
        return module(*built.args, **built.kwargs)

    return call


def held_by(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Every parameter and buffer of a module by FQN, parameters first; a tied one under each of its names."""
    named = (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return [pair for pairs in named for pair in pairs]


def _hold(module: Any, fqn: str, tensor: torch.Tensor) -> None:
    """Let the unlifted module hold the caller's own tensor, so that the caller sees what is written to it."""
    path, _, name = fqn.rpartition(".")
    with suppress(AttributeError):  # tied: it is held under its other name
        owner = module.get_submodule(path)
        table = owner._parameters if name in owner._parameters else owner._buffers
        if name in table:
            table[name] = tensor


def _called(call: Call, program: Program, device: str, differentiated: bool = True) -> Facts:
    """The facts of one call: what comes back, how what the caller holds is left, and the gradients where they are asked for."""
    facts: Facts = {"error": None}
    torch.manual_seed(0)
    with suppress(Stopped):
        watch = Watch(call, build(program, device), facts)
        versions = watch.versions()
        leaves = watch.forward()
        watch.outputs(leaves)
        watch.inputs(versions)
        facts["rng.value"] = torch.get_rng_state()
        if differentiated:
            facts |= _differentiated(watch.built, leaves)
    return facts


def _differentiated(built: Built, leaves: list[Any]) -> Facts:
    """From which outputs a backward starts, the error that ends it, and the gradient of each leaf that the caller holds."""
    watch = Watch(call_module, built, {"error": None})
    watch.facts[ROOTS] = tuple(bool(roots_of([leaf])) for leaf in leaves)
    with suppress(Stopped):
        watch.backward(roots_of(leaves))
        watch.gradients()
    watch.facts["backward"] = watch.facts.pop("error")
    return {path: fact for path, fact in watch.facts.items() if not path.startswith("effects.")}


def _tried(case: Exported, exported: Any) -> dict[str, Trial]:
    """The calls with other shapes: those that are to go as in eager, and those that are to be refused."""
    if case.way is None or case.eager["error"]:
        return {}
    trials = {}
    for name, shapes in shapes_tried(case.program, exported).items():
        program = with_shapes(case.program, shapes)
        eager = _called(call_module, program, case.device)
        found = _called(_through(exported.module), program, case.device, differentiated=False)
        unjudged = _unjudged(eager, program, case.device)
        different = tuple(d for d in differences(eager, found, unjudged) if _is_promised(d) and not _is_near(eager, found, d))
        trials[name] = Trial(shapes, eager, found["error"], different)
    return trials


def _is_near(eager: Facts, found: Facts, difference: Difference) -> bool:
    path = difference.path
    return path.endswith(".value") and same(eager[path], found[path], NEAR_MISS)


def _is_promised(difference: Difference) -> bool:
    """Whether it is a fact that a program promises. That an output is the parameter that was passed itself is none."""
    if (difference.expected, difference.found) == ("'Parameter'", "'Tensor'"):
        return False
    return difference.path.endswith(PROMISED) and not difference.path.startswith("rng.")


def _unjudged(eager: Facts, program: Program, device: str) -> frozenset[str]:
    """The paths at which eager differs from itself; all values where it draws random numbers: others may be drawn."""
    unjudged = unstable_paths(eager, _called(call_module, program, device))
    if not same(eager.get("rng.value"), torch.Generator().manual_seed(0).get_state()):
        unjudged |= {path for path in eager if path.endswith(".value")}
    return unjudged


def _told(case: Exported) -> Iterator[tuple[str, Difference]]:
    """What of each form's call is not as in eager, as far as it was promised, and as far as eager agrees with itself."""
    unjudged = _unjudged(case.eager, case.program, case.device)
    for form, facts in case.results.items():
        same_roots = same(case.eager.get(ROOTS), facts.get(ROOTS))
        for difference in differences(case.eager, facts, unjudged):
            is_of_gradient = difference.path.startswith(("grads.", "backward"))
            if (same_roots or not is_of_gradient) and _is_promised(difference) and not _is_rounding(case, form, difference):
                yield form, difference


def _is_rounding(case: Exported, form: str, difference: Difference) -> bool:
    """Whether a small difference of values is gone in double precision: then it came of rounding."""
    twin = in_double(case.program)
    if not _is_near(case.eager, case.results[form], difference) or twin == case.program:
        return False
    there = export_walk(twin, case.implementation, case.device, (form,), case.way)
    return form in there.results and all((form, difference.path) != (f, d.path) for f, d in there.differences)
