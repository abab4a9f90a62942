"""Chapter S: descriptors mean what they say. specification.py runs the graph from them alone, rules look at what it gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from conformance.case import Case
from conformance.described import gradient_in
from conformance.difference import brief, same
from conformance.graph import PIECES, chain, kind_of
from conformance.rule import Complaint, rule
from conformance.specification import Meaning


def was_specified(case: Case) -> bool:
    """Whether the graph was run from its descriptors."""
    return case.meaning is not None


def has_run(case: Case) -> bool:
    """Whether that gave outputs."""
    return case.meaning is not None and bool(case.meaning.outputs)


def is_piece(descriptor: Any) -> bool:
    """Whether an output is a piece of a subclass, or one of its sizes or strides."""
    return kind_of(descriptor) in PIECES


def _has(wanted: Callable[[Any], bool]) -> Callable[[Case], bool]:
    return lambda case: has_run(case) and any(wanted(m.descriptor) and not m.reason for m in case.meaning.outputs)  # type: ignore[union-attr]


def named(descriptor: Any) -> str:
    """A descriptor by its kinds, from the outside in."""
    return " of ".join(map(kind_of, chain(descriptor))) or "no descriptor"


def _is_plain(descriptor: Any) -> bool:
    return not is_piece(descriptor) and gradient_in(descriptor) is None


def _is_gradient(descriptor: Any) -> bool:
    return not is_piece(descriptor) and gradient_in(descriptor) is not None


def _complaints(case: Case, wanted: Callable[[Any], bool]) -> Iterator[Complaint]:
    for place, meaning in enumerate(case.meaning.outputs):  # type: ignore[union-attr]
        if wanted(meaning.descriptor) and not meaning.holds:
            yield _complaint(f"output {place}: {named(meaning.descriptor)}", meaning)


def _complaint(path: str, meaning: Meaning) -> Complaint:
    expected, found = _type_of(meaning.expected), _type_of(meaning.found)
    if expected != found:
        return f"{path}.type", expected, found
    return f"{path}.value", brief(meaning.expected), brief(meaning.found)


def _type_of(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} tensor of shape {tuple(value.shape)}"
    return str(value) if isinstance(value, Exception) else type(value).__name__


@rule("S1", was_specified)
def the_graph_takes_what_its_descriptors_say(case: Case) -> Iterator[Complaint]:
    assert case.meaning is not None
    for place, error in case.meaning.absent:
        yield f"input {place}: {named(case.meaning.inputs[place])}", "a value that it stands for", str(error)
    if case.meaning.error is not None:
        yield "graph", "no error", case.meaning.error


@rule("S2", _has(_is_plain))
def outputs_are_what_their_descriptors_say(case: Case) -> Iterator[Complaint]:
    yield from _complaints(case, _is_plain)


@rule("S3", _has(_is_gradient))
def gradients_are_those_of_their_inputs(case: Case) -> Iterator[Complaint]:
    yield from _complaints(case, _is_gradient)


@rule("S4", _has(is_piece))
def pieces_make_up_the_subclass(case: Case) -> Iterator[Complaint]:
    yield from _complaints(case, is_piece)


def _has_effects(case: Case) -> bool:
    """Whether any effect was told, of eager or of the graph."""
    return case.meaning is not None and bool(case.meaning.expected_effects or case.meaning.effects)


@rule("S5", _has_effects)
def effects_are_performed_once_and_in_order(case: Case) -> Iterator[Complaint]:
    assert case.meaning is not None
    expected, found = case.meaning.expected_effects, case.meaning.effects
    if [name for name, _ in expected] != [name for name, _ in found]:
        yield "effects", [name for name, _ in expected], [name for name, _ in found]
    for (name, told), (_, also_told) in zip(expected, found):
        if not same(told, also_told):
            yield f"effect {name}.value", told, also_told
