"""Implementations that do not use the caller's partition and compilers as they should."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._functorch.aot_autograd import boxed_nop_preserve_node_meta
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

from conformance.implementation import Implementation, Joint
from generators.program import Program
from tests import programs
from tests.wrong.base import Corrupted, Wrong

Options = dict[str, Any]


class Optioned(Corrupted):
    """The options of the compile changed before they are used."""

    def __init__(self, change: Callable[[Options], Options]) -> None:
        self.change = change

    def compile(self, joint: Joint, **options: Any) -> Callable[..., Any]:
        """The callable of the changed options."""
        return super().compile(joint, **self.change(options))


def without(name: str) -> Callable[[], Implementation]:
    """An option ignored."""
    return lambda: Optioned(lambda options: {key: value for key, value in options.items() if key != name})


def given(name: str, change: Callable[[Any], Any]) -> Callable[[], Implementation]:
    """A function that the caller gives replaced by another."""
    return lambda: Optioned(lambda options: {**options, name: change(options[name])} if name in options else options)


def stripped(inputs: bool) -> Callable[[Any], Any]:
    """The compiler gets a graph without descriptors, of its inputs or of its output."""

    def change(compiler: Any) -> Any:
        def compile_graph(module: fx.GraphModule, example_inputs: Any) -> Any:
            for node in module.graph.find_nodes(op="placeholder" if inputs else "output"):
                node.meta.pop("desc", None)
            return compiler(module, example_inputs)

        return compile_graph

    return change


def partition_stripped(partition: Any) -> Any:
    """The partition gets a joint graph without descriptors."""

    def partition_graph(joint: fx.GraphModule, *args: Any, **options: Any) -> Any:
        bare = copy.deepcopy(joint)
        for node in bare.graph.find_nodes(op="placeholder"):
            node.meta.pop("desc", None)
        partition(bare, *args, **options)
        return default_partition(joint, *args, **options)

    return partition_graph


def asked_in_vain(compiler: Any) -> Any:
    """The compiler is called, and something else runs."""

    def compile_graph(module: fx.GraphModule, example_inputs: Any) -> Any:
        compiler(module, example_inputs)
        return boxed_nop_preserve_node_meta(module, example_inputs)

    return compile_graph


def runs_twice(compiler: Any) -> Any:
    """What the compiler made runs twice, once for nothing."""

    def compile_graph(module: fx.GraphModule, example_inputs: Any) -> Any:
        run = compiler(module, example_inputs)

        def both(args: list[Any]) -> Any:
            run(list(args))
            return run(args)

        both._boxed_call = True  # type: ignore[attr-defined]
        return both

    return compile_graph


def cut_wrongly(partition: Any) -> Any:
    """Min-cut computes something else again than it should."""
    if partition is not min_cut_rematerialization_partition:
        return partition

    def partition_graph(joint: fx.GraphModule, *args: Any, **options: Any) -> Any:
        forward, backward = partition(joint, *args, **options)
        for node in backward.graph.nodes:
            node.target = torch.ops.aten.sin.default if node.target is torch.ops.aten.cos.default else node.target
        backward.recompile()
        return forward, backward

    return partition_graph


def one_output_more(partition: Any) -> Any:
    """The partition is told of a forward output that is none."""

    def partition_graph(joint: fx.GraphModule, *args: Any, num_fwd_outputs: int, **options: Any) -> Any:
        partition(copy.deepcopy(joint), *args, num_fwd_outputs=num_fwd_outputs + 1, **options)
        return default_partition(joint, *args, num_fwd_outputs=num_fwd_outputs, **options)

    return partition_graph


_WRONG: tuple[tuple[str, str, Callable[[], Implementation], Program], ...] = (
    ("C9", "no heed of partition_fn", without("partition_fn"), programs.ONE_OUTPUT),
    ("C9", "no heed of fw_compiler", without("fw_compiler"), programs.ONE_OUTPUT),
    ("C9", "no heed of fw_compiler without a gradient", without("fw_compiler"), programs.INFERENCE),
    ("C9", "no heed of bw_compiler", without("bw_compiler"), programs.ONE_OUTPUT),
    ("C9", "a forward without descriptors", given("fw_compiler", stripped(inputs=True)), programs.ONE_OUTPUT),
    ("C9", "a forward without descriptors of its outputs", given("fw_compiler", stripped(inputs=False)), programs.ONE_OUTPUT),
    ("C9", "a backward without descriptors", given("bw_compiler", stripped(inputs=True)), programs.ONE_OUTPUT),
    ("C9", "a partition without descriptors", given("partition_fn", partition_stripped), programs.ONE_OUTPUT),
    ("C9", "a compiled forward that does not run", given("fw_compiler", asked_in_vain), programs.ONE_OUTPUT),
    ("C9", "a compiled backward that does not run", given("bw_compiler", asked_in_vain), programs.ONE_OUTPUT),
    ("C9", "a compiled forward that runs twice", given("fw_compiler", runs_twice), programs.ONE_OUTPUT),
    ("C9", "min-cut with another gradient", given("partition_fn", cut_wrongly), programs.ONE_OUTPUT),
    ("J20", "a forward output too much", given("partition_fn", one_output_more), programs.ONE_OUTPUT),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong(*row) for row in _WRONG)
