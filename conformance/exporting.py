"""From a built program to its joint graph and the callable: with the program's own options, and its symbolic sizes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch._functorch.config
import torch.utils._pytree as pytree
from torch import fx

from conformance.implementation import Implementation, Joint
from conformance.scenarios import Call
from generators.build import Built, build
from generators.options import OPTIONS, of_stage
from generators.preludes.symbolic import with_symbolic_sizes
from generators.program import Program

#: What is passed: args and kwargs.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def arguments_for(built: Built) -> Arguments:
    """What the export is given: the built arguments, as fake tensors where the program has symbolic sizes."""
    given = (built.args, built.kwargs)
    return with_symbolic_sizes(given, built.program.symbolic) if built.program.symbolic else given


def primals_for(implementation: Implementation, built: Built) -> dict[Any, Any]:
    """Each primal's plain descriptor and what the caller passes there."""
    names = implementation.descriptors
    parameters = built.module.named_parameters(remove_duplicate=False)
    buffers = built.module.named_buffers(remove_duplicate=False)
    return {
        **{names.ParamAOTInput(target=fqn): parameter for fqn, parameter in parameters},
        **{names.BufferAOTInput(target=fqn): buffer for fqn, buffer in buffers},
        **{names.PlainAOTInput(idx=index): leaf for index, leaf in enumerate(pytree.tree_leaves((built.args, built.kwargs)))},
    }


def export(implementation: Implementation, stack: ExitStack, built: Built, arguments: Arguments, **options: Any) -> Joint:
    """The joint graph for these arguments, with the program's own options and these ``options``."""
    stack.enter_context(torch._functorch.config.patch(of_stage(built.program.options, "config")))
    args, kwargs = arguments
    return implementation.export(stack, built.module, args, kwargs, **of_stage(built.program.options, "export") | options)


def try_export(implementation: Implementation, device: str, program: Program, **options: Any) -> Joint | None:
    """The joint graph of the program, built afresh; None where that ends in an error."""
    built = build(program, device)
    try:
        with ExitStack() as stack:
            return export(implementation, stack, built, arguments_for(built), **options)
    except Exception:
        return None


def compile_back(implementation: Implementation, joint: Joint, program: Program) -> Call:
    """The joint compiled with the program's own options, and called as eager is; the joint stays as it was exported.

    A compile partitions the graphs that a graph calls where they are, and what is then on the joint is not what the
    export gave. Raises what the compile raises.
    """
    module = joint.graph_module
    calls_graphs = bool(module.graph.find_nodes(op="get_attr"))
    kept = fx.GraphModule(module, copy.deepcopy(module.graph)) if calls_graphs else module
    try:
        return caller(joint, implementation.compile(joint, **of_stage(program.options, "compile")))
    finally:
        if calls_graphs:
            joint.graph_module = kept


def caller(joint: Joint, compiled: Callable[..., Any]) -> Call:
    """The compiled joint called as eager is: with the module's parameters and buffers first (C1)."""
    fqns = [*joint.params_spec, *joint.buffers_spec]
    return lambda built: compiled(*(built.state(fqn) for fqn in fqns), *built.args, **built.kwargs)


def not_offered(program: Program, implementation: Implementation) -> str:
    """The first of the program's options that this implementation, or this torch, does not have; "" if none."""
    offered = {
        "export": implementation.export_options(),
        "compile": implementation.compile_options(),
        "config": torch._functorch.config.get_config_copy().keys(),
    }
    options = map(OPTIONS.__getitem__, program.options)
    return next((f"{o.name} is not offered" for o in options if o.keyword not in offered[o.stage]), "")
