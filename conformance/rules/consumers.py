"""What those who consume joint graphs rely on: J19, J21 to J24, and J26; on what nodes carry along, see carried.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from conformance.case import Case
from conformance.graph import (
    chain,
    flat_results,
    kind_of,
    output_descriptors,
    placeholder_descriptors,
    placeholders,
    whole,
)
from conformance.implementation import Joint
from conformance.observation import significant_stride
from conformance.rule import Complaint, has_joint, is_training, rule
from generators.dressings import fqns
from generators.program import Ref
from generators.vocabulary import VOCABULARY

#: What a placeholder may stand for beside primals and tangents.
NO_PRIMAL = ("TangentAOTInput", "ForwardTokenAOTInput", "BackwardTokenAOTInput", "Philox")


@rule("J19", has_joint)
def each_fqn_has_one_placeholder(case: Case) -> Iterator[Complaint]:
    found = [(kind_of(d), d.target) for d in _primals(case.joint) if hasattr(d, "target")]
    for kind, names in (("ParamAOTInput", case.joint.params_spec), ("BufferAOTInput", case.joint.buffers_spec)):
        of = getattr(case.implementation.descriptors, kind)
        for fqn in names:
            twins = [(kind, other) for other in names if case.primals.get(of(other)) is case.primals.get(of(fqn))]
            if not any(found.count(twin) for twin in twins) or found.count((kind, fqn)) > 1:
                yield f"placeholders of one FQN: {kind}", "1", str(found.count((kind, fqn)))


def _primals(joint: Joint) -> list[Any]:
    """What each primal's placeholders stand for, in their order; the pieces of one subclass count once."""
    wholes = [whole(descriptor) for descriptor in placeholder_descriptors(joint)]
    return [d for d, _ in groupby(wholes) if d is not None and not _is_of(d, NO_PRIMAL)]


def _is_of(descriptor: Any, kinds: tuple[str, ...]) -> bool:
    return any(kind_of(link).startswith(kinds) for link in chain(descriptor))


@rule("J21", is_training)
def each_primal_has_a_gradient_slot(case: Case) -> Iterator[Complaint]:
    primals, slots = _primals(case.joint), [primal for primal, _ in _gradient_slots(case.joint)]
    if len(primals) != len(slots):
        yield "number of gradient slots", f"{len(primals)}, as many as primals", str(len(slots))
        return
    for primal, slot in zip(primals, slots):
        if slot is not None and slot != primal:
            yield "gradient slot of a primal", f"the gradient of {primal}", f"that of {slot}"


def _gradient_slots(joint: Joint) -> list[tuple[Any, Any]]:
    """What is after the forward outputs: the primal of each slot, None where none is said, and what it holds."""
    pairs = list(zip(output_descriptors(joint), flat_results(joint)))
    while pairs and _is_of(pairs[-1][0], ("BackwardTokenAOTOutput", "Philox")):
        pairs.pop()
    last = max((i for i, (d, _) in enumerate(pairs) if d is not None and not _is_of(d, ("GradAOTOutput",))), default=-1)
    slots: list[tuple[Any, Any]] = []
    for descriptor, result in pairs[last + 1 :]:
        gradient = whole(descriptor)
        is_next_piece = gradient is not descriptor and slots and slots[-1][0] == gradient.grad_of
        if not is_next_piece:
            slots.append((None if gradient is None else gradient.grad_of, result))
    return slots


@rule("J22", is_training)
def names_tell_primals_from_tangents(case: Case) -> Iterator[Complaint]:
    for node, descriptor in zip(placeholders(case.joint), placeholder_descriptors(case.joint)):
        if _is_of(descriptor, ("Philox", "ForwardTokenAOTInput")):
            continue  # by names of their own, and by the place
        of_backward = _is_of(descriptor, ("TangentAOTInput", "BackwardTokenAOTInput"))
        wanted, unwanted = ("tangents", "primals") if of_backward else ("primals", "tangents")
        if wanted not in str(node.target) or unwanted in str(node.target):
            yield f"name of a {kind_of(whole(descriptor))}", f"one with {wanted}", str(node.target)


@rule("J23", lambda case: is_training(case) and bool(_unused_parameters(case)))
def unused_parameters_keep_their_place(case: Case) -> Iterator[Complaint]:
    slots = dict(_gradient_slots(case.joint))
    primals = _primals(case.joint)
    for fqn in _unused_parameters(case):
        descriptor = case.implementation.descriptors.ParamAOTInput(target=fqn)
        if descriptor not in primals:
            yield "unused parameter", "a placeholder", "none"
        elif slots.get(descriptor) is not None:
            yield "gradient of an unused parameter", "None", "a node"


