"""Implementations that do to the process what an implementation should not, on inputs of seven elements."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn
from torch._subclasses import FakeTensorMode

from conformance.implementation import Joint
from conformance.pytorch import PyTorch


class Misbehaving(PyTorch):
    """PyTorch's implementation that goes wrong in ``act`` when it exports for an input of seven elements."""

    name = "misbehaving"

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        if args[0].numel() == 7:
            self.act()
        return super().export(stack, module, args, kwargs, **options)

    def act(self) -> None:
        """What goes wrong."""


class Aborts(Misbehaving):
    def act(self) -> None:
        os.abort()


class Segfaults(Misbehaving):
    def act(self) -> None:
        ctypes.string_at(0)


class Exits(Misbehaving):
    def act(self) -> None:
        sys.exit(3)


class ExitsQuietly(Misbehaving):
    def act(self) -> None:
        os._exit(0)


class Interrupts(Misbehaving):
    def act(self) -> None:
        raise KeyboardInterrupt


class Hangs(Misbehaving):
    def act(self) -> None:
        time.sleep(600)


class DiesOfTheProgramBefore(Misbehaving):
    """It falls over what an export for seven elements left in the process."""

    spoilt = False

    def export(self, *args: Any, **options: Any) -> Joint:
        if self.spoilt:
            os.abort()
        return super().export(*args, **options)

    def act(self) -> None:
        type(self).spoilt = True


class LeavesModeBehind(Misbehaving):
    def act(self) -> None:
        FakeTensorMode().__enter__()


class LeavesGradModeBehind(Misbehaving):
    def export(self, *args: Any, **options: Any) -> Joint:
        joint = super().export(*args, **options)
        if args[2][0].numel() == 7:
            torch.set_grad_enabled(False)
        return joint


class LeavesModeAndAttributeBehind(LeavesModeBehind):
    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        joint = super().export(stack, module, args, kwargs, **options)
        if args[0].numel() == 7:
            module.traced = True  # type: ignore[assignment]
        return joint


class LeavesDtypeWhereItFails(Misbehaving):
    def act(self) -> None:
        torch.set_default_dtype(torch.float64)
        module: Any = None
        module.forward()


class LeavesDtypeBehind(PyTorch):
    """A call, and not the export, that leaves another default dtype behind."""

    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        compiled = super().compile(joint, **options)

        def call(*args: Any, **kwargs: Any) -> Any:
            if args and args[0].numel() == 7:
                torch.set_default_dtype(torch.float64)
            return compiled(*args, **kwargs)

        return call


class TakesAllMemory(Misbehaving):
    def act(self) -> None:
        torch.empty(1 << 40, dtype=torch.uint8).fill_(1)


class TakesMemoryBitByBit(Misbehaving):
    def act(self) -> None:
        held = [torch.empty(1 << 28) for _ in range(1 << 10)]  # reserved, never touched
        raise AssertionError(f"nothing stopped {len(held)} GiB")


class RaisesWhatCannotBeSent(Misbehaving):
    def act(self) -> None:
        class Local(Exception):
            hold = staticmethod(lambda: None)

        raise Local("a local class")


class CannotStart(PyTorch):
    def __init__(self) -> None:
        raise RuntimeError("no licence")


class ExportsNothing(PyTorch):
    def export(self, *args: Any, **options: Any) -> Joint:
        raise RuntimeError("not implemented yet")


class CompilesNothing(PyTorch):
    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        raise RuntimeError("no compiler yet")


class DiesAtOnce(PyTorch):
    def export(self, *args: Any, **options: Any) -> Joint:
        os.abort()


class ExportIsMissing:
    name = "incomplete"
    descriptors = None
    fx_utils = None


class DiesOnViews(PyTorch):
    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        if any(statement.op in ("squeeze_dim", "unsqueeze", "t") for statement in module.program.body):  # type: ignore[union-attr]
            os.abort()
        return super().export(stack, module, args, kwargs, **options)


class JointsAlone:
    """PyTorch's implementation without what goes through torch.export."""

    name = "joints alone"

    def __getattr__(self, member: str) -> Any:
        if member.endswith("_ir"):
            raise AttributeError(member)
        return getattr(PyTorch(), member)
