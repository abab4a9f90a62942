"""What a thorough walk exports beside the first joint graph: a second one, with options, captured by Dynamo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch._guards import TracingContext, tracing
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from conformance import scenarios
from conformance.captured import export_captured
from conformance.exporting import arguments_for, compile_back, export, try_export
from conformance.observation import Raised
from generators.build import Built, build
from generators.program import Const, Node

if TYPE_CHECKING:
    from conformance.case import Case


@dataclass(frozen=True)
class Part:
    """Something that a thorough walk exports, and the rules that read it."""

    rules: tuple[str, ...]
    export: Callable[[Case], None]


def export_again(case: Case, rules: Collection[str]) -> None:
    """The thorough exports that these rules read. One that fails where the first did not is left out: they see it missing."""
    for part in PARTS:
        if not set(part.rules).isdisjoint(rules):
            part.export(case)


def _export_another_two(case: Case) -> None:
    case.second = try_export(case.implementation, case.device, case.program)
    outputs = Node("tuple", (case.program.outputs, Const(7)))
    case.other = try_export(case.implementation, case.device, replace(case.program, outputs=outputs))


def _export_with_each_option(case: Case) -> None:
    for option in OPTIONS:
        if option in case.implementation.export_options():
            _export_with(case, option)


def _export_what_was_captured(case: Case) -> None:
    if case.to_capture:
        # Asked for by those who capture first, since the stack of modules is then that of the user's code.
        is_offered = "_record_nn_module_stack" in case.implementation.export_options()
        stacks = {"_record_nn_module_stack": True} if is_offered else {}
        case.captured = export_captured(case.program, case.implementation, case.device, **stacks)


PARTS: tuple[Part, ...] = (
    Part(("J10", "J17"), _export_another_two),
    Part(("J14", "J18"), _export_with_each_option),
    Part(("J14", "J28", "J29"), _export_what_was_captured),
)


def _export_with(case: Case, option: str) -> None:
    """The export with one option, and what its compiled joint shows in "train"."""
    built = build(case.program, case.device)
    try:
        with ExitStack() as stack:
            stack.enter_context(_surroundings(option, built))
            joint = export(case.implementation, stack, built, arguments_for(built), **{option: OPTIONS[option]()})
            case.optioned[option] = joint
            call = compile_back(case.implementation, joint, case.program)
    except Exception as error:
        case.optioned_results[option] = {"error": Raised("compile", error)}
        return
    case.optioned_results[option] = scenarios.run("train", call, case.program, case.device)


@cache
def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """A few decompositions, of ops that programs use forward and backward."""
    from torch._decomp import get_decompositions

    aten = torch.ops.aten
    return get_decompositions([aten.sigmoid_backward, aten.tanh_backward, aten.native_layer_norm, aten.addmm, aten.std])


#: The options that are tried, and what each is set to.
OPTIONS: dict[str, Callable[[], Any]] = {
    "decompositions": decompositions,
    "keep_inference_input_mutations": lambda: True,
    "ignore_shape_env": lambda: True,
    "disable_functionalization": lambda: True,
    "_record_nn_module_stack": lambda: True,
    "_disable_torch_fn_metadata_mode": lambda: True,
}


def _surroundings(option: str, built: Built) -> AbstractContextManager[Any]:
    """Where the option tells: ``ignore_shape_env`` where every size of an example tensor would turn symbolic."""
    if option != "ignore_shape_env" or built.program.symbolic:  # such a program brings a fake mode of its own
        return nullcontext()
    return tracing(TracingContext(FakeTensorMode(shape_env=ShapeEnv())))
