"""Implementations whose export options do something else than documented: J18, and J14's nn_module_stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from conformance.implementation import Implementation, Joint
from generators.program import Program
from tests import programs
from tests.wrong.base import Corrupted, Wrong
from tests.wrong.graph import Spoil
from tests.wrong.soundness import calls, fails, first_call_twice

OptionsChange = Callable[[dict[str, Any]], dict[str, Any]]
SIGMOID = replace(programs.ONE_OUTPUT, body=(programs.let("v0", "sigmoid", "a0"),))
MUTATED_INFERENCE = replace(programs.INFERENCE, body=(programs.change("mul_", "a0", 2), programs.let("v0", "sin", "a0")))


class OptionsChanged(Corrupted):
    """PyTorch's implementation, given other options than it was asked for, its graph spoilt if there were any."""

    def __init__(self, change: OptionsChange, spoil: Spoil = lambda joint: None) -> None:
        self.change, self.spoil = change, spoil

    def export(self, *args: Any, **options: Any) -> Joint:
        """The joint graph for the other options."""
        joint = super().export(*args, **self.change(options))
        if options:
            self.spoil(joint)
        return joint


def only_forward(options: dict[str, Any]) -> dict[str, Any]:
    """No decompositions of backward ops."""
    table = options.get("decompositions", {})
    return {**options, "decompositions": {op: function for op, function in table.items() if "backward" not in str(op)}}


def erase_copies(joint: Joint) -> None:
    """Kept mutations are lost."""
    for node in [node for node in calls(joint) if node.target is torch.ops.aten.copy_.default]:
        node.replace_all_uses_with(node.all_input_nodes[1])
        joint.graph_module.graph.erase_node(node)
    joint.graph_module.recompile()


def options(change: OptionsChange, spoil: Spoil = lambda joint: None) -> Callable[[], OptionsChanged]:
    """An implementation that changes the options."""
    return lambda: OptionsChanged(change, spoil)


def without(option: str) -> Callable[[], OptionsChanged]:
    """An implementation that ignores the option."""
    return options(lambda given: {name: value for name, value in given.items() if name != option})


class SpoiltUnder(Corrupted):
    """PyTorch's implementation, its graph spoilt where it is given the option."""

    def __init__(self, option: str, spoil: Spoil) -> None:
        self.option, self.spoil = option, spoil

    def export(self, *args: Any, **options: Any) -> Joint:
        """The joint graph, spoilt or not."""
        joint = super().export(*args, **options)
        if self.option in options:
            self.spoil(joint)
        return joint


def under(option: str, spoil: Spoil) -> Callable[[], SpoiltUnder]:
    """An implementation that does wrong with this option alone."""
    return lambda: SpoiltUnder(option, spoil)


def first_call_is_tan(joint: Joint) -> None:
    """Other values."""
    calls(joint)[0].target = torch.ops.aten.tan.default
    joint.graph_module.recompile()


def cannot_be_compiled(joint: Joint) -> None:
    """A graph that calls what isn't there."""
    joint._aot_graph_capture = None  # type: ignore[attr-defined]


def with_torch_fn(joint: Joint) -> None:
    """What the mode that is off would have left."""
    calls(joint)[0].meta["torch_fn"] = ("sin_1", "method_descriptor.sin")


def no_module_stack(joint: Joint) -> None:
    """The first call does not say in which module it was made."""
    calls(joint)[0].meta.pop("nn_module_stack", None)


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("J14", "nn_module_stack is not recorded", without("_record_nn_module_stack"), programs.INFERENCE),
    ("J14", "nn_module_stack is recorded on some nodes", under("_record_nn_module_stack", no_module_stack), programs.INFERENCE),
    ("J18", "decompositions are ignored", options(lambda given: {}), SIGMOID),
    ("J18", "decompositions of the forward alone", options(only_forward), SIGMOID),
    ("J18", "keep_inference_input_mutations is ignored", options(lambda given: {}), MUTATED_INFERENCE),
    ("J18", "kept mutations are lost", options(lambda given: given, erase_copies), MUTATED_INFERENCE),
    ("J18", "no export with an option", options(lambda given: given, fails), programs.ONE_OUTPUT),
    ("J18", "decompositions compute something else", under("decompositions", first_call_is_tan), programs.ONE_OUTPUT),
    ("J18", "ignore_shape_env is ignored", without("ignore_shape_env"), programs.ONE_OUTPUT),
    ("J18", "other values", under("disable_functionalization", first_call_is_tan), programs.INFERENCE),
    ("J18", "no compile", under("disable_functionalization", cannot_be_compiled), programs.ONE_OUTPUT),
    ("J18", "recording adds nodes", under("_record_nn_module_stack", first_call_twice), programs.ONE_OUTPUT),
    ("J18", "torch_fn all the same", under("_disable_torch_fn_metadata_mode", with_torch_fn), programs.ONE_OUTPUT),
    ("J18", "the mode was needed", under("_disable_torch_fn_metadata_mode", first_call_twice), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(rule, title, implementation, program) for rule, title, implementation, program in _WRONG)
