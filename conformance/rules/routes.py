"""Chapter C, the other ways to a callable (C9-C12, C15, C17), each beside the plain compile; and J20.

What each route is, and what is due on it, is in conformance/routes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.case import Case
from conformance.difference import NEAR_MISS, differences, same
from conformance.observation import Facts
from conformance.refusals import documented
from conformance.routes import ROUTES, Route
from conformance.rule import Complaint, rule
from conformance.rules.compiled import is_internal


def _taken(requirement: str) -> Callable[[Case], bool]:
    """Whether the case was on a route of that requirement."""
    return lambda case: any(requirement in ROUTES[name].requirements for name in case.routes)


def _strayed(case: Case, requirement: str) -> Iterator[Complaint]:
    """What each route of the requirement shows that is not due on it."""
    for name, facts in case.routes.items():
        if requirement in ROUTES[name].requirements and not _may_end_so(ROUTES[name], facts):
            yield from _complaints(case, ROUTES[name], facts)


def _complaints(case: Case, route: Route, facts: Facts) -> Iterator[Complaint]:
    expected = route.expected(case)
    for difference in differences(expected, facts, case.unjudged):
        path = difference.path
        # A route runs the same ops, at most in another order: what rounding makes of that is no fault of the route.
        if path == "error" or not same(expected[path], facts[path], NEAR_MISS):
            yield f"{route.name}:{path}", difference.expected, facts["error"] or difference.found


def _may_end_so(route: Route, facts: Facts) -> bool:
    """Whether the route ended in an error that is right there: a clear one, or one that PyTorch documents."""
    raised = facts["error"]
    if raised is None:
        return False
    return documented(raised.error) is not None or (route.may_refuse and not is_internal(raised.error))


@rule("C9", _taken("C9"))
def the_callers_functions_are_used(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C9")


@rule("C10", _taken("C10"))
def the_callable_can_be_compiled_again(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C10")


@rule("C11", _taken("C11"))
def what_was_saved_computes_the_same(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C11")


@rule("C12", _taken("C12"))
def passes_may_edit_the_graph(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C12")


@rule("C15", _taken("C15"))
def a_closed_stack_gives_no_wrong_result(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C15")


@rule("C17", _taken("C17"))
def a_second_compile_gives_no_wrong_result(case: Case) -> Iterator[Complaint]:
    yield from _strayed(case, "C17")


def _counted_outputs(case: Case) -> tuple[object, object] | None:
    """The number of forward outputs that a partition was given, and that of the leading outputs; None without both."""
    facts = case.routes.get("caller's functions", {})
    given, leading = facts.get("num_fwd_outputs"), facts.get("leading outputs")
    return None if given is None or leading is None else (given, leading)


@rule("J20", lambda case: _counted_outputs(case) is not None)
def the_partition_is_given_the_number_of_leading_outputs(case: Case) -> Iterator[Complaint]:
    counted = _counted_outputs(case)
    if counted is not None and counted[0] != counted[1]:
        yield "num_fwd_outputs", f"{counted[1]}, as many outputs as stand before the gradients", counted[0]
