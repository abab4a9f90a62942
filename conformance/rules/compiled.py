"""Chapter C: what the graph compiled back does, beside eager.

One table says which requirement a differing fact belongs to. A rule looks at the differences that are its.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.case import Case
from conformance.difference import Difference, differences
from conformance.observation import Raised
from conformance.refusals import documented
from conformance.rule import Complaint, rule
from conformance.signature import frame_of
from generators.variants import OTHER_SIZES

#: (requirement, scenarios, paths): the first row that matches ``scenario:path`` in full owns the fact.
OWNERS: tuple[tuple[str, str, str], ...] = (
    ("C16", r"larger|smaller", r".*"),
    ("C8", r"overwritten", r".*"),
    ("C14", r".*", r"effects\..*"),
    ("C1", r"train", r"outputs\.structure"),
    ("C6", r"train|written|written_no_grad", r"error"),
    ("C3", r"train|again|alone\d|one_by_one", r"grads\..*|outputs\[\d+\]\.grad\..*"),
    ("C3", r"alone\d|one_by_one", r"error"),
    ("C5", r"train", r".*\.(is|shares|base)"),
    ("C5", r"written|written_no_grad", r".*"),
    ("C13", r"train", r"rng\..*"),
    ("C4", r"train", r"caller\..*"),
    ("C2", r"train", r"outputs\[.*"),
    ("C7", r".*", r".*"),
)

#: The requirements whose values are those of C13 where they hang on the generator.
HOLD_SAMPLES = frozenset({"C2", "C3", "C4", "C7"})

_PATTERNS = [(owner, re.compile(f"({scenario}):({path})")) for owner, scenario, path in OWNERS]


def owner_of(scenario: str, path: str) -> str:
    """The requirement that a fact belongs to."""
    return next(owner for owner, pattern in _PATTERNS if pattern.fullmatch(f"{scenario}:{path}"))


def was_called(case: Case) -> bool:
    """Whether eager and the compiled callable both went through "train" without an error."""
    return bool(case.compiled) and not case.eager["train"]["error"] and not case.compiled["train"]["error"]


def _has_gradients(case: Case) -> bool:
    return was_called(case) and any(path.startswith("grads.") for path in case.eager["train"])


def _holds_tensors(case: Case) -> bool:
    return was_called(case) and any(path.startswith("caller.") for path in case.eager["train"])


def _owned(case: Case, requirement: str) -> Iterator[Complaint]:
    for scenario, difference in case.differences:
        if _owner(case, scenario, difference.path) == requirement and not _is_documented(case, scenario, difference):
            found: object = case.compiled[scenario]["error"] if difference.path == "error" else None
            yield f"{scenario}:{difference.path}", difference.expected, found or difference.found


def _owner(case: Case, scenario: str, path: str) -> str:
    """As in the table, but for values that hang on the generator: they are samples and masks."""
    owner = owner_of(scenario, path)
    return "C13" if owner in HOLD_SAMPLES and (scenario, path) in case.random else owner


def _is_documented(case: Case, scenario: str, difference: Difference) -> bool:
    error = case.compiled[scenario]["error"]
    return difference.path == "error" and isinstance(error, Raised) and documented(error.error) is not None


@rule("C1", was_called)
def the_users_structure_comes_back(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C1")


@rule("C2", was_called)
def outputs_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C2")


@rule("C3", _has_gradients)
def gradients_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C3")


@rule("C4", _holds_tensors)
def inputs_are_left_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C4")


@rule("C5", was_called)
def aliasing_is_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C5")


@rule("C6", lambda case: bool(case.eager) and bool(case.eager["train"]["error"] or case.refusal or case.compiled))
def errors_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    eager = case.eager["train"]["error"]
    raised = case.refusal or (case.compiled["train"]["error"] if case.compiled else None)
    if eager and raised and is_internal(raised.error) and type(raised.error) is not type(eager.error):
        yield f"{raised.stage}:message", f"a message for the user, as {eager!r}", raised
    if case.refusal and not eager and documented(case.refusal.error) is None:
        yield f"{case.refusal.stage}:error", "no error, as in eager", case.refusal
    yield from _owned(case, "C6")


def is_internal(error: BaseException) -> bool:
    """Whether the error is an assertion or slip inside the implementation, not a word to the user.

    An op's own check of its operands, in its meta function or decomposition, is a word to the user, whatever
    its type; an assertion of the pipeline around it is not.
    """
    slips = (AssertionError, AttributeError, KeyError, UnboundLocalError, NameError, ZeroDivisionError)
    inside_an_op = frame_of(error).startswith(("_decomp/", "_refs/", "_prims", "_meta_registrations"))
    return (isinstance(error, slips) and not inside_an_op) or "INTERNAL ASSERT" in str(error)


@rule("C7", was_called)
def calls_after_the_first_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C7")


@rule("C8", lambda case: was_called(case) and "overwritten" in case.compiled)
def saved_activations_are_guarded(case: Case) -> Iterator[Complaint]:
    """Where eager refuses to go on with what was written, the gradients may also be those of the unwritten values."""
    for path, expected, found in _owned(case, "C8"):
        if path == "overwritten:error" and case.eager["overwritten"]["error"]:
            yield from _gradients_of_written_values(case)
        else:
            yield path, expected, found


def _gradients_of_written_values(case: Case) -> Iterator[Complaint]:
    for difference in differences(case.compiled["train"], case.compiled["overwritten"], case.unjudged):
        if difference.path.startswith("grads."):
            yield f"overwritten:{difference.path}", f"an error as in eager, or {difference.expected}", difference.found


@rule("C13", was_called)
def random_numbers_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C13")


def _has_effects(case: Case) -> bool:
    """Whether eager or the compiled callable performed any in "train"."""
    sides = [facts["train"] for facts in (case.eager, case.compiled)]
    told = [facts.get(f"effects.{stage}") for facts in sides for stage in ("forward", "backward")]
    return any(told)


@rule("C14", lambda case: was_called(case) and _has_effects(case))
def effects_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C14")


@rule("C16", lambda case: was_called(case) and bool(OTHER_SIZES.keys() & case.compiled.keys()))
def other_sizes_are_as_in_eager(case: Case) -> Iterator[Complaint]:
    yield from _owned(case, "C16")
