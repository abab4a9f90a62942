"""Two observations compared, fact by fact. Never one big assert, never sums."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from conformance.observation import Facts, Raised
from generators.subclasses import pieces

#: (relative, absolute) tolerance by dtype and device; the second device is any but the CPU.
TOLERANCES: dict[torch.dtype, tuple[tuple[float, float], tuple[float, float]]] = {
    torch.float64: ((1e-7, 1e-9), (1e-6, 1e-8)),
    torch.complex128: ((1e-7, 1e-9), (1e-6, 1e-8)),
    torch.float32: ((1e-4, 1e-5), (1e-3, 1e-4)),
    torch.complex64: ((1e-4, 1e-5), (1e-3, 1e-4)),  # complex32 is compared as this, on few programs
    torch.float16: ((1e-2, 1e-2), (2e-2, 2e-2)),
    torch.bfloat16: ((4e-2, 4e-2), (5e-2, 5e-2)),
}
#: Values within so many tolerances of each other may differ by rounding alone.
NEAR_MISS = 1000.0

@dataclass(frozen=True)
class Difference:
    """One fact that is not as expected; both sides as short text."""

    path: str
    expected: str
    found: str


def differences(expected: Facts, found: Facts, unjudged: frozenset[str] = frozenset()) -> list[Difference]:
    """Every path at which ``found`` is not what ``expected`` says, but for the ``unjudged`` ones.

    A fact that one side lacks is no difference of its own: what decides whether it is there (the structure,
    a tensor's autograd state, whether a gradient is None) is a fact too, and differs. Where one side raised,
    that is the difference, and what was seen up to then is not compared; where both did, there is none:
    whether the messages are fit for a user is a question of its own (C6).
    """
    if expected["error"] or found["error"]:
        if expected["error"] and found["error"]:
            return []
        return [Difference("error", brief(expected["error"]), brief(found["error"]))]
    paths = [path for path in expected if path in found and path not in unjudged]
    return [Difference(p, brief(expected[p]), brief(found[p])) for p in paths if not same(expected[p], found[p])]


#: By a pattern over ``scenario:path``: what is not judged where a fact that ends so differs in "train".
EFFECTS: dict[str, tuple[str, ...]] = {
    r"\w+:(grads\.|outputs\[\d+\]\.grad\.)": (".autograd",),
    r"(train|larger|smaller):(grads\.|outputs\[\d+\]\.grad\.)": (".written",),
    r"written": (".value", ".shares", ".is", ".autograd", "error"),
    r"\w+:effects\.\w+\[": (".value", "effects.forward", "effects.backward"),
    r"overwritten": (".value", ".shares", ".is", ".base", ".autograd", ".written", "error"),
}


def causes(
    expected: Mapping[str, Facts], found: Mapping[str, Facts], unjudged: frozenset[str]
) -> Iterator[tuple[str, Difference]]:
    """Every difference between two sets of observations by scenario, without those that follow from another.

    What differs in "train" is not told again for the scenarios after it. Where a tensor's autograd state
    differs, or in "train" which tensors were written, the two sides start their backward from different
    roots, and gradients are not compared. Where memory, values or autograd states differ, who sees a later write is not asked.
    What an effect was called with is not compared where values differ, or which effects there were.
    """
    if not found:
        return
    train = differences(expected["train"], found["train"], unjudged)
    told = {difference.path for difference in train}
    ignored = [pattern for pattern, ends in EFFECTS.items() if any(path.endswith(ends) for path in told)]
    for scenario, facts in found.items():
        is_train = scenario == "train"
        for difference in train if is_train else differences(expected[scenario], facts, unjudged):
            again = not is_train and re.sub("^(first|second)", "outputs", difference.path) in told
            if not again and not any(re.match(pattern, f"{scenario}:{difference.path}") for pattern in ignored):
                yield scenario, difference


def unstable_paths(once: Facts, again: Facts) -> frozenset[str]:
    """The paths at which eager differs from itself: nothing is judged there."""
    return frozenset(path for path in once if not same(once[path], again.get(path)))


def same(expected: Any, found: Any, slack: float = 1.0) -> bool:
    """Whether two facts are equal; tensors within ``slack`` tolerances of their dtype and device, NaN equal to NaN."""
    if isinstance(expected, Raised) or isinstance(found, Raised):
        return isinstance(expected, Raised) and isinstance(found, Raised)
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        return all(same(expected[key], found[key], slack) for key in expected)  # the pieces of a subclass
    if is_traceable_wrapper_subclass(expected) and type(expected) is type(found):  # by pieces: a DTensor has no allclose
        return same(dict(pieces(expected)), dict(pieces(found)), slack)
    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
        return type(expected) is type(found) and bool(expected == found or (expected != expected and found != found))
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return False
    if isinstance(expected, FakeTensor) or isinstance(found, FakeTensor):  # which hold nothing that could be compared
        return isinstance(expected, FakeTensor) and isinstance(found, FakeTensor)
    if expected.dtype == torch.complex32:  # which most kernels do without
        expected, found = expected.to(torch.complex64), found.to(torch.complex64)
    if torch.equal(expected, found):
        return True
    relative, absolute = _tolerance(expected)
    return torch.allclose(expected, found, rtol=slack * relative, atol=slack * absolute, equal_nan=True)


def _tolerance(tensor: torch.Tensor) -> tuple[float, float]:
    cpu, other = TOLERANCES.get(tensor.dtype, ((0.0, 0.0), (0.0, 0.0)))
    return cpu if tensor.device.type == "cpu" else other


def brief(fact: Any) -> str:
    """A fact as text of at most 200 characters; of a tensor its first elements, of a subclass those of its pieces."""
    if isinstance(fact, dict) and fact:
        return ", ".join(f"{key}: {brief(value)}" for key, value in fact.items())[:200]
    if is_traceable_wrapper_subclass(fact):
        return brief(dict(pieces(fact)))
    if isinstance(fact, FakeTensor):
        return f"no values {str(fact.dtype)[6:]}{list(fact.shape)}"
    if isinstance(fact, torch.Tensor):
        numbers = fact.detach().flatten()[:6].tolist()
        shown = ", ".join(f"{n:.5g}" if isinstance(n, float) else str(n) for n in numbers)
        return f"[{shown}{', ...' if fact.numel() > 6 else ''}] {str(fact.dtype)[6:]}{list(fact.shape)}"
    return repr(fact)[:200]
