"""Chapter J, first half: descriptors, their order and completeness, and the joint's own members.

The expectations come from the program and from what eager showed, never from AOTAutograd's own metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx

from conformance.case import Case
from conformance.graph import (
    PIECES,
    chain,
    flat_results,
    kind_of,
    output_descriptors,
    placeholder_descriptors,
    placeholders,
    whole,
)
from conformance.named import short, unlike_stated
from conformance.observation import share_storage
from conformance.rule import Complaint, has_joint, is_training, rule
from conformance.rules.causes import Eager
from conformance.rules.primals import both_sides
from generators.dressings import fqns

BASES = ("ViewBaseAOTInput", "SyntheticBaseAOTInput")


@rule("J1", has_joint)
def every_place_has_a_descriptor(case: Case) -> Iterator[Complaint]:
    names = case.implementation.descriptors
    for node in placeholders(case.joint):
        if not isinstance(node.meta.get("desc"), names.AOTInput):
            yield f"placeholder {node.name}.desc", "an AOTInput", node.meta.get("desc")
    results, descriptors = flat_results(case.joint), output_descriptors(case.joint)
    if len(results) != len(descriptors):
        yield "output.desc", f"{len(results)} entries, one a flat output", f"{len(descriptors)} entries"
    for index, (result, descriptor) in enumerate(zip(results, descriptors)):
        if descriptor is None and result is not None:
            yield f"output[{index}].desc", f"a descriptor of {result}", None
        elif descriptor is not None and not isinstance(descriptor, names.AOTOutput):
            yield f"output[{index}].desc", "an AOTOutput", descriptor


@rule("J2", has_joint)
def descriptors_are_unique(case: Case) -> Iterator[Complaint]:
    for side, descriptors in both_sides(case):
        for descriptor in dict.fromkeys(descriptors):
            if descriptor is not None and descriptors.count(descriptor) > 1:
                yield f"{side} {kind_of(descriptor)}", "once", f"{descriptors.count(descriptor)} times: {descriptor}"


@rule("J3", has_joint)
def inputs_come_in_order(case: Case) -> Iterator[Complaint]:
    fqns = [*case.joint.params_spec, *case.joint.buffers_spec]
    order = [key for d in placeholder_descriptors(case.joint) if (key := _input_rank(d, fqns)) is not None]
    if order != sorted(order):
        yield "inputs", "tokens, parameters, buffers, primals, tangents, backward tokens", _first_descent(case, fqns)
    if case.stated:
        found = map(short, placeholder_descriptors(case.joint))
        yield from unlike_stated(f"case {case.stated.name}: input", case.stated.inputs, found)


def _input_rank(descriptor: Any, fqns: list[str]) -> tuple[int, int] | None:
    """Where the contract puts an input; None where it does not say (Philox, and a base among the primals)."""
    kinds = [kind_of(d) for d in chain(descriptor)]
    if "TangentAOTInput" in kinds:
        return (4, 0)
    if any(base in kinds for base in BASES):
        return None
    root: Any = list(chain(descriptor))[-1] if descriptor is not None else None
    kind = kind_of(root)
    if kind in ("ParamAOTInput", "BufferAOTInput"):
        return (1 if kind == "ParamAOTInput" else 2, fqns.index(root.target) if root.target in fqns else -1)
    fixed = {"ForwardTokenAOTInput": 0, "PlainAOTInput": 3, "BackwardTokenAOTInput": 5}
    return (fixed[kind], root.idx) if kind in fixed else None


def _first_descent(case: Case, fqns: list[str]) -> str:
    """The first two inputs that stand the wrong way round, by kind."""
    ranked = [(rank, d) for d in placeholder_descriptors(case.joint) if (rank := _input_rank(d, fqns)) is not None]
    first, second = next((a, b) for a, b in zip(ranked, ranked[1:]) if b[0] < a[0])
    return f"{kind_of(first[1])} before {kind_of(second[1])}: {first[1]} before {second[1]}"


@rule("J4", has_joint)
def outputs_come_in_order(case: Case) -> Iterator[Complaint]:
    inputs = placeholder_descriptors(case.joint)
    order = [key for d in output_descriptors(case.joint) if (key := _output_rank(d, inputs)) is not None]
    if order != sorted(order):
        found = [kind_of(d) for d in output_descriptors(case.joint)]
        yield "outputs", "tokens, mutations, outputs, bases, gradients in input order, backward tokens", f"{order} {found}"
    if case.stated:
        given = map(short, output_descriptors(case.joint))
        yield from unlike_stated(f"case {case.stated.name}: output", case.stated.outputs, given)


def _output_rank(descriptor: Any, inputs: list[Any]) -> tuple[int, int] | None:
    if descriptor is None:
        return None
    root = whole(descriptor)
    kind = kind_of(root)
    if kind == "GradAOTOutput":
        return (4, next((i for i, d in enumerate(inputs) if root.grad_of in chain(d)), -1))
    if kind == "PlainAOTOutput":
        return (2, root.idx)
    fixed = {
        "ForwardTokenAOTOutput": 0,
        "InputMutationAOTOutput": 1,
        "MetadataMutationAOTOutput": 3,
        "IntermediateBaseAOTOutput": 3,
        "BackwardTokenAOTOutput": 5,
    }
    return (fixed[kind], 0) if kind in fixed else None


@rule("J5", has_joint)
def nothing_of_the_user_is_lost(case: Case) -> Iterator[Complaint]:
    returned = set(map(whole, output_descriptors(case.joint)))
    for index in range(len(case.program.flat_outputs)):
        if case.implementation.descriptors.PlainAOTOutput(idx=index) not in returned:
            yield f"outputs[{index}]", f"PlainAOTOutput(idx={index}) or its pieces", "nothing"
    present = placeholder_descriptors(case.joint)
    tensors = case.primals
    for descriptor, tensor in tensors.items():
        if any(descriptor == whole(d) for d in present):
            continue
        if not isinstance(tensor, torch.Tensor) or not any(
            _represents(found, tensor, tensors) for found in present if found is not None
        ):
            yield f"inputs {kind_of(descriptor)}", f"{descriptor}, its pieces, its twin, or a base of it", "nothing"


def _is_under_base(descriptor: Any) -> bool:
    return any(kind_of(d) in BASES for d in chain(descriptor))


def _represents(found: Any, tensor: torch.Tensor, tensors: dict[Any, Any]) -> bool:
    """Whether the input ``found`` is a twin of ``tensor`` (the same object), or a base over its storage."""
    root = list(chain(found))[-1]
    other = tensors.get(root)
    if not isinstance(other, torch.Tensor):
        return False
    if _is_under_base(found):
        return share_storage(other, tensor)
    return other is tensor


@rule("J6", has_joint)
def tangents_and_gradients_are_complete(case: Case) -> Iterator[Complaint]:
    names = case.implementation.descriptors
    inputs = list(map(whole, placeholder_descriptors(case.joint)))
    tangents = {d.output: None for d in inputs if kind_of(d) == "TangentAOTInput"}
    outputs = list(map(whole, output_descriptors(case.joint)))
    for output in tangents:
        if output not in outputs:
            yield f"inputs TangentAOTInput({kind_of(output)})", "a tangent of an output of this graph", output
    for index, differentiable in _judged_outputs(case):
        output = names.PlainAOTOutput(idx=index)
        if differentiable != (output in tangents or names.IntermediateBaseAOTOutput(base_of=output) in tangents):
            wanted, found = ("one", "none") if differentiable else ("none", "one")
            yield "inputs TangentAOTInput(PlainAOTOutput)", f"{wanted} for output {index}", found
    for output, differentiable in _judged_additions(case):
        if differentiable != (output in tangents):
            wanted, found = ("one", "none") if differentiable else ("none", "one")
            yield f"inputs TangentAOTInput({kind_of(output)})", f"{wanted} for {output}", found
    if is_training(case):
        yield from _gradient_complaints(case, inputs)


def _judged_outputs(case: Case) -> Iterator[tuple[int, bool]]:
    """The outputs of which eager alone says whether they have a tangent: those that alias nothing in sight.

    A differentiable view may be replayed on its base outside the graph, and then has none of its own.
    """
    facts = case.eager["train"]
    shared = {name for path, fact in facts.items() if path.endswith(".shares") and fact for name in (path[:-7], *fact)}
    for index in range(len(case.program.flat_outputs)):
        path = f"outputs[{index}]"
        state = facts.get(f"{path}.autograd")
        if not facts["error"] and path not in shared and state in ("no grad", "grad_fn"):
            yield index, state == "grad_fn"


def _judged_additions(case: Case) -> Iterator[tuple[Any, bool]]:
    """The mutations and intermediate bases that are returned, and whether they have a tangent.

    Only a differentiable intermediate has a base returned. A mutation is judged where no mode and no detaching
    comes between what eager's input is after the call and what autograd knows of the write.
    """
    facts = case.eager["train"]
    held = {id(tensor): f"caller.{name}.autograd" for name, tensor in case.built.tensors.items()}
    is_clear = not facts["error"] and not Eager(case.program, case.before, facts).leaves_autograd
    for output in dict.fromkeys(map(whole, output_descriptors(case.joint))):
        if kind_of(output) == "IntermediateBaseAOTOutput":
            yield output, True
        elif kind_of(output) == "InputMutationAOTOutput" and is_clear:
            state = facts.get(held.get(id(case.primals.get(output.mutated_input)), ""))
            if state in ("no grad", "grad_fn"):
                yield output, state == "grad_fn"


def _gradient_complaints(case: Case, inputs: list[Any]) -> Iterator[Complaint]:
    """Of the ``inputs`` as wholes; a gradient in pieces counts once, whatever pieces there are."""
    names = case.implementation.descriptors
    outputs = output_descriptors(case.joint)
    for output in dict.fromkeys(map(whole, outputs)):
        if kind_of(output) == "GradAOTOutput" and output.grad_of not in inputs:
            yield f"outputs GradAOTOutput({kind_of(output.grad_of)})", "a gradient of an input of this graph", output
    primals = case.primals
    in_pieces = {whole(d) for d in outputs if kind_of(d) in PIECES}
    for descriptor in dict.fromkeys(inputs):
        if descriptor in primals:
            wanted = _requires_grad(primals[descriptor])
        elif kind_of(descriptor) in BASES:
            wanted = _base_requires_grad(descriptor, primals)
        else:
            continue
        gradient = names.GradAOTOutput(grad_of=descriptor)
        found = outputs.count(gradient) + (gradient in in_pieces)
        if found != int(wanted):
            yield f"outputs GradAOTOutput({kind_of(descriptor)})", f"{int(wanted)} for {descriptor}", found


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _base_requires_grad(descriptor: Any, primals: dict[Any, Any]) -> bool:
    """Whether the views' own base requires grad, or for a synthetic base any input on its storage."""
    tensor = primals.get(list(chain(descriptor))[-1])
    if not isinstance(tensor, torch.Tensor):
        return False
    if kind_of(descriptor) == "ViewBaseAOTInput":
        return _requires_grad(tensor._base)
    return any(_requires_grad(other) and share_storage(other, tensor) for other in primals.values())


