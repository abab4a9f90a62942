"""Chapter E: what the nodes say of themselves, and whether it is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from conformance.exported.case import Exported
from conformance.exported.forms import STRICT
from conformance.exported.rules.graph import has_forms, name_of
from conformance.rule import Complaint, exported_rule

#: What each call carries: one of these keys a row. The last was replaced by another in later versions.
CARRIED = (("val",), ("stack_trace",), ("nn_module_stack",), ("source_fn_stack", "torch_fn"))


@exported_rule("E5", has_forms)
def nodes_carry_their_metadata(case: Exported) -> Iterator[Complaint]:
    built = {name: type(module).__name__ for name, module in case.built.module.named_modules()}
    for form, exported in case.forms.items():
        modules = built | ({"": "Program"} if form == STRICT else {})  # Dynamo reads the printed module
        for node in exported.graph.nodes:
            if node.op == "call_function":
                yield from _call_complaints(form, node, modules)
            elif node.op == "placeholder" and "val" not in node.meta:
                yield f"{form}:val of a placeholder", "what the graph expects", "nothing"


def _call_complaints(form: str, node: fx.Node, modules: dict[str, str]) -> Iterator[Complaint]:
    kind = kind_of(node.target)
    for keys in CARRIED:
        if not any(key in node.meta for key in keys):
            yield f"{form}:{keys[0]} of {kind}", " or ".join(keys), "nothing"
    trace = node.meta.get("stack_trace")
    if "stack_trace" in node.meta and (not isinstance(trace, str) or "File " not in trace):
        yield f"{form}:stack_trace of {kind}", "the lines of Python that it came of", trace
    if any(isinstance(val, torch.Tensor) and not isinstance(val, FakeTensor) for val in tree_leaves(node.meta.get("val"))):
        yield f"{form}:val of {kind}", "fake tensors", "another tensor"
    stack = node.meta.get("nn_module_stack", {})
    if not isinstance(stack, dict):
        yield f"{form}:nn_module_stack of {kind}", "a dict of modules", type(stack).__name__
        return
    for path, owner in stack.values():
        expected = modules.get(path.partition("@")[0])
        if expected is None or expected not in str(owner):
            told = f"{path}: {str(owner).rpartition('.')[2]}"
            yield f"{form}:nn_module_stack of {kind}", "modules of the program with their classes", told


def kind_of(target: Any) -> str:
    """What kind of thing a node calls."""
    if isinstance(target, HigherOrderOperator):
        return "a higher-order op"
    if isinstance(target, OpOverload) and not target._schema.returns:
        return "an op that returns nothing"
    if isinstance(target, OpOverload):
        return "an ATen op" if target.namespace == "aten" else "a custom op"
    return "a Python function"


def _was_run(case: Exported) -> bool:
    return has_forms(case) and not case.eager["error"] and any(run.outputs for run in case.runs.values())


@exported_rule("E6", _was_run)
def what_is_told_of_results_is_true(case: Exported) -> Iterator[Complaint]:
    for form, run in (*case.runs.items(), *case.resized_runs.items()):
        for node, place, expected, found in run.untrue:
            of = "a placeholder" if node.op == "placeholder" else name_of(node.target)
            yield f"{form}:{place} of {of}", expected, found


def symbols_of(node: fx.Node) -> set[Any]:
    """The symbols in the sizes of what a node gives, or in the number that it is."""
    val = node.meta.get("val")
    numbers = [*val.shape, *val.stride()] if isinstance(val, torch.Tensor) and val.layout == torch.strided else [val]
    return {symbol for number in numbers if isinstance(number, torch.SymInt) for symbol in number.node.expr.free_symbols}
