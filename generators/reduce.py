"""The smallest program that still fails: greedy, deterministic, one small change at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from generators.candidates import PASSES, canonical
from generators.codec import ProgramError, check_names
from generators.fit import Fitted, fit
from generators.program import Program


def reduce(program: Program, still_fails: Callable[[Program], bool], *, budget: int = 400) -> Program:
    """A program for which ``still_fails`` is true, never larger than ``program``, under canonical names.

    ``program`` itself is taken to fail. Changes are tried until none makes it smaller, or ``still_fails``
    was called ``budget`` times. A program that eager runs is reduced through programs that eager runs;
    one that eager refuses, through any.
    """
    start = canonical(program)
    fitted = fit(start, may_raise=False)
    may_raise = fitted is None or fitted.program != start
    search = _Search(fit(start, may_raise) or Fitted(start, 0), still_fails, budget, may_raise)
    while search.improved_by_a_round():
        pass
    return search.best.program


class _Search:
    """The best program so far, and all that was tried on the way."""

    def __init__(self, best: Fitted, still_fails: Callable[[Program], bool], budget: int, may_raise: bool) -> None:
        self.best = best
        self.still_fails = still_fails
        self.left = budget
        self.may_raise = may_raise
        self.seen = {best.program}

    def improved_by_a_round(self) -> bool:
        """Go through all passes, each until it has nothing more; whether one of them made it smaller."""
        before = self.best
        for candidates in PASSES:
            while self._improved_by(candidates(self.best.program)):
                pass
        return self.best is not before

    def _improved_by(self, candidates: Iterable[Program]) -> bool:
        return any(self._accepts(candidate) for candidate in candidates)

    def _accepts(self, candidate: Program) -> bool:
        fitted = self._new_and_smaller(candidate)
        if fitted is None or self.left <= 0:
            return False
        self.left -= 1
        if self.still_fails(fitted.program):
            self.best = fitted
            return True
        return False

    def _new_and_smaller(self, candidate: Program) -> Fitted | None:
        if candidate in self.seen or not _is_sound(candidate):
            return None
        self.seen.add(candidate)
        fitted = fit(candidate, self.may_raise)
        if fitted is None:
            return None
        fitted = Fitted(canonical(fitted.program), fitted.odd)
        known = fitted.program in self.seen and fitted.program != candidate
        if known or not _is_sound(fitted.program) or fitted.size >= self.best.size:
            return None
        self.seen.add(fitted.program)
        return fitted


def _is_sound(program: Program) -> bool:
    try:
        check_names(program)
    except ProgramError:
        return False
    return True
