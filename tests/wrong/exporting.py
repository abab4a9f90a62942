"""Exporters that are wrong in what is no part of an exported program: what may be set, what is refused, a form by itself.

What makes an exported program itself wrong is in conformance/exported/corruptions.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch._dynamo.exc import Unsupported
from torch.export import ExportedProgram

from conformance.exported.corruptions import CONTROL, STATEFUL, TWO_CALLS, WRITTEN_INPUT
from conformance.exported.forms import CORE, DECOMPOSED, EXPORTED, LOADED, REEXPORTED, STRICT, UNFLATTENED
from conformance.exported.spoiling import Spoil, call_of, drop_input, no_control_flow, without, write_is_no_output
from conformance.pytorch import PyTorch
from generators.program import Program


@dataclass(frozen=True)
class WrongExport:
    """What is done to one form of a program's export, and the rule that must catch it.

    ``way`` names how dynamic sizes are asked for, "" for a program without them.
    """

    rule: str
    title: str
    spoil: Spoil
    program: Program = TWO_CALLS
    form: str = EXPORTED
    way: str = ""


class SpoiltExport(PyTorch):
    """PyTorch's exporter, one form of whose programs is spoilt."""

    def __init__(self, form: str, spoil: Spoil) -> None:
        self.form, self.spoil = form, spoil

    def export_ir(self, *given: Any, **options: Any) -> Any:
        other = STRICT if options.get("strict") else EXPORTED
        form = REEXPORTED if isinstance(given[0], fx.GraphModule) else other
        return self._spoilt(form, super().export_ir(*given, **options))

    def decompose_ir(self, exported: Any) -> Any:
        return self._spoilt(DECOMPOSED, super().decompose_ir(exported))

    def decompose_to_core_ir(self, exported: Any) -> Any:
        return self._spoilt(CORE, super().decompose_to_core_ir(exported))

    def unflatten_ir(self, exported: Any) -> Any:
        module = super().unflatten_ir(exported)
        if self.form == UNFLATTENED:
            self.spoil(module)
        return module

    def load_ir(self, file: Any) -> Any:
        return self._spoilt(LOADED, super().load_ir(file))

    def _spoilt(self, form: str, exported: Any) -> Any:
        if form == self.form:
            self.spoil(exported)
            exported.graph_module.recompile()
        return exported


def settable(name: str) -> Spoil:
    def spoil(exported: Any) -> None:
        inner = getattr(ExportedProgram, name)
        exported.__class__ = type("Open", (ExportedProgram,), {name: property(inner.fget, lambda self, value: None)})

    return spoil


def other_result(module: Any) -> None:
    module.register_forward_hook(lambda module, args, result: tuple(tensor + 1 for tensor in result))


def with_results(change: Callable[[torch.Tensor], torch.Tensor]) -> Spoil:
    """The module gives each result changed so."""

    def spoil(exported: Any) -> None:
        make = exported.module

        def module() -> Any:
            made = make()
            made.register_forward_hook(lambda module, args, results: pytree.tree_map(change, results))
            return made

        exported.module = module

    return spoil


def with_doubled_gradient(result: torch.Tensor) -> torch.Tensor:
    return 2 * result - result.detach()


def with_refused_backward(result: torch.Tensor) -> torch.Tensor:
    result = result.clone()
    result.register_hook(refuse)
    return result


def refuse(exported: Any) -> None:
    raise AssertionError("internal")


def refuse_as_a_bug(exported: Any) -> None:
    raise Unsupported(
        "Unexpected\n  Explanation: a failure.\n  Hint: This is likely to be a Dynamo bug. Please report an issue to PyTorch."
    )


_ROWS: tuple[tuple[Any, ...], ...] = (
    *(("E7", f"{name} may be set", settable(name)) for name in ("graph", "graph_module", "state_dict", "graph_signature")),
    ("E7", "range_constraints may be set", settable("range_constraints")),
    ("E7", "it is not valid", without("val")),
    ("E8", "another op after a load", call_of(torch.ops.aten.cos.default), TWO_CALLS, LOADED),
    ("E8", "the export is refused", refuse),
    ("E8", "the decomposition is refused", refuse, TWO_CALLS, DECOMPOSED),
    ("E8", "the load is refused", refuse, TWO_CALLS, LOADED),
    ("E8", "the strict export is refused", refuse, TWO_CALLS, STRICT),
    ("E8", "the strict export is refused, and calls that a bug of Dynamo", refuse_as_a_bug, TWO_CALLS, STRICT),
    ("E8", "another op in a strict export", call_of(torch.ops.aten.cos.default), TWO_CALLS, STRICT),
    ("E3", "a parameter that is used is lost in a strict export", drop_input(0), STATEFUL, STRICT),
    ("E11", "no cond in a strict export", no_control_flow, CONTROL, STRICT),
    ("E8", "the decomposition to core operators is refused", refuse, TWO_CALLS, CORE),
    ("E8", "another op among core operators", call_of(torch.ops.aten.cos.default), TWO_CALLS, CORE),
    ("E4", "an op that writes among core operators", call_of(torch.ops.aten.sin_.default), TWO_CALLS, CORE),
    ("E4", "an op that is no core operator", call_of(torch.ops.aten.exp2.default), TWO_CALLS, CORE),
    ("E4", "a written buffer is no output of core operators", write_is_no_output, STATEFUL, CORE),
    ("E3", "a written input is no output of core operators", write_is_no_output, WRITTEN_INPUT, CORE),
    ("E8", "results can't be differentiated", with_results(torch.Tensor.detach), STATEFUL),
    ("E8", "another gradient", with_results(with_doubled_gradient), STATEFUL),
    ("E8", "a backward that raises", with_results(with_refused_backward), STATEFUL),
    ("E8", "another gradient of a strict export", with_results(with_doubled_gradient), STATEFUL, STRICT),
    ("E8", "unflattening is refused", refuse, TWO_CALLS, UNFLATTENED),
    ("E8", "another result once unflattened", other_result, TWO_CALLS, UNFLATTENED),
    ("E8", "the second export is refused", refuse, TWO_CALLS, REEXPORTED),
    ("E8", "another op after a second export", call_of(torch.ops.aten.cos.default), TWO_CALLS, REEXPORTED),
)
WRONG_EXPORTS = tuple(WrongExport(*row) for row in _ROWS)
