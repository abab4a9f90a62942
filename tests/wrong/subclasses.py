"""Implementations that take subclasses apart, or put them together, wrongly."""

from __future__ import annotations

from typing import Any

import torch._functorch._aot_autograd.descriptors as d

from conformance.graph import flat_results, output_descriptors
from conformance.implementation import Joint
from generators.program import Program
from tests import programs
from tests.wrong.base import Wrong, set_results
from tests.wrong.graph import DUMMY, SECOND, Spoil, both, inputs_swapped, results_swapped
from tests.wrong.pipeline import GRAD, OUTPUT, PLAIN, TANGENT, Spoilt, inputs, more_inputs, more_results, results
from tests.wrong.soundness import val


def of_input(base: Any, *names: str) -> Any:
    """The piece of an input that the attributes lead to."""
    for name in names:
        base = d.SubclassGetAttrAOTInput(base, name)
    return base


def of_output(base: Any, *names: str) -> Any:
    """The piece of an output that the attributes lead to."""
    for name in names:
        base = d.SubclassGetAttrAOTOutput(base, name)
    return base


def first_result(descriptor: Any) -> Spoil:
    """One more output, before all others."""

    def spoil(joint: Joint) -> None:
        results = flat_results(joint)
        set_results(joint, [results[0], *results], [descriptor, *output_descriptors(joint)])

    return spoil


def lost(base: Any) -> Spoil:
    """Both pieces of an input gone."""
    return both(inputs(of_input(base, "a"), DUMMY), inputs(of_input(base, "b"), d.DummyAOTInput(1)))


def not_returned(base: Any) -> Spoil:
    """Both pieces of an output gone."""
    return both(results(of_output(base, "a"), None), results(of_output(base, "b"), None))


PAIRS, NESTED, WEIGHT = programs.SUBCLASSES, programs.NESTED_SUBCLASS, d.ParamAOTInput("weight")
MUTATION = d.InputMutationAOTOutput(PLAIN)
_SIZE, _STRIDE = d.SubclassSizeAOTOutput(OUTPUT, 0), d.SubclassStrideAOTOutput(OUTPUT, 0)

