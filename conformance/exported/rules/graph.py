"""Chapter E: what the graph of an exported program is made of.

The documents' graph is a legal FX graph under stricter rules, and may be interpreted as one.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import torch
from torch import fx, nn
from torch._ops import HigherOrderOperator, OpOverload

from conformance.difference import brief, same
from conformance.exported.case import Exported
from conformance.exported.forms import CORE, EXPORTED, FUNCTIONAL, STRICT
from conformance.exported.running import run_code
from conformance.observation import Raised, value_of
from conformance.rule import Complaint, exported_rule
from generators.build import build
from generators.program import Ref

#: The node ops that the documents know, in the order in which they may stand.
ORDER = {"placeholder": 0, "get_attr": 1, "call_function": 1, "output": 2}
#: Where the Python functions on symbolic numbers come from; those of torch are called sym_something.
BUILTIN_MODULES = (operator, math, builtins)
#: The vocabulary's control flow, and the higher-order op that each row is to appear as.
CONTROL = {"cond": "cond", "map": "map_impl", "while_loop": "while_loop", "scan": "scan"}


def has_forms(case: Exported) -> bool:
    """Whether the program was exported."""
    return bool(case.forms)


@exported_rule("E1", has_forms)
def the_graph_is_legal_and_runs(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        yield from _structure_complaints(form, exported.graph)
        try:
            exported.graph.lint()
        except Exception as error:
            yield f"{form}:lint", "a graph that lints", Raised("lint", error)
        if not case.eager["error"]:
            yield from _running_complaints(case, form)


def _structure_complaints(form: str, graph: fx.Graph) -> Iterator[Complaint]:
    ops = [node.op for node in graph.nodes]
    for op in dict.fromkeys(ops):
        if op not in ORDER:
            yield f"{form}:node ops", "placeholder, get_attr, call_function, output", op
    ranks = [ORDER[op] for op in ops if op in ORDER]
    if ranks != sorted(ranks):
        yield f"{form}:order of nodes", "placeholders first, the output last", "another"
    if ops.count("output") != 1:
        yield f"{form}:output nodes", "one", ops.count("output")


def _running_complaints(case: Exported, form: str) -> Iterator[Complaint]:
    """The graph is interpreted, and its generated Python run: both without an error, and to the same end."""
    run = case.runs[form]
    if run.error:
        yield f"{form}:interpreted", "a graph that can be interpreted", run.error
        return
    torch.manual_seed(0)
    try:
        found = run_code(case.forms[form], build(case.program, case.device))
    except Exception as error:
        yield f"{form}:generated code", "code that runs", Raised("code", error)
        return
    for index, (expected, result) in enumerate(zip_longest(run.outputs, found)):
        if not same(_held(expected), _held(result)):
            yield f"{form}:generated code, output {index}", brief(_held(expected)), brief(_held(result))


def _held(value: Any) -> Any:
    return value_of(value) if isinstance(value, torch.Tensor) else value


def graphs_of(exported: Any) -> Iterator[tuple[str, fx.GraphModule]]:
    """The graph and those that it calls, with what is to be said of where: "" or " in a subgraph"."""
    for module in exported.graph_module.modules():
        if isinstance(module, fx.GraphModule):
            yield "" if module is exported.graph_module else " in a subgraph", module


@exported_rule("E2", has_forms)
def attributes_read_are_submodules(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        for where, module in graphs_of(exported):
            for node in module.graph.find_nodes(op="get_attr"):
                value = _attribute(module, str(node.target))
                if not isinstance(value, nn.Module):
                    yield f"{form}:get_attr{where}", "a submodule", type(value).__name__


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


@exported_rule("E4", has_forms)
def calls_are_of_operators(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        for where, module in graphs_of(exported):
            for node in _calls(module):
                if not is_documented(node.target):
                    yield f"{form}:target{where}", "an operator, or a Python builtin on numbers", name_of(node.target)
                elif form in FUNCTIONAL and isinstance(node.target, OpOverload) and node.target._schema.is_mutable:
                    yield f"{form}:target{where}", "a functional operator", name_of(node.target)
                elif form == CORE and not is_core(node.target):
                    yield f"{form}:target{where}", "a Core ATen operator", name_of(node.target)
    yield from _written_buffers(case)


def _calls(module: fx.GraphModule) -> list[fx.Node]:
    return [node for node in module.graph.nodes if node.op == "call_function"]


def is_documented(target: Any) -> bool:
    """Whether the documents let a call_function node call it."""
    if isinstance(target, (OpOverload, HigherOrderOperator)):
        return True
    name = getattr(target, "__name__", "")
    is_builtin = any(vars(module).get(name) is target for module in BUILTIN_MODULES)
    return is_builtin or (name.startswith("sym_") and getattr(torch, name, None) is target)


def is_core(target: Any) -> bool:
    """Whether it is in the Core ATen operator set, which run_decompositions is documented to decompose ATen to.

    What is no operator of PyTorch's own kernels is left as it is.
    """
    is_of_torch = isinstance(target, OpOverload) and target.namespace in ("aten", "prims")
    return not is_of_torch or torch.Tag.core in target.tags


def name_of(target: Any) -> str:
    """An op as complaints name it."""
    return str(target) if isinstance(target, (OpOverload, HigherOrderOperator)) else getattr(target, "__name__", str(target))


def _written_buffers(case: Exported) -> Iterator[Complaint]:
    """Each buffer whose value eager changed is an extra output of the functional graph."""
    parameters = case.program.parameter_leaves
    changed = [state.fqn for state in case.program.state if state.value in case.changed and state.value not in parameters]
    for form in case.forms.keys() & set(FUNCTIONAL):
        for fqn in changed:
            if fqn not in case.forms[form].graph_signature.buffers_to_mutate.values():
                yield f"{form}:outputs of written buffers", "one for each", "none"


@exported_rule("E11", lambda case: has_forms(case) and bool(_asked_for(case)))
def control_flow_is_higher_order(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        calls = [node for _, module in graphs_of(exported) for node in _calls(module)]
        for wanted in _asked_for(case):
            named = [node for node in calls if name_of(node.target) == wanted]
            if not named and form in (EXPORTED, STRICT):  # a decomposition leaves out what nothing depends on
                yield f"{form}:{wanted}", "a call of the higher-order op", "none"
            elif not all(any(operand.op == "get_attr" for operand in node.all_input_nodes) for node in named):
                yield f"{form}:{wanted}", "subgraphs read by get_attr", "none"


def _asked_for(case: Exported) -> set[str]:
    """The higher-order ops that stand for statements whose results are used."""
    program = case.program
    used = {name for s in program.body for name in s.operands} | {r.name for r in program.flat_outputs if isinstance(r, Ref)}
    return {CONTROL[s.op] for s in program.body if s.op in CONTROL and used.intersection(s.results)}
