"""PyTorch's own implementation, its graphs run eagerly: the default of ``--implementation``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch._functorch._aot_autograd.descriptors as descriptors
import torch._functorch._aot_autograd.fx_utils as fx_utils
from torch import nn
from torch._functorch import aot_autograd

from conformance.implementation import Joint


class PyTorch:
    """``aot_export_joint_with_descriptors`` and ``aot_compile_joint_with_descriptors`` of the installed torch."""

    name = "pytorch"
    descriptors: Any = descriptors
    fx_utils: Any = fx_utils

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph, as torch exports it."""
        return aot_autograd.aot_export_joint_with_descriptors(stack, module, args, kwargs, **options)

    def export_options(self) -> frozenset[str]:
        """The keywords of this torch version: some of the documented ones are younger than 2.9."""
        return frozenset(inspect.signature(aot_autograd.aot_export_joint_with_descriptors).parameters)

    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        """The callable; without options with the default partition and compilers."""
        return aot_autograd.aot_compile_joint_with_descriptors(joint, **options)  # type: ignore[arg-type]

    def compile_options(self) -> frozenset[str]:
        """The keywords of this torch version: 2.9 has none."""
        return frozenset(inspect.signature(aot_autograd.aot_compile_joint_with_descriptors).parameters) - {"jd"}
