"""The joint graph run from nothing but its descriptors, beside eager (chapter S).

Each placeholder gets what its descriptor stands for; each output is compared with what its descriptor stands
for in eager. No compile step is needed, so this tells a wrong export from a wrong compile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx

from conformance import effects
from conformance.beside import Eager, Gradients, accumulated, as_the_graph_has_it, run_eager, seeded_build
from conformance.described import OUTPUTS, Inputs, Meaningless, Outputs, gradient_in
from conformance.difference import NEAR_MISS, same
from conformance.graph import chain, kind_of, output_descriptors, placeholder_descriptors
from conformance.implementation import Implementation, Joint
from conformance.observation import Raised
from generators.features import hides_writes
from generators.program import Program
from generators.variants import in_double

#: Why a token is not compared: it says nothing, and what it threads tells what was done (S5).
BY_EFFECTS = "a token, checked by the effects"


@dataclass(frozen=True)
class Meaning:
    """One output of the graph: what eager and the graph gave, or the reason why they are not compared."""

    descriptor: Any
    expected: Any
    found: Any
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether both are equal, or nothing is judged."""
        return bool(self.reason) or self.within(1.0)

    def within(self, slack: float) -> bool:
        """Whether both are equal within so many tolerances. A gradient of None and one of zeros are equal here (C3)."""
        if gradient_in(self.descriptor) is None:
            return same(self.expected, self.found, slack)
        expected, found = _zeros_for_none(self.expected, self.found), _zeros_for_none(self.found, self.expected)
        return same(expected, found, slack)


@dataclass(frozen=True)
class Specified:
    """A joint graph run from its descriptors alone.

    ``inputs`` are the placeholders' descriptors, ``absent`` those of them, by place, that stand for nothing.
    ``error`` is what the graph raised; in both cases there are no ``outputs``. ``expected_effects`` are what
    eager performed, ``effects`` what the graph did, forward and backward together.
    """

    inputs: tuple[Any, ...]
    absent: tuple[tuple[int, Meaningless], ...] = ()
    error: Raised | None = None
    outputs: tuple[Meaning, ...] = ()
    expected_effects: tuple[effects.Effect, ...] = ()
    effects: tuple[effects.Effect, ...] = ()


def checked_kinds(specified: Specified | None) -> Counter[str]:
    """How many descriptors of each kind were checked: outputs that were compared, and the inputs that they came from.

    A descriptor counts as what it is, not as what it wraps.
    """
    if specified is None:
        return Counter()
    told = bool(specified.expected_effects)
    compared = [kind_of(m.descriptor) for m in specified.outputs if not m.reason or (told and m.reason == BY_EFFECTS)]
    return Counter([*compared, *map(kind_of, specified.inputs)]) if compared else Counter()


def specify(
    implementation: Implementation, joint: Joint, program: Program, device: str, export: Callable[[Program], Joint | None]
) -> Specified | None:
    """The joint graph of ``program`` run beside eager; None where eager raises, or Philox values are needed.

    A difference is believed only where eager is stable, and a small one only if it is there in double precision:
    ``export`` gives the joint graph of the program in double, or None.
    """
    piece = implementation.descriptors.SubclassGetAttrAOTOutput
    once = _run(piece, joint, program, device)
    if once is None or all(meaning.holds for meaning in once.outputs):
        return once
    again = _run(piece, joint, program, device)
    once = _unjudged_where(once, again, "eager differs from itself", _eager_differs)
    if any(not meaning.holds and meaning.within(NEAR_MISS) for meaning in once.outputs):
        double = in_double(program)
        twin = export(double)
        other = None if twin is None else _run(piece, twin, double, device)
        once = _unjudged_where(once, other, "equal in double precision", _is_rounding)
    return once


def _unjudged_where(
    once: Specified, other: Specified | None, reason: str, applies: Callable[[Meaning, Meaning], bool]
) -> Specified:
    """``once``, but for the differences that a second run explains. It explains nothing if its outputs are others."""
    if other is None or [m.descriptor for m in other.outputs] != [m.descriptor for m in once.outputs]:
        return once
    pairs = zip(once.outputs, other.outputs)
    outputs = tuple(replace(m, reason=reason) if not m.holds and applies(m, twin) else m for m, twin in pairs)
    return replace(once, outputs=outputs)


def _eager_differs(once: Meaning, again: Meaning) -> bool:
    return not replace(once, found=again.expected).within(1.0)


def _is_rounding(once: Meaning, in_double: Meaning) -> bool:
    return once.within(NEAR_MISS) and in_double.holds


