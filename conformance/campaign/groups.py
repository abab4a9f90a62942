"""Failures put together: one group for each distinct fault, as far as its signature tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.campaign.symptoms import symptom_of
from conformance.campaign.touching import tells_all, touching
from generators.fit import Fitted
from generators.program import Program
from reports.record import Outcome, Row, ViolationRow


@dataclass(frozen=True)
class Failure:
    """One way in which one program failed: a violation that no finding knows, or without one the end of its process."""

    program: Program
    row: Row
    violation: ViolationRow | None

    @property
    def sign(self) -> str:
        """What has to stay as the program is shrunk: the violation's signature, or how the process ended."""
        return self.violation.signature if self.violation else f"{self.row.outcome.value}: {self.row.detail}"


def failures_of(row: Row, program: Program) -> Iterator[Failure]:
    """Each way in which the program of this row failed."""
    if row.outcome in (Outcome.CRASH, Outcome.TIMEOUT):
        yield Failure(program, row, None)
    yield from (Failure(program, row, violation) for violation in row.violations if violation.is_new)


def group_key(failure: Failure) -> str:
    """The name of the group that a failure belongs to: equal for one fault in two programs, other for two faults.

    It is the most telling symptom of its program that the failure follows from, with the op that matters to it.
    """
    if failure.violation is None:
        return failure.sign
    own = symptom_of(failure.violation)
    others = map(symptom_of, (violation for violation in failure.row.violations if violation.is_new))
    told = min((other for other in others if other.explains(own)), key=lambda other: other.level, default=own)
    op = touching(failure.program, told.place, told.aspect)
    if tells_all(op):
        return f"after {op}"
    return f"{told.text}, with {op}" if op else told.text


@dataclass(frozen=True)
class Group:
    """The failures with one key: the smallest of them, how many programs they are, and the features all of them have."""

    key: str
    smallest: Failure
    programs: int
    features: frozenset[str]

    def with_another(self, failure: Failure) -> Group:
        """The group with one more program in it."""
        smallest = min(self.smallest, failure, key=lambda item: size_of(item.program))
        return Group(self.key, smallest, self.programs + 1, self.features & set(failure.row.features))


def size_of(program: Program) -> tuple[object, ...]:
    """How large a program is, as the reducer measures it; programs of one size go by name."""
    return (*Fitted(program, 0).size, program.name)


def add_to_groups(groups: dict[str, Group], row: Row, program: Program) -> None:
    """Put each way in which the program failed into its group; a program counts once in a group."""
    of_each: dict[str, Failure] = {}
    for failure in sorted(failures_of(row, program), key=_level):  # what a group is named after is what is shrunk
        of_each.setdefault(group_key(failure), failure)
    for key, failure in of_each.items():
        old = groups.get(key)
        groups[key] = old.with_another(failure) if old else Group(key, failure, 1, frozenset(row.features))


def _level(failure: Failure) -> int:
    return symptom_of(failure.violation).level if failure.violation else 0