def _unused_parameters(case: Case) -> list[str]:
    """The FQNs that the forward names nowhere, of parameters that share memory with nothing else, and are no arguments."""
    program, tensors = case.program, case.built.tensors
    used = {name for statement in program.body for name in statement.operands}
    used |= {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}
    if any(VOCABULARY[statement.op].needs_module for statement in program.body):  # a layer may use all that it holds
        used |= {f"self.{state.fqn}" for state in program.state if state.fqn.startswith("layer.")}
    passed = {leaf.name for leaf in program.flat_args if isinstance(leaf, Ref)}
    tied = Counter(state.value for state in program.state)
    held = [state for state in program.state if state.value not in passed and tied[state.value] == 1]
    alone = [state for state in held if sum(_share(tensors[state.value], t) for t in tensors.values()) == 1]
    unused = [s.value for s in alone if f"self.{s.fqn}" not in used and isinstance(tensors[s.value], torch.nn.Parameter)]
    return [fqn for fqn, value in fqns(program).items() if value in unused]  # a parametrization gives another FQN


def _share(one: torch.Tensor, other: torch.Tensor) -> bool:
    if is_traceable_wrapper_subclass(one) or is_traceable_wrapper_subclass(other):
        return one is other
    return bool(one.untyped_storage()._cdata == other.untyped_storage()._cdata)


@rule("J24", has_joint)
def every_node_has_a_val_of_one_fake_mode(case: Case) -> Iterator[Complaint]:
    primals = case.primals
    modes = [mode for mode in [getattr(case.joint, "fake_mode", None)] if mode is not None]
    for node in case.joint.graph_module.graph.nodes:
        if node.op == "placeholder" and not _is_constant(primals.get(node.meta.get("desc"), node)):
            yield from _wrong_val(f"a {kind_of(whole(node.meta.get('desc')))}", node, modes)
        elif node.op == "call_function" and _gives_something(node):
            yield from _wrong_val("a call", node, modes)


def _is_constant(primal: Any) -> bool:
    """Whether a caller's value is none that a graph could describe: the trace is for this number alone."""
    return primal is None or isinstance(primal, (bool, int, float, str))


def _gives_something(node: fx.Node) -> bool:
    """Whether there is a result to describe: an assertion, say, returns nothing."""
    schema = getattr(node.target, "_schema", None)
    return schema is None or bool(schema.returns)


def _wrong_val(what: str, node: fx.Node, modes: list[Any]) -> Iterator[Complaint]:
    """What is wrong with the node's val. The first of ``modes`` is the one; without any so far, it is the val's."""
    if node.meta.get("val") is None:
        yield f"val of {what}", "what it gives", "none"
    for tensor in pytree.tree_leaves(node.meta.get("val")):
        if not isinstance(tensor, torch.Tensor) or is_traceable_wrapper_subclass(tensor):
            continue
        if not isinstance(tensor, FakeTensor):
            yield f"val of {what}", "a fake tensor", type(tensor).__name__
            continue
        modes.append(tensor.fake_mode)
        if modes[0] is not tensor.fake_mode:
            yield f"fake mode of the val of {what}", "the one mode", "another"


#: Switched off, tangents are taken to be contiguous, and made so where they are not.
_GUESSED = "config.guess_tangent_strides_as_outputs"


@rule("J26", lambda case: is_training(case) and _GUESSED not in case.program.options)
def a_tangent_has_the_strides_of_its_output(case: Case) -> Iterator[Complaint]:
    results = dict(zip(output_descriptors(case.joint), flat_results(case.joint)))
    for node, descriptor in zip(placeholders(case.joint), placeholder_descriptors(case.joint)):
        if kind_of(descriptor) != "TangentAOTInput":
            continue
        output, tangent = _val(results.get(descriptor.output)), _val(node)
        if not _strides_are_promised(output) or not isinstance(tangent, torch.Tensor) or tangent.shape != output.shape:
            continue
        if significant_stride(tangent) != significant_stride(output):
            yield f"strides of TangentAOTInput({kind_of(descriptor.output)})", output.stride(), tangent.stride()


def _val(result: Any) -> Any:
    return result.meta.get("val") if isinstance(result, fx.Node) else None


def _strides_are_promised(output: Any) -> bool:
    """Whether Note [Tangents memory format] of torch promises an output's strides to its tangent."""
    if not isinstance(output, torch.Tensor) or output.layout != torch.strided or output._has_symbolic_sizes_strides:
        return False
    elements = 1
    for stride, size in sorted(zip(output.stride(), output.shape)):
        if size != 1 and stride != elements:
            return False  # not dense, or it overlaps itself
        elements *= size
    return True
