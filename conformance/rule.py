"""What a rule is: a requirement's id, when it applies, and a function from a case to violations.

To add a rule, write one function in the chapter's file under conformance/rules/ and decorate it::

    @rule("J2", has_joint)
    def descriptors_are_unique(case: Case) -> Iterator[Violation]:
        ...

and give tests/wrong/ an implementation that it catches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.case import Case
from conformance.exported.case import Exported
from conformance.graph import kind_of, placeholder_descriptors, whole
from conformance.requirements import REQUIREMENTS


@dataclass(frozen=True)
class Violation:
    """One thing that is not as a requirement says: where, what was expected, what was found.

    ``path`` names the fact or the place on the graph; for facts it begins with the scenario
    (``train:outputs[1].stride``). ``error`` is the exception behind it, if there is one.
    """

    rule: str
    path: str
    expected: str
    found: str
    error: BaseException | None = None


#: What a rule function yields: where, expected, found; the decorator adds the rule's id.
Complaint = tuple[str, object, object]


@dataclass(frozen=True)
class Rule:
    """A rule on a subject: a case, or for the vocabulary a namespace of descriptor classes."""

    id: str
    applies: Callable[[Any], bool]
    complaints: Callable[[Any], Iterable[Complaint]]

    def judge(self, subject: Any) -> list[Violation]:
        """The violations on this subject. Only to be asked where the rule applies."""
        return list(self._violations(subject))

    def _violations(self, subject: Any) -> Iterator[Violation]:
        for path, expected, found in self.complaints(subject):
            error = getattr(found, "error", None)
            yield Violation(self.id, path, _text(expected), _text(found), error)


#: The rules over cases, by requirement id, over the descriptor classes, over exported programs, and over types at the
#: boundary of torch.export.
RULES: dict[str, Rule] = {}
VOCABULARY_RULES: dict[str, Rule] = {}
EXPORTED_RULES: dict[str, Rule] = {}
PYTREE_RULES: dict[str, Rule] = {}
EVERY_KIND = (RULES, VOCABULARY_RULES, EXPORTED_RULES, PYTREE_RULES)


def rule(id: str, applies: Callable[[Case], bool]) -> Callable[[Callable[[Case], Iterable[Complaint]]], Rule]:
    """Register the decorated function as the rule of requirement ``id``, for cases where ``applies`` is true."""
    return lambda complaints: _register(RULES, Rule(id, applies, complaints))


def vocabulary_rule(id: str) -> Callable[[Callable[[Any], Iterable[Complaint]]], Rule]:
    """Register the decorated function as the rule of ``id`` over the namespace of descriptor classes."""
    return lambda complaints: _register(VOCABULARY_RULES, Rule(id, lambda namespace: True, complaints))


def exported_rule(id: str, applies: Callable[[Exported], bool]) -> Callable[[Callable[[Exported], Iterable[Complaint]]], Rule]:
    """Register the decorated function as the rule of ``id`` over exported programs, for those where ``applies`` is true."""
    return lambda complaints: _register(EXPORTED_RULES, Rule(id, applies, complaints))


def pytree_rule(id: str) -> Callable[[Callable[[Any], Iterable[Complaint]]], Rule]:
    """Register the decorated function as the rule of ``id`` over a type that is passed (conformance/exported/pytrees.py)."""
    return lambda complaints: _register(PYTREE_RULES, Rule(id, lambda passed: True, complaints))


def _register(registry: dict[str, Rule], new: Rule) -> Rule:
    assert new.id in REQUIREMENTS and not any(new.id in rules for rules in EVERY_KIND), new.id
    registry[new.id] = new
    return new


def _text(thing: object) -> str:
    return thing if isinstance(thing, str) else repr(thing)[:300]


def has_joint(case: Case) -> bool:
    """Whether the export gave a joint graph."""
    return case.joint is not None


def is_training(case: Case) -> bool:
    """Whether there is a joint graph in which something is differentiable: it has a tangent."""
    return case.joint is not None and any(
        kind_of(whole(d)) == "TangentAOTInput" for d in placeholder_descriptors(case.joint)
    )
