"""Chapter P, the structure: which descriptor may wrap which. What calls for a descriptor at all is in causes.py.

Descriptors are told apart by their documented names alone, so that any implementation's classes will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.graph import PIECES, chain, kind_of, output_descriptors, placeholder_descriptors, wrapped
from conformance.rule import Complaint, has_joint, rule

PRIMALS = frozenset({"PlainAOTInput", "ParamAOTInput", "BufferAOTInput"})
BASES = frozenset({"ViewBaseAOTInput", "SyntheticBaseAOTInput"})
NUMBERS = frozenset(kind for kind in PIECES if "GetAttr" not in kind)
FORWARD_TOKENS = frozenset({"ForwardTokenAOTInput", "ForwardTokenAOTOutput"})
BACKWARD_TOKENS = frozenset({"BackwardTokenAOTInput", "BackwardTokenAOTOutput"})
TOKENS = FORWARD_TOKENS | BACKWARD_TOKENS
PHILOX = frozenset(
    {
        *(f"Philox{way}{what}AOTInput" for way in ("Forward", "Backward") for what in ("Seed", "BaseOffset")),
        *(f"PhiloxUpdated{way}OffsetAOTOutput" for way in ("Forward", "Backward")),
    }
)
DUMMIES = frozenset({"DummyAOTInput", "DummyAOTOutput"})
SAVED = frozenset({"SavedForBackwardsAOTOutput", "SavedForBackwardsNoVcCheckAOTOutput"})

#: The pipeline from top to bottom: what wraps comes from a later stage than what is wrapped. Bases stand before
#: mutations, since the mutated input may be a base; both are stage 2 of the documents.
STAGES: tuple[frozenset[str], ...] = (
    PRIMALS | {"PlainAOTOutput"},
    BASES,
    frozenset({"InputMutationAOTOutput", "IntermediateBaseAOTOutput", "MetadataMutationAOTOutput"}),
    frozenset({"TangentAOTInput", "GradAOTOutput"}),
    PIECES,
    TOKENS,
)
STAGE: dict[str, int] = {kind: stage for stage, kinds in enumerate(STAGES) for kind in kinds}

#: What these may wrap, exactly.
MAY_WRAP: dict[str, frozenset[str]] = {
    **dict.fromkeys(BASES, PRIMALS),
    "InputMutationAOTOutput": PRIMALS | BASES,
    "IntermediateBaseAOTOutput": frozenset({"PlainAOTOutput"}),
}

#: What never occurs anywhere inside what.
NEVER_INSIDE: dict[str, frozenset[str]] = {
    "TangentAOTInput": PIECES | {"GradAOTOutput"},
    "GradAOTOutput": PIECES | {"TangentAOTInput"},
}

_ENDS = STAGES[0] | {"MetadataMutationAOTOutput"} | TOKENS | PHILOX | DUMMIES | SAVED


def descriptors_on(case: Case) -> Iterator[tuple[str, Any]]:
    """Every descriptor on the joint graph with its place: ``input 2``, ``output 0``."""
    for index, descriptor in enumerate(placeholder_descriptors(case.joint)):
        yield f"input {index}", descriptor
    for index, descriptor in enumerate(output_descriptors(case.joint)):
        yield f"output {index}", descriptor


def parts_on(case: Case) -> Iterator[tuple[str, Any]]:
    """Every descriptor on the joint graph, and each that is wrapped in it, with its place."""
    for place, descriptor in descriptors_on(case):
        for part in chain(descriptor):
            yield place, part


@rule("P1", has_joint)
def descriptors_are_built_top_to_bottom(case: Case) -> Iterator[Complaint]:
    """What a descriptor wraps comes from an earlier stage of the pipeline; only pieces of subclasses nest."""
    for place, part in parts_on(case):
        kind, inner = kind_of(part), wrapped(part)
        if inner is None:
            if kind not in _ENDS:
                yield place, "a documented descriptor around another one", part
        elif not _derivable(kind, kind_of(inner)):
            yield place, f"{kind} of an earlier stage", f"{kind} of {kind_of(inner)}: {part!r}"


def _derivable(kind: str, inner: str) -> bool:
    if kind not in STAGE or inner not in STAGE:
        return False
    return STAGE[inner] < STAGE[kind] or (kind in PIECES and inner in PIECES)


@rule("P2", has_joint)
def autograd_comes_once_and_before_subclasses(case: Case) -> Iterator[Complaint]:
    """No tangent or gradient of a subclass piece, no tangent of a gradient, no gradient of a tangent."""
    for place, part in parts_on(case):
        never = NEVER_INSIDE.get(kind_of(part), frozenset())
        for inner in list(chain(part))[1:]:
            if kind_of(inner) in never:
                yield place, f"no {kind_of(inner)} inside a {kind_of(part)}", part


@rule("P3", has_joint)
def nothing_wraps_what_is_no_tensor(case: Case) -> Iterator[Complaint]:
    """Sizes and strides, tokens, Philox values and dummies are never wrapped."""
    for place, part in parts_on(case):
        inner = kind_of(wrapped(part))
        if inner in NUMBERS | TOKENS | PHILOX | DUMMIES:
            yield place, f"nothing around a {inner}", part


@rule("P4", has_joint)
def no_dummies_and_nothing_saved(case: Case) -> Iterator[Complaint]:
    """A joint graph is exported, so it has no dummies, and not partitioned, so nothing is saved for backward."""
    for place, part in parts_on(case):
        if kind_of(part) in DUMMIES | SAVED:
            yield place, f"no {kind_of(part)} on a joint graph", part


@rule("P5", has_joint)
def bases_and_mutations_wrap_what_they_may(case: Case) -> Iterator[Complaint]:
    """Bases are of primals, mutations of primals and bases, intermediate bases of plain outputs."""
    for place, part in parts_on(case):
        allowed = MAY_WRAP.get(kind_of(part))
        if allowed is not None and kind_of(wrapped(part)) not in allowed:
            yield place, f"{kind_of(part)} of {' or '.join(sorted(allowed))}", part