_SPOILS: tuple[tuple[str, str, Spoil, Program], ...] = (
    ("J5", "all pieces of an input lost", lost(PLAIN), PAIRS),
    ("J5", "all pieces of an output lost", not_returned(OUTPUT), PAIRS),
    ("J6", "no tangent of a subclass", lost(TANGENT), PAIRS),
    ("J6", "no gradient of a subclass", not_returned(GRAD), PAIRS),
    ("J6", "a gradient of a subclass without", more_results(of_output(GRAD, "a")), programs.SUBCLASS_MUTATED),
    ("J6", "a subclass' gradient in pieces and as a whole", more_results(GRAD), PAIRS),
    ("J6", "a tangent of no subclass output", more_inputs(of_input(d.TangentAOTInput(d.PlainAOTOutput(7)), "a")), PAIRS),
    ("J7", "a piece is missing", inputs(of_input(PLAIN, "b"), DUMMY), PAIRS),
    ("J7", "a piece too many", more_inputs(of_input(PLAIN, "c")), PAIRS),
    ("J7", "a piece twice", more_inputs(of_input(PLAIN, "a")), PAIRS),
    ("J7", "pieces out of order", inputs_swapped(of_input(PLAIN, "a"), of_input(PLAIN, "b")), PAIRS),
    ("J7", "a piece under another name", inputs(of_input(PLAIN, "a"), of_input(PLAIN, "first")), PAIRS),
    ("J7", "a whole in the place of a piece", inputs(of_input(PLAIN, "a"), PLAIN), PAIRS),
    ("J7", "pieces of two inputs in turn", inputs_swapped(of_input(PLAIN, "b"), of_input(SECOND, "a")), PAIRS),
    ("J7", "a subclass inside one is taken for a tensor", inputs(of_input(PLAIN, "a", "b"), of_input(PLAIN, "a")), NESTED),
    ("J7", "inner pieces out of order", inputs_swapped(of_input(PLAIN, "b", "a"), of_input(PLAIN, "b", "b")), NESTED),
    ("J7", "outer pieces out of order", inputs_swapped(of_input(PLAIN, "a", "b"), of_input(PLAIN, "b", "a")), NESTED),
    ("J7", "a parameter's piece under another name", inputs(of_input(WEIGHT, "inner"), of_input(WEIGHT, "a")),
     programs.SUBCLASS_PARAMETER),
    ("J7", "a piece of a plain input", inputs(PLAIN, of_input(PLAIN, "a")), programs.SUBCLASS_PARAMETER),
    ("J7", "pieces of a tangent out of order", inputs_swapped(of_input(TANGENT, "a"), of_input(TANGENT, "b")), PAIRS),
    ("J7", "a piece of a tangent is missing", inputs(of_input(TANGENT, "b"), DUMMY), PAIRS),
    ("J7", "pieces of an output out of order", results_swapped(of_output(OUTPUT, "a"), of_output(OUTPUT, "b")), PAIRS),
    ("J7", "a piece of an output is missing", results(of_output(OUTPUT, "b"), None), PAIRS),
    ("J7", "pieces of a mutation out of order", results_swapped(of_output(MUTATION, "a"), of_output(MUTATION, "b")),
     programs.SUBCLASS_MUTATED),
    ("J7", "pieces of a gradient out of order", results_swapped(of_output(GRAD, "a"), of_output(GRAD, "b")), PAIRS),
    ("J7", "a piece of a gradient is missing", results(of_output(GRAD, "a"), None), PAIRS),
    ("J7", "a size that is not symbolic", more_inputs(d.SubclassSizeAOTInput(PLAIN, 0)), PAIRS),
    ("J7", "a size of a tangent", more_inputs(d.SubclassSizeAOTInput(TANGENT, 0)), PAIRS),
    ("J7", "a size of an output without symbols", more_results(_SIZE), PAIRS),
    ("J7", "a size before the attributes", first_result(_SIZE), programs.SYMBOLIC_SUBCLASS),
    ("J7", "a stride before the attributes", first_result(_STRIDE), programs.SYMBOLIC_SUBCLASS),
    ("J7", "a stride before a size", both(more_results(_STRIDE), more_results(_SIZE)), programs.SYMBOLIC_SUBCLASS),
    ("J11", "a piece of another shape", val(of_input(PLAIN, "b"), lambda x: x[:1]), PAIRS),
    ("J11", "a piece of another stride", val(of_input(PLAIN, "b"), lambda x: x.t().contiguous().t()), PAIRS),
    ("J11", "a piece of a piece of another dtype", val(of_input(PLAIN, "b", "a"), lambda x: x.double()), NESTED),
    ("J11", "a tangent's piece of another dtype", val(of_input(TANGENT, "a"), lambda x: x.double()), PAIRS),
    ("J11", "a gradient's piece of another shape", val(of_output(GRAD, "a"), lambda x: x[:1]), PAIRS),
    ("P6", "a piece that its class does not have", inputs(of_input(PLAIN, "a"), of_input(PLAIN, "c")), PAIRS),
    ("P6", "a piece of a plain tensor beside a subclass", inputs(PLAIN, of_input(PLAIN, "a")), programs.SUBCLASS_PARAMETER),
    ("P6", "a size of a plain tensor", more_inputs(d.SubclassSizeAOTInput(PLAIN, 0)), programs.SUBCLASS_PARAMETER),
    ("P6", "no mutation of a subclass", not_returned(MUTATION), programs.SUBCLASS_MUTATED),
)  # fmt: skip

WRONG: tuple[Wrong, ...] = tuple(
    Wrong(rule, title, lambda spoil=spoil: Spoilt(spoil), program)  # type: ignore[misc]
    for rule, title, spoil, program in _SPOILS
)
