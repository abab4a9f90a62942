"""Chapter J, second half: the graph's values, soundness and reproducibility, and the export itself."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch._subclasses import FakeTensor

from conformance.case import Case
from conformance.difference import differences, same
from conformance.graph import (
    OF_BACKWARD,
    backward_nodes,
    chain,
    flat_results,
    kind_of,
    kinds_of,
    lines_of,
    output_descriptors,
    output_node,
    placeholder_descriptors,
    placeholders,
    sizes_of,
    strides_of,
    users_calls,
    whole,
)
from conformance.observation import Raised
from conformance.rule import Complaint, has_joint, is_training, rule
from conformance.rules.primals import attributes, both_sides, name_of, output_of, passed_at


@rule("J10", lambda case: has_joint(case) and case.thorough)
def the_cache_hash_identifies_the_export(case: Case) -> Iterator[Complaint]:
    if not hasattr(case.joint, "cache_hash"):
        yield "cache_hash", "a member of the joint", "none"
        return
    own = case.joint.cache_hash()
    if not re.fullmatch(r"[0-9a-f]{64}", own):
        yield "cache_hash", "64 hex digits", own
    if case.second is not None and case.second.cache_hash() != own:
        yield "cache_hash of a second export", "the same", "another"
    if case.other is not None and case.other.cache_hash() == own:
        yield "cache_hash of another program", "another", "the same"


@rule("J11", has_joint)
def val_is_what_it_stands_for(case: Case) -> Iterator[Complaint]:
    results = dict(zip(output_descriptors(case.joint), flat_results(case.joint)))
    vals = {d: node.meta.get("val") for d, node in zip(placeholder_descriptors(case.joint), placeholders(case.joint))}
    for descriptor, val in vals.items():
        passed, of = passed_at(case, descriptor), results.get(output_of(case, descriptor))
        if isinstance(passed, torch.Tensor):
            yield from _val_complaint(f"val of {kinds_of(descriptor)}", passed, val, strides=True)
        elif isinstance(of, fx.Node):
            yield from _val_complaint(f"val of {kinds_of(descriptor)}", of.meta.get("val"), val, strides=False)
    for descriptor, result in results.items():
        if kind_of(descriptor) == "GradAOTOutput" and isinstance(result, fx.Node) and descriptor.grad_of in vals:
            yield from _val_complaint(
                f"val of {kinds_of(descriptor)}", vals[descriptor.grad_of], result.meta.get("val"), strides=False
            )
        elif kind_of(whole(descriptor)) == "GradAOTOutput" and isinstance(result, fx.Node):
            yield from _piece_complaint(case, descriptor, result.meta.get("val"))


def _piece_complaint(case: Case, descriptor: Any, val: Any) -> Iterator[Complaint]:
    """A piece of a gradient is as in eager: autograd sees to the outside of a subclass alone, not to what is in it."""
    name = name_of(case, whole(descriptor).grad_of)
    pieces = {path: kind for path, *kind in case.eager["train"].get(f"grads.{name}.pieces", ())}
    expected = pieces.get(attributes(descriptor))
    if expected is not None and isinstance(val, torch.Tensor):
        _, shape, dtype, *_ = expected
        if (shape, dtype) != (sizes_of(val), str(val.dtype)):
            yield f"val of {kinds_of(descriptor)}", (shape, dtype), (sizes_of(val), str(val.dtype))


def _val_complaint(path: str, expected: Any, found: Any, strides: bool) -> Iterator[Complaint]:
    def facts(tensor: Any) -> Any:
        if not isinstance(tensor, torch.Tensor):
            return None
        stride = strides_of(tensor) if strides else None
        return sizes_of(tensor), stride, tensor.dtype, tensor.device

    if facts(expected) != facts(found):
        yield path, facts(expected), facts(found)


@rule("J12", lambda case: has_joint(case) and "disable_functionalization" not in case.program.options)
def the_graph_is_functional(case: Case) -> Iterator[Complaint]:
    kept = torch.ops.aten.copy_.default if "keep_inference_input_mutations" in case.program.options else None
    for node in case.joint.graph_module.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op == "call_function" and schema is not None and schema.is_mutable and node.target is not kept:
            yield f"node {node.target}", "an op that mutates nothing", node.format_node()


@rule("J13", has_joint)
def the_graph_is_sound(case: Case) -> Iterator[Complaint]:
    module = case.joint.graph_module
    try:
        module.graph.lint()
        twin = copy.deepcopy(module) if case.thorough else None
    except Exception as error:
        yield "graph_module", "lint and deepcopy without an error", Raised("lint", error)
        return
    if twin is None:
        return
    described = [node.meta.get("desc") for node in twin.graph.nodes if node.op in ("placeholder", "output")]
    if described != [*placeholder_descriptors(case.joint), output_node(case.joint).meta.get("desc")]:
        yield "deepcopy", "the same descriptors", described
    yield from _differs_from_the_interpreter(twin)


def _differs_from_the_interpreter(module: fx.GraphModule) -> Iterator[Complaint]:
    module.graph.set_codegen(fx.graph.CodeGen())  # one argument a placeholder, whatever the joint takes
    module.recompile()
    if module.graph.find_nodes(op="call_function", target=torch.ops.aten.resize.default):
        return  # what it grows by is left as it is found
    inputs = [_example(node) for node in module.graph.find_nodes(op="placeholder")]
    with torch.no_grad():
        interpreted = _flat_run(fx.Interpreter(module).run, [_again(x) for x in inputs])
        ran = _flat_run(module, [_again(x) for x in inputs])
    for index, (a, b) in enumerate(zip(interpreted, ran)):
        if not isinstance(a, FakeTensor) and not same(a, b):  # a constant that the trace left fake has no values
            yield f"generated code, output {index}", "what the interpreter gives", "something else"


def _example(node: fx.Node) -> Any:
    """A real input for a placeholder, of its val's shape; integers are 0, a legal index nearly everywhere."""
    val = node.meta.get("val")
    if not isinstance(val, torch.Tensor):
        return val
    number = 0.5 if val.is_floating_point() or val.is_complex() else 0  # 0 would hide what is multiplied by it
    return torch.empty_strided(sizes_of(val), strides_of(val), dtype=val.dtype, device=val.device).fill_(number)


