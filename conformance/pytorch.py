"""PyTorch's own implementation, its graphs run eagerly: the default of ``--implementation``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any

import torch
import torch._functorch._aot_autograd.descriptors as descriptors
import torch._functorch._aot_autograd.fx_utils as fx_utils
from torch import fx, nn
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

    def serializable_options(self) -> dict[str, Any]:
        """Compilers whose results can be saved: the default ones give plain functions."""
        return {"serializable": True, "fw_compiler": _as_output_code, "bw_compiler": _as_output_code}

    def saved(self, compiled: Callable[..., Any]) -> bytes:
        """The artifacts of the callable, which documents call a BundledAOTAutogradSerializableCallable."""
        return _serializable_callable().serialize_compile_artifacts(compiled)  # type: ignore[no-any-return]

    def loaded(self, data: bytes) -> Callable[..., Any]:
        """The callable of the artifacts: flat arguments in, flat outputs out."""
        return _serializable_callable().deserialize_compile_artifacts(data)  # type: ignore[no-any-return]

    def export_ir(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any) -> Any:
        """The ExportedProgram, as torch.export gives it, not strict where nothing else is asked for."""
        return torch.export.export(module, args, kwargs, **{"strict": False} | options)

    def decompose_ir(self, exported: Any) -> Any:
        """The ExportedProgram made functional, no op of it decomposed."""
        return exported.run_decompositions({})

    def decompose_to_core_ir(self, exported: Any) -> Any:
        """The ExportedProgram made functional, decomposed to the Core ATen operators."""
        return exported.run_decompositions()

    def unflatten_ir(self, exported: Any) -> Any:
        """A module with the submodules of the original one."""
        return torch.export.unflatten(exported)

    def save_ir(self, exported: Any, file: IO[bytes]) -> None:
        """The ExportedProgram in the file."""
        torch.export.save(exported, file)

    def load_ir(self, file: IO[bytes]) -> Any:
        """The ExportedProgram that the file holds."""
        return torch.export.load(file)


def _serializable_callable() -> Any:
    """The class that saves and loads; 2.9 has none."""
    from torch._dynamo.aot_compile_types import BundledAOTAutogradSerializableCallable

    return BundledAOTAutogradSerializableCallable


def _as_output_code(module: fx.GraphModule, example_inputs: Any) -> Any:
    """The graph as it is, in the one container for FX graphs that knows how to save itself; 2.9 has none."""
    from torch._inductor.output_code import RegionalOutputCode

    return RegionalOutputCode(module)
