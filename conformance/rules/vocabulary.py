"""Chapter D: the descriptor classes, judged by what the reference says of each, without any graph."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from conformance.rule import Complaint, vocabulary_rule


@dataclass(frozen=True)
class Kind:
    """One row of the reference table: an example as Python in the namespace, and what is documented of it.

    ``true`` is the predicate that holds, if any. ``since`` is the first torch version that has the class.
    """

    example: str
    expr: str
    differentiable: bool = False
    true: str = ""
    since: str = "2.9"

    @property
    def name(self) -> str:
        """The class name, which tells the side: ..AOTInput or ..AOTOutput."""
        return self.example.partition("(")[0]


#: Every descriptor of the reference (torch/_functorch/_aot_autograd/descriptors.py), 16 inputs and 15 outputs.
KINDS: tuple[Kind, ...] = (
    Kind("PlainAOTInput(0)", "args[0]", differentiable=True),
    Kind("ParamAOTInput('mod.weight')", "self.get_parameter('mod.weight')", differentiable=True, true="is_param"),
    Kind("BufferAOTInput('mod.count')", "self.get_buffer('mod.count')", differentiable=True, true="is_buffer"),
    Kind("TangentAOTInput(PlainAOTOutput(1))", "__output_tangent(output[1])", differentiable=True, true="is_tangent"),
    Kind("ViewBaseAOTInput(PlainAOTInput(0))", "args[0]._base", differentiable=True),
    Kind("SyntheticBaseAOTInput(PlainAOTInput(0))", "__make_synthetic_base(args[0])", differentiable=True),
    Kind("SubclassGetAttrAOTInput(PlainAOTInput(0), 'inner')", "args[0].inner"),
    Kind("SubclassSizeAOTInput(PlainAOTInput(0), 1)", "args[0].size(1)"),
    Kind("SubclassStrideAOTInput(PlainAOTInput(0), 1)", "args[0].stride(1)"),
    Kind("PhiloxForwardSeedAOTInput()", "__philox_forward_seed"),
    Kind("PhiloxForwardBaseOffsetAOTInput()", "__philox_forward_base_offset"),
    Kind("PhiloxBackwardSeedAOTInput()", "__philox_backward_seed"),
    Kind("PhiloxBackwardBaseOffsetAOTInput()", "__philox_backward_base_offset"),
    Kind("ForwardTokenAOTInput(0)", "__forward_token0"),
    Kind("BackwardTokenAOTInput(0)", "__backward_token0"),
    Kind("DummyAOTInput(0)", "__dummy0"),
    Kind("PlainAOTOutput(0)", "output[0]", differentiable=True),
    Kind("GradAOTOutput(PlainAOTInput(0))", "__grad(args[0])", differentiable=True, true="is_grad"),
    Kind("InputMutationAOTOutput(PlainAOTInput(0))", "__input_mutation(args[0])", differentiable=True),
    Kind("IntermediateBaseAOTOutput(PlainAOTOutput(0))", "__intermediate_base(output[0])", differentiable=True),
    Kind("MetadataMutationAOTOutput(0)", "__aliased_arg_with_metadata_mutation0", differentiable=True),
    Kind("SubclassGetAttrAOTOutput(PlainAOTOutput(0), 'inner')", "output[0].inner"),
    Kind("SubclassSizeAOTOutput(PlainAOTOutput(0), 1)", "output[0].size(1)"),
    Kind("SubclassStrideAOTOutput(PlainAOTOutput(0), 1)", "output[0].stride(1)"),
    Kind("PhiloxUpdatedForwardOffsetAOTOutput()", "__philox_updated_forward_offset"),
    Kind("PhiloxUpdatedBackwardOffsetAOTOutput()", "__philox_updated_backward_offset"),
    Kind("ForwardTokenAOTOutput(0)", "__forward_token0"),
    Kind("BackwardTokenAOTOutput(0)", "__backward_token0"),
    Kind("SavedForBackwardsAOTOutput(0)", "__saved_for_backwards_0"),
    Kind("SavedForBackwardsNoVcCheckAOTOutput(0)", "__saved_for_backwards_no_vc_check_0", since="2.10"),
    Kind("DummyAOTOutput(0)", "__dummy0"),
)

#: Descriptors inside descriptors: other fields, two sides, pieces of pieces.
NESTED: tuple[Kind, ...] = (
    Kind(
        "SubclassGetAttrAOTInput(SubclassGetAttrAOTInput(ParamAOTInput('w'), 'a'), 'b')",
        "self.get_parameter('w').a.b",
        true="is_param",
    ),
    Kind("SubclassGetAttrAOTInput(BufferAOTInput('w'), 'a')", "self.get_buffer('w').a", true="is_buffer"),
    Kind(
        "SubclassGetAttrAOTInput(SubclassGetAttrAOTInput(TangentAOTInput(PlainAOTOutput(0)), 'a'), 'b')",
        "__output_tangent(output[0]).a.b",
        true="is_tangent",
    ),
    Kind(
        "SubclassGetAttrAOTOutput(SubclassGetAttrAOTOutput(GradAOTOutput(ParamAOTInput('w')), 'a'), 'b')",
        "__grad(self.get_parameter('w')).a.b",
        true="is_grad",
    ),
    Kind(
        "TangentAOTInput(InputMutationAOTOutput(ViewBaseAOTInput(BufferAOTInput('w'))))",
        "__output_tangent(__input_mutation(self.get_buffer('w')._base))",
        differentiable=True,
        true="is_tangent",
    ),
    Kind(
        "GradAOTOutput(SyntheticBaseAOTInput(PlainAOTInput(12)))",
        "__grad(__make_synthetic_base(args[12]))",
        differentiable=True,
        true="is_grad",
    ),
    Kind("SubclassSizeAOTInput(SubclassGetAttrAOTInput(PlainAOTInput(2), 'a'), 0)", "args[2].a.size(0)"),
    Kind("SubclassStrideAOTOutput(SubclassGetAttrAOTOutput(PlainAOTOutput(2), 'a'), 0)", "output[2].a.stride(0)"),
)

PREDICATES = {"AOTInput": ("is_param", "is_buffer", "is_tangent"), "AOTOutput": ("is_grad",)}


def side(kind: Kind) -> str:
    """The base class that a kind derives from, by its name."""
    return "AOTInput" if kind.name.endswith("AOTInput") else "AOTOutput"


def expected_kinds() -> list[Kind]:
    """The rows of the reference table that the installed torch should have."""
    return [kind for kind in KINDS if torch.__version__ >= kind.since]


def attempt(function: Callable[..., Any], *args: Any) -> Any:
    """What the call gives, or the exception that it raises."""
    try:
        return function(*args)
    except Exception as error:
        return error


def instance(namespace: Any, source: str) -> Any:
    """The descriptor that ``source`` writes in ``namespace``, or the exception instead."""
    return attempt(eval, source, {name: getattr(namespace, name) for name in dir(namespace)})


def base(namespace: Any, name: str) -> Any:
    """The class of that name, or what nothing is an instance of."""
    return getattr(namespace, name, ())


def instances(namespace: Any, kinds: tuple[Kind, ...] = (*KINDS, *NESTED)) -> Iterator[tuple[Kind, Any]]:
    """Each kind with its example: those that can't be made are the business of D1 alone."""
    for kind in kinds:
        made = instance(namespace, kind.example)
        if not isinstance(made, Exception):
            yield kind, made