@rule("J8", has_joint)
def specs_list_the_state_by_fqn(case: Case) -> Iterator[Complaint]:
    hung = [(fqn, case.before[f"caller.{name}.parameter"]) for fqn, name in fqns(case.program).items()]
    for spec, is_parameter in (("params_spec", True), ("buffers_spec", False)):
        expected = sorted(fqn for fqn, flag in hung if flag is is_parameter)
        found = list(getattr(case.joint, spec))
        if sorted(found) != expected:
            yield spec, f"{expected}, each once", found


@rule("J9", has_joint)
def the_joint_can_be_read_and_replaced(case: Case) -> Iterator[Complaint]:
    joint = case.joint
    missing = [name for name in ("graph_module", "fake_mode", "in_spec", "out_spec") if not hasattr(joint, name)]
    if missing:
        yield "members of the joint", "all that are documented", f"no {', '.join(missing)}"
        return
    before = joint.graph_module
    replacement = fx.GraphModule({}, fx.Graph())
    joint.graph_module = replacement
    if joint.graph_module is not replacement:
        yield "graph_module", "the graph module that was set", "another"
    joint.graph_module = before
    for node in placeholders(joint):
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None and mode is not joint.fake_mode:
            yield f"placeholder {node.name}.val", "a tensor of the joint's fake_mode", "one of another mode"
    yield from _structure_complaints(case)


def _structure_complaints(case: Case) -> Iterator[Complaint]:
    structure = case.eager["train"].get("outputs.structure")
    if structure is not None and str(case.joint.out_spec) != structure:
        yield "out_spec", structure, str(case.joint.out_spec)
    state = [*case.joint.params_spec, *case.joint.buffers_spec]
    given, kwargs = [*state, *case.built.args], case.built.kwargs
    expected = [str(pytree.tree_structure((positional, kwargs))) for positional in (given, tuple(given))]
    if str(case.joint.in_spec) not in expected:
        yield "in_spec", f"the state, then the user's arguments: {expected[0]}", str(case.joint.in_spec)