def _again(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _flat_run(run: Any, inputs: list[Any]) -> list[Any]:
    with torch.random.fork_rng():
        torch.manual_seed(0)  # what is drawn at random is drawn alike
        try:
            return pytree.tree_leaves(run(*inputs))
        except Exception as error:  # invented inputs may be out of an op's domain; then both must say so
            return [type(error).__name__]


@rule("J14", lambda case: is_training(case) or "_record_nn_module_stack" in case.optioned)
def forward_and_backward_are_told_apart(case: Case) -> Iterator[Complaint]:
    if is_training(case):
        yield from _wrong_tags(case)
    graph = "a training graph" if is_training(case) else "an inference graph"
    for how, joint in (("", case.optioned.get("_record_nn_module_stack")), (", captured by Dynamo", case.captured)):
        if joint is not None and any(node.meta.get("nn_module_stack") is None for node in users_calls(joint)):
            yield f"nn_module_stack asked for, of a forward node in {graph}{how}", "the modules it was called in", "none"


#: A write of an input that is kept in the graph is pinned to the forward by a tag of its own.
PINNED_TO_THE_FORWARD = "must_be_in_forward"


def _wrong_tags(case: Case) -> Iterator[Complaint]:
    forward, backward = _forward_nodes(case), backward_nodes(case.joint)
    for node in case.joint.graph_module.graph.nodes:
        tag = node.meta.get("partitioner_tag")
        if node.op == "output" or (tag == PINNED_TO_THE_FORWARD and node not in backward and _is_kept_write(node)):
            continue
        if node in backward and tag != "is_backward":
            yield f"partitioner_tag of {_what(node)}, which depends on a tangent", "is_backward", tag
        elif node in forward and tag != "is_forward":
            yield f"partitioner_tag of {_what(node)}, which an output depends on", "is_forward", tag
        elif node not in backward and node not in forward and tag != "is_forward":
            yield "partitioner_tag of a node that depends on no tangent, used in backward alone", "is_forward", tag
        if node.op == "call_function" and "seq_nr" not in node.meta:
            yield f"seq_nr of {_what(node)}", "a number", None


def _is_kept_write(node: fx.Node) -> bool:
    return node.target is torch.ops.aten.copy_.default and node.all_input_nodes[0].op == "placeholder"


def _forward_nodes(case: Case) -> set[fx.Node]:
    """The nodes that an output of the forward depends on, and the primals."""
    skipped = [kind_of(whole(d)) in OF_BACKWARD for d in placeholder_descriptors(case.joint)]
    found = {node for node, skip in zip(placeholders(case.joint), skipped) if not skip}
    pairs = zip(flat_results(case.joint), output_descriptors(case.joint))
    waiting = [r for r, d in pairs if isinstance(r, fx.Node) and not any(kind_of(x) in OF_BACKWARD for x in chain(d))]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.all_input_nodes)
    return found


def _what(node: fx.Node) -> str:
    return str(node.target) if node.op == "call_function" else kind_of(node.meta.get("desc"))


@rule("J15", lambda case: bool(case.before))
def exporting_changes_nothing(case: Case) -> Iterator[Complaint]:
    for difference in differences(case.before, case.after):
        yield difference.path, difference.expected, difference.found


def _nothing_is_differentiable(case: Case) -> bool:
    facts = case.eager["train"]
    states = [fact for path, fact in facts.items() if path.endswith(".autograd")]
    takes_grad = any(leaf.requires_grad for leaf in case.program.leaves)
    return has_joint(case) and not facts["error"] and set(states) <= {"no grad"} and not takes_grad


@rule("J16", _nothing_is_differentiable)
def without_gradients_it_is_an_inference_graph(case: Case) -> Iterator[Complaint]:
    for side, descriptors in both_sides(case):
        for descriptor in descriptors:
            if any(kind_of(d) in ("TangentAOTInput", "GradAOTOutput") for d in chain(descriptor)):
                yield f"{side} {kind_of(descriptor)}", "none, as nothing is differentiable", descriptor


@rule("J17", lambda case: has_joint(case) and case.thorough)
def two_exports_give_one_graph(case: Case) -> Iterator[Complaint]:
    if case.second is None:
        yield "a second export", "a joint graph, as from the first", "an error"
        return
    first, second = case.lines, lines_of(case.second)
    for mine, other in zip(first, second):
        if mine != other:
            yield "graph of a second export", mine, other
            return
    if len(first) != len(second):
        yield "graph of a second export", f"{len(first)} nodes", f"{len(second)} nodes"
