"""Implementations that are wrong for a named case: one of its descriptors is another, and no order shows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch._functorch._aot_autograd.descriptors as d

import golden
from conformance.implementation import Joint
from conformance.named import load_case
from tests.wrong.base import Corrupted, Wrong, change_inputs, change_outputs, drop_output


class Otherwise(Corrupted):
    """The joint graph is spoilt by a function."""

    def __init__(self, spoil: Callable[[Joint], None]) -> None:
        self.spoil = spoil

    def corrupt(self, joint: Joint) -> None:
        """Spoil it."""
        self.spoil(joint)


def second_argument(joint: Joint) -> None:
    """The first argument is called the second."""
    change_inputs(joint, lambda desc: d.PlainAOTInput(1) if desc == d.PlainAOTInput(0) else desc)


def second_output(joint: Joint) -> None:
    """The first output is called the second."""
    change_outputs(joint, lambda desc: d.PlainAOTOutput(1) if desc == d.PlainAOTOutput(0) else desc)


def no_gradient(joint: Joint) -> None:
    """The last output is missing."""
    drop_output(joint, lambda desc: isinstance(desc, d.GradAOTOutput))


CASE = load_case(golden.CASES / "plain_input_and_output.py")
_ROWS = (
    ("J3", "an input of a named case is another", second_argument),
    ("J4", "an output of a named case is another", second_output),
    ("J4", "an output of a named case is missing", no_gradient),
)
WRONG = tuple(Wrong(rule, title, partial(Otherwise, spoil), CASE.program, stated=CASE.stated) for rule, title, spoil in _ROWS)
