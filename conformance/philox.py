"""Functionalized random numbers, as far as a machine without a GPU shows them (P6, J3).

Philox values come in only where random ops run on CUDA. Fake CUDA tensors are enough to export an inference
graph; with gradients the process would abort, and nothing could be run. So the descriptors of the backward
need a GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
import torch._functorch.config
import torch.nn.functional as F
from torch import nn
from torch._subclasses import FakeTensorMode

import conformance.rules  # noqa: F401  (registers the rules)
from conformance.case import Case
from conformance.graph import kind_of, output_descriptors, placeholder_descriptors
from conformance.implementation import Implementation, Joint
from conformance.rule import RULES, Violation
from generators.program import Program

#: The rules that look at descriptors alone.
STRUCTURE = ("P1", "P2", "P3", "P4", "P5", "J1", "J2", "J3", "J4")
#: What must be on the graph, each once: inputs, then outputs.
EXPECTED = (
    ("PhiloxForwardSeedAOTInput", "PhiloxForwardBaseOffsetAOTInput"),
    ("PhiloxUpdatedForwardOffsetAOTOutput",),
)


class Noise(nn.Module):
    """Random numbers by themselves, and after a write."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Noise, and ``x`` with noise added in place."""
        return torch.rand_like(x), x.add_(torch.rand_like(x))


class Dropout(nn.Module):
    """Random numbers inside an op."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x``, some of it dropped."""
        return F.dropout(x, 0.5)


@dataclass(frozen=True)
class Judgement:
    """What the rules said of a graph, and how often each kind of descriptor is on it."""

    violations: tuple[Violation, ...]
    kinds: Counter[str]


def judge_philox(implementation: Implementation, module: nn.Module) -> Judgement:
    """The judgement on the inference graph of a module with random ops, exported for fake CUDA tensors."""
    try:
        joint = _exported(implementation, module)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return Judgement((Violation("P6", "export of random ops on CUDA", "a joint graph", text, error),), Counter())
    case = Case(Program(), "cuda", implementation, thorough=False, joint=joint)
    kinds = [kind_of(d) for d in (*placeholder_descriptors(joint), *output_descriptors(joint))]
    structure = (violation for id in STRUCTURE for violation in RULES[id].judge(case))
    return Judgement((*structure, *_missing(joint)), Counter(kinds))


def _missing(joint: Joint) -> Iterator[Violation]:
    for side, expected, found in zip(("inputs", "outputs"), EXPECTED, (placeholder_descriptors, output_descriptors)):
        philox = tuple(kind for d in found(joint) if (kind := kind_of(d)).startswith("Philox"))
        if philox != expected:
            yield Violation("P6", f"{side} of random numbers", str(expected), str(philox))


def _exported(implementation: Implementation, module: nn.Module) -> Joint:
    with FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(4, device="cuda")
    stubs: dict[str, Any] = {
        "is_available": lambda: True,
        "initial_seed": lambda: 0,
        "_get_rng_state_offset": lambda *_: 0,
        "get_rng_state": lambda *_: torch.zeros(16, dtype=torch.uint8),
    }
    with ExitStack() as stack:
        stack.enter_context(torch._functorch.config.patch(functionalize_rng_ops=True))
        for name, stub in stubs.items():
            stack.enter_context(patch.object(torch.cuda, name, stub))
        return implementation.export(stack, module, (x,), {})
