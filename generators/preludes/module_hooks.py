"""Hooks: on modules, and on what autograd saves."""

from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn


def kept_as_it_is(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def given_back_doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.is_floating_point() else x


def tensors_doubled(tree: Any) -> Any:
    return pytree.tree_map(lambda x: x * 2 if isinstance(x, torch.Tensor) else x, tree)


def result_doubled(module: nn.Module, args: Any, result: Any) -> Any:
    return tensors_doubled(result)


def arguments_doubled(module: nn.Module, args: Any) -> Any:
    return tensors_doubled(args)


def gradients_doubled(module: nn.Module, grad_inputs: Any, grad_outputs: Any) -> Any:
    return tensors_doubled(grad_inputs)


def cotangents_doubled(module: nn.Module, grad_outputs: Any) -> Any:
    return tensors_doubled(grad_outputs)


class Doubled(nn.Module):
    """A parametrization."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2