@vocabulary_rule("D1")
def every_descriptor_is_a_frozen_dataclass(namespace: Any) -> Iterator[Complaint]:
    """Each class is there, derives from the base of its side, is frozen, and compares by its fields."""
    for kind in expected_kinds():
        made, twin = instance(namespace, kind.example), instance(namespace, kind.example)
        if isinstance(made, Exception):
            yield kind.name, "a descriptor class", f"{type(made).__name__}: {made}"
            continue
        if not isinstance(made, base(namespace, side(kind))) or not dataclasses.is_dataclass(made):
            yield kind.name, f"a dataclass derived from {side(kind)}", type(made).__mro__
        if made != twin or attempt(hash, made) != attempt(hash, twin):
            yield kind.name, "equal fields, equal descriptors and hashes", (made, twin)
        field = _a_field_of(made)
        if not isinstance(attempt(setattr, twin, field, None), Exception):
            yield kind.name, "assigning a field raises", f"{field} was assigned"
    yield from _confused(list(instances(namespace)))


def _a_field_of(descriptor: Any) -> str:
    """The name of its first field; any name will do for one that has none."""
    return next(iter(getattr(descriptor, "__dataclass_fields__", ())), "idx")


def _confused(made: list[tuple[Kind, Any]]) -> Iterator[Complaint]:
    """Different examples that compare equal."""
    for index, (kind, one) in enumerate(made):
        for _, other in made[:index]:
            if one == other:
                yield kind.name, f"not equal to {other!r}", f"{one!r} is"