def _run(piece: Any, joint: Joint, program: Program, device: str) -> Specified | None:
    inputs = tuple(placeholder_descriptors(joint))
    if any(kind_of(descriptor).startswith("Philox") for descriptor in inputs):
        return None
    eager = run_eager(joint, program, device)
    if eager is None:
        return None
    values, absent = _values(eager.fresh, inputs)
    if absent:
        return Specified(inputs, absent)
    try:
        with effects.listening():
            results = _run_graph(joint, values)
    except Exception as error:
        return Specified(inputs, error=Raised("graph", error))
    performed = effects.performed()
    descriptors = output_descriptors(joint)
    reached = _reached(piece, program, device, dict(zip(descriptors, results)), dict(eager.outputs.gradients))
    found = Outputs([], eager.fresh, reached)
    nothing_fills = bool(joint.graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.resize.default))
    blurred = "what a tensor grows by is left as it is found in memory" if nothing_fills else ""
    meanings = [
        _meaning(d, result, found, eager, blurred or (_rewritten(program) if gradient_in(d) else ""))
        for d, result in zip(descriptors, results)
        if d is not None
    ]
    return Specified(inputs, outputs=tuple(meanings), expected_effects=eager.effects, effects=performed)


def _reached(piece: Any, program: Program, device: str, results: dict[Any, Any], expected: Gradients) -> Gradients:
    """The gradients as they reach the caller's inputs. Those are made anew: a graph may have written what it was given."""
    if not any(gradient_in(descriptor) for descriptor in results):
        return {}
    return accumulated(piece, Inputs(seeded_build(program, device)), results, expected)


def _values(fresh: Inputs, descriptors: tuple[Any, ...]) -> tuple[list[Any], tuple[tuple[int, Meaningless], ...]]:
    """A value for each placeholder, detached: the graph has its own backward. And what there is none for."""
    values, absent = [], []
    for place, descriptor in enumerate(descriptors):
        try:
            value = fresh.value(descriptor)
            values.append(value.detach() if isinstance(value, torch.Tensor) else value)
        except Meaningless as error:
            absent.append((place, error))
    return values, tuple(absent)


def _run_graph(joint: Joint, values: list[Any]) -> list[Any]:
    """The flat outputs under the seed that eager's forward had. Raises what the graph raises."""
    torch.manual_seed(0)
    with torch.no_grad():
        results = fx.Interpreter(joint.graph_module).run(*values, enable_io_processing=False)
    return list(results)


def _rewritten(program: Program) -> str:
    """Why gradients say nothing where the call may write, unnoticed, what the caller's own graph has saved."""
    hides = program.setup and hides_writes(program)
    return "a write through .data changes what the caller's graph has saved" if hides else ""


def _meaning(descriptor: Any, result: Any, found: Outputs, eager: Eager, blurred: str) -> Meaning:
    """One output beside what it stands for in eager. A gradient, or a piece of one, is what of it reaches its input."""
    reason = blurred or _not_judged(descriptor, eager)
    if reason:
        return Meaning(descriptor, None, result, reason)
    gradient = gradient_in(descriptor)
    if gradient is not None and gradient.grad_of in found.gradients:
        result = _value_or_error(descriptor, found, eager.fresh, result)
    return Meaning(descriptor, _value_or_error(descriptor, eager.outputs, eager.fresh, result), result)


def _not_judged(descriptor: Any, eager: Eager) -> str:
    """Why eager says nothing about an output; empty if it does."""
    if kind_of(descriptor).endswith("TokenAOTOutput"):
        return BY_EFFECTS
    if not any(kind_of(part) in OUTPUTS for part in chain(descriptor)):
        return "its kind does not say what it stands for"
    gradient = gradient_in(descriptor)
    if gradient is None or gradient.grad_of in eager.outputs.gradients:
        return ""
    with suppress(Meaningless):
        if eager.fresh.value(gradient.grad_of).requires_grad:
            return "no gradient arrives at a view taken under no_grad, or written by the call"
    return ""


def _value_or_error(descriptor: Any, outputs: Outputs, fresh: Inputs, in_graph: Any) -> Any:
    """What a descriptor stands for, detached; the error where there is nothing; None for the pieces of no gradient."""
    gradient = gradient_in(descriptor)
    try:
        if gradient is not None and outputs.value(gradient) is None:
            return None
        value = as_the_graph_has_it(descriptor, outputs, fresh, in_graph)
    except Meaningless as error:
        return error
    return value.detach() if isinstance(value, torch.Tensor) else value


def _zeros_for_none(value: Any, other: Any) -> Any:
    return torch.zeros_like(other) if value is None and isinstance(other, torch.Tensor) else value
