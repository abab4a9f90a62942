"""What an implementation under test offers, and how one is chosen on the command line."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any, Protocol

from torch import fx, nn


class Joint(Protocol):
    """An exported joint graph (contract J8-J10; torch/_functorch/_aot_autograd/schemas.py, JointWithDescriptors)."""

    graph_module: fx.GraphModule
    params_spec: list[str]
    buffers_spec: list[str]
    in_spec: Any
    out_spec: Any

    @property
    def fake_mode(self) -> Any:
        """The mode of the graph's fake tensors."""

    def cache_hash(self) -> str:
        """A hex SHA-256 that is equal for two exports of one program."""


class Implementation(Protocol):
    """The implementation under test. Everything the suite asks of one goes through these members.

    ``descriptors`` is the namespace that holds the descriptor classes by their documented names, ``fx_utils``
    the one that holds the documented FX utilities, None where none are offered.
    ``export`` may enter contexts on ``stack``, which stays open until ``compile`` has returned (C15).
    The callable that ``compile`` gives takes parameters, then buffers, then the user's args and kwargs (C1).
    """

    name: str
    descriptors: Any
    fx_utils: Any

    def export(
        self, stack: ExitStack, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any
    ) -> Joint:
        """The joint graph of ``module`` for these example inputs. ``options`` are the documented keywords."""

    def export_options(self) -> frozenset[str]:
        """Which of the documented keywords of the export this implementation offers."""

    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        """The joint graph as a callable of parameters, buffers, and the user's arguments.

        ``options`` are the documented keywords.
        """

    def compile_options(self) -> frozenset[str]:
        """Which of the documented keywords of the compile this implementation offers.

        The members below are asked for where ``serializable`` is among them, and may be missing otherwise.
        """

    def serializable_options(self) -> dict[str, Any]:
        """The options of a compile whose callable can be saved: ``serializable``, and what else that needs (C11)."""

    def saved(self, compiled: Callable[..., Any]) -> bytes:
        """A callable that was compiled so, as bytes."""

    def loaded(self, data: bytes) -> Callable[..., Any]:
        """What was saved, as a callable of parameters, buffers and the flat leaves of args and kwargs.

        It gives back the flat outputs: the user's structures are the joint's.
        """


class Exporter(Protocol):
    """What an implementation may offer beside: torch.export. Without ``export_ir`` chapter E judges nothing of it."""

    def export_ir(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any) -> Any:
        """The ExportedProgram. ``options`` are the documented keywords, ``strict`` and ``dynamic_shapes`` among them."""

    def decompose_ir(self, exported: Any) -> Any:
        """The ExportedProgram after ``run_decompositions`` with an empty table: functional, nothing decomposed."""

    def decompose_to_core_ir(self, exported: Any) -> Any:
        """The ExportedProgram after ``run_decompositions`` with its own table: functional, of Core ATen operators."""

    def unflatten_ir(self, exported: Any) -> Any:
        """The ExportedProgram as a module with the submodules of the one that was exported."""

    def save_ir(self, exported: Any, file: IO[bytes]) -> None:
        """Save the ExportedProgram into the file."""

    def load_ir(self, file: IO[bytes]) -> Any:
        """The ExportedProgram that the file holds."""


class AdapterError(Exception):
    """The adapter itself is broken or can't be found; the message says what to do."""


def load_implementation(where: str) -> Implementation:
    """The implementation at ``module:attribute``: an instance, or a class or function that makes one.

    Raises AdapterError with one line that says what is missing.
    """
    module_name, _, attribute = where.partition(":")
    if not module_name or not attribute:
        raise AdapterError(f"--implementation {where!r}: write it as module:attribute")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
        implementation = found() if callable(found) else found
    except Exception as error:
        raise AdapterError(f"--implementation {where}: {type(error).__name__}: {error}") from error
    members = ("name", "descriptors", "fx_utils", "export", "export_options", "compile", "compile_options")
    missing = [member for member in members if not hasattr(implementation, member)]
    if missing:
        raise AdapterError(f"--implementation {where}: no {', '.join(missing)} (see conformance/implementation.py)")
    return implementation  # type: ignore[no-any-return]
