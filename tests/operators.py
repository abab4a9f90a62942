"""Ops for the suite's own tests, beside the vocabulary: effects that are told, subclasses that are made by the caller."""

from __future__ import annotations

import itertools

import torch
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op
from torch.testing._internal.two_tensor import TwoTensor  # noqa: F401  (named by a template)

from generators.preludes.effects import EFFECTS
from generators.vocabulary import VOCABULARY, Op


@torch.library.custom_op("conformance_tests::told", mutates_args=())
def told(x: torch.Tensor) -> torch.Tensor:
    """The operand again; that it was seen is told."""
    EFFECTS.append(("told", x.detach().clone()))
    return x.clone()


@torch.library.custom_op("conformance_tests::told_back", mutates_args=())
def told_back(x: torch.Tensor) -> torch.Tensor:
    """The same for a cotangent."""
    EFFECTS.append(("told_back", x.detach().clone()))
    return x.clone()


@torch.library.custom_op("conformance_tests::raising", mutates_args=())
def raising(x: torch.Tensor) -> torch.Tensor:
    """An error, on real tensors alone."""
    raise RuntimeError("no backward")


@torch.library.custom_op("conformance_tests::one_way", mutates_args=())
def one_way(x: torch.Tensor) -> torch.Tensor:
    """The operand again, by an op whose backward raises."""
    return x.clone()


@torch.library.custom_op("conformance_tests::counted", mutates_args=())
def counted(x: torch.Tensor) -> torch.Tensor:
    """The operand plus the number of calls so far: eager differs from itself."""
    return x + next(_CALLS)


_CALLS = itertools.count()
for _op in (told, told_back, raising, one_way, counted):
    _op.register_fake(torch.empty_like)
for _op in (told, told_back):
    _register_effectful_op(getattr(torch.ops.conformance_tests, _op._name).default, _EffectType.ORDERED)
told.register_autograd(lambda context, cotangent: told_back(cotangent))
one_way.register_autograd(lambda context, cotangent: raising(cotangent))

_ROWS = (
    Op("random", "pointwise", "torch.rand_like({x})"),
    Op("told", "pointwise", "torch.ops.conformance_tests.told({x})"),
    Op("one_way", "pointwise", "torch.ops.conformance_tests.one_way({x})"),
    Op("counted", "pointwise", "torch.ops.conformance_tests.counted({x})"),
    Op("two_tensor", "pointwise", "torch.testing._internal.two_tensor.TwoTensor({x}.detach(), {x}.detach() * {p})"),
)
VOCABULARY.update({row.name: row for row in _ROWS})
