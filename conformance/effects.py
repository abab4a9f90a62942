"""The effects that a program performed, as far as its operators tell them (S5, C14)."""

from __future__ import annotations

from generators.preludes.effects import EFFECTS, Listening

#: An operator's name and what it was called with.
Effect = tuple[str, object]


def listening() -> Listening:
    """A context in which effects are told from the beginning, prints among them."""
    return Listening()


def performed() -> tuple[Effect, ...]:
    """The effects since the last ``forget`` or ``listening``, in order."""
    return tuple(EFFECTS)


def forget() -> None:
    """Forget the effects that were performed up to now."""
    EFFECTS.clear()