@vocabulary_rule("D2")
def expressions_are_as_documented(namespace: Any) -> Iterator[Complaint]:
    """``expr()`` of each example, nested ones included; the bases have none."""
    for kind, made in instances(namespace):
        found = attempt(made.expr)
        if found != kind.expr:
            yield f"{kind.example}.expr()", kind.expr, found
    for name in PREDICATES:
        found = instance(namespace, f"{name}().expr()")
        if not isinstance(found, NotImplementedError):
            yield f"{name}().expr()", "NotImplementedError", found


@vocabulary_rule("D3")
def predicates_are_true_where_documented(namespace: Any) -> Iterator[Complaint]:
    """Each predicate of its side on each example; pieces of a subclass answer as what they are a piece of."""
    for kind, made in instances(namespace):
        for predicate in PREDICATES[side(kind)]:
            found = attempt(getattr(made, predicate))
            if found is not (predicate == kind.true):
                yield f"{kind.example}.{predicate}()", predicate == kind.true, found


@vocabulary_rule("D4")
def autograd_wraps_only_what_is_differentiable(namespace: Any) -> Iterator[Complaint]:
    """Tangent and Grad take each differentiable descriptor of the other side, and refuse everything else."""
    for wrapper, of in (("TangentAOTInput", "AOTOutput"), ("GradAOTOutput", "AOTInput")):
        for kind, made in instances(namespace):
            found = attempt(base(namespace, wrapper), made)
            if kind.differentiable and side(kind) == of:
                if isinstance(found, Exception):
                    yield f"{wrapper}({kind.example})", "accepted", found
            elif not isinstance(found, AssertionError):
                yield f"{wrapper}({kind.example})", "AssertionError", found


@vocabulary_rule("D5")
def differentiable_classes_classify(namespace: Any) -> Iterator[Complaint]:
    """DifferentiableAOTInput and -Output have exactly the tensors other than pieces of subclasses as subclasses."""
    for kind, made in instances(namespace):
        for of in PREDICATES:
            expected = kind.differentiable and side(kind) == of
            if isinstance(made, base(namespace, f"Differentiable{of}")) is not expected:
                yield kind.example, f"a Differentiable{of}: {expected}", not expected


@vocabulary_rule("D6")
def descriptors_survive_copies(namespace: Any) -> Iterator[Complaint]:
    """Written by ``repr`` and read again, pickled and deep-copied, a descriptor is equal to itself."""
    ways: dict[str, Callable[[Any], Any]] = {
        "eval(repr(...))": lambda made: instance(namespace, repr(made)),
        "pickle": lambda made: pickle.loads(pickle.dumps(made)),
        "deepcopy": copy.deepcopy,
    }
    for kind, made in instances(namespace):
        for way, through in ways.items():
            found = attempt(through, made)
            if type(found) is not type(made) or found != made:
                yield f"{way} of {kind.example}", made, found
