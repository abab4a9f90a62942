"""Implementations whose FX utilities answer wrongly, on joint graphs that are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
import torch._functorch._aot_autograd.descriptors as d
import torch._functorch._aot_autograd.fx_utils as fx_utils
from torch import fx

from conformance.graph import kind_of
from conformance.implementation import Implementation
from conformance.pytorch import PyTorch
from conformance.rules.utilities import PAIRING, PIECES, STATE
from generators.program import Const, Node, Program, Ref, State
from tests import programs
from tests.wrong.base import Wrong
from tests.wrong.graph import COUNT, MASK_RETURNED, SHARED, TWO_PARAMETERS, WEIGHT
from tests.wrong.pipeline import GRAD, OUTPUT, PLAIN, TANGENT, Spoilt, piece, results

Utility = Callable[[fx.Graph], Any]
INPUTS, OUTPUTS, PARAMETERS, PLAIN_INPUTS, PLAIN_OUTPUTS = PAIRING
#: As PyTorch has them.
OWN: dict[str, Utility] = {name: getattr(fx_utils, name) for name in (*PAIRING, *STATE)}

#: A number is passed, and another one returned.
NUMBERS = replace(programs.ONE_OUTPUT, args=(*programs.ONE_OUTPUT.args, Const(3)))
NUMBERS_RETURNED = replace(programs.ONE_OUTPUT, outputs=Node("tuple", (Ref("v0"), Const(7))))
#: The weight is not used, and the output does not require grad by it.
WEIGHT_UNUSED = replace(programs.TWO_OUTPUTS, body=(programs.let("v0", "sin", "a0"),), outputs=programs.outputs("v0"))
#: The weight, a subclass, is not used, and the output does not require grad by it.
SUBCLASS_UNUSED = replace(programs.SUBCLASS_PARAMETER, body=(programs.let("v0", "sin", "a0"),), outputs=programs.outputs("v0"))
#: Two buffers, by name in another order than by registration.
TWO_BUFFERS = replace(
    programs.BUFFERS_MUTATED, state=(State("weight", "x1"), State("scale", "x2"), State("count", "x3", persistent=False))
)


def offering(utilities: dict[str, Utility], make: Callable[[], Implementation] = PyTorch) -> Callable[[], Implementation]:
    """An implementation with some utilities in place of PyTorch's."""

    def offer() -> Implementation:
        implementation = make()
        implementation.fx_utils = SimpleNamespace(**{**OWN, **utilities})
        return implementation

    return offer


def changed(utility: str, change: Callable[[Any], Any], make: Callable[[], Implementation] = PyTorch) -> Callable[[], Any]:
    """An implementation with the answer of one utility changed."""
    return offering({utility: lambda graph: change(OWN[utility](graph))}, make)


def without(kind: str) -> Callable[[dict[Any, Any]], Any]:
    """Entries of a kind left out."""
    return lambda answer: {key: value for key, value in answer.items() if kind_of(key) != kind}


def entry(key: Any, change: Callable[[Any, Any], Any]) -> Callable[[dict[Any, Any]], Any]:
    """One entry changed."""
    return lambda answer: {**answer, key: change(*answer[key])}


def alone(node: Any, partner: Any) -> Any:
    """Without its partner."""
    return node, None


def bare(node: Any, partner: Any) -> Any:
    """No pair."""
    return node


def turned(node: Any, partner: Any) -> Any:
    """The wrong way round."""
    return partner, node


def twice(node: Any, partner: Any) -> Any:
    """Its own partner."""
    return node, node


def exchanged(answer: dict[Any, Any]) -> Any:
    """Each partner one entry further."""
    pairs = list(answer.values())
    return {key: (pair[0], other[1]) for key, pair, other in zip(answer, pairs, [*pairs[1:], pairs[0]])}


def others_named(answer: dict[str, Any]) -> Any:
    """Each node by the name of another."""
    return dict(zip(answer, reversed(answer.values())))


def backwards(answer: list[Any]) -> Any:
    """In the other order."""
    return answer[::-1]


def paired(answer: dict[Any, Any]) -> Any:
    """What has no partner left out."""
    return {key: pair for key, pair in answer.items() if pair[1] is not None}


def last_parts(answer: dict[str, Any]) -> Any:
    """By the last part of the FQN."""
    return {fqn.split(".")[-1]: node for fqn, node in answer.items()}


def more(key: Any) -> Callable[[dict[Any, Any]], Any]:
    """One entry too many."""
    return lambda answer: {**answer, key: next(iter(answer.values()))}


def raising(error: Exception) -> Utility:
    """Only an error."""

    def utility(*_: Any) -> Any:
        raise error

    return utility


def tensors_alone(answer: dict[Any, Any]) -> Any:
    """What is no tensor left out: right, where PyTorch is not."""
    return {k: v for k, v in answer.items() if isinstance(v[0], fx.Node) and isinstance(v[0].meta.get("val"), torch.Tensor)}


def refusing(utility: str, graph: fx.Graph) -> Any:
    """RuntimeError wherever there is a piece of a subclass: right, where PyTorch is not."""
    descriptors = [*(node.meta["desc"] for node in graph.find_nodes(op="placeholder")), *graph.output_node().meta["desc"]]
    if any(kind_of(descriptor) in PIECES for descriptor in descriptors):
        raise RuntimeError("a tensor subclass has no node of its own")
    return OWN[utility](graph)


def with_refusals(make: Callable[[], Implementation]) -> Callable[[], Implementation]:
    """An implementation whose utilities all refuse subclasses."""
    return offering({name: partial(refusing, name) for name in OWN}, make)


def subclass_returned() -> Implementation:
    """PyTorch's, where the output is a piece of a subclass, by its descriptor."""
    return Spoilt(results(OUTPUT, piece(OUTPUT)))


def remembered(utility: str) -> Callable[[], Implementation]:
    """The first answer for a graph, for ever."""
    answers: dict[fx.Graph, Any] = {}
    return offering({utility: lambda graph: answers.setdefault(graph, OWN[utility](graph))})


def results_by_position(graph: fx.Graph) -> Any:
    """The first results as the outputs by index, whatever their descriptors say."""
    answer = OWN[PLAIN_OUTPUTS](graph)
    return {key: (node, answer[key][1]) for key, node in zip(sorted(answer, key=lambda key: key.idx), _results(graph))}


def gradients_by_position(graph: fx.Graph) -> Any:
    """The last results as gradients of the inputs, in their order, whatever their descriptors say."""
    answer = {key: pair for key, pair in OWN[INPUTS](graph).items() if kind_of(key) != "TangentAOTInput"}
    return {key: (pair[0], node) for (key, pair), node in zip(answer.items(), _results(graph)[-len(answer) :])}


def by_use(graph: fx.Graph) -> Any:
    """What a parameter is used through, in its place."""
    users = {name: list(node.users) for name, node in OWN["get_named_param_nodes"](graph).items()}
    return {name: _through(node, users[name]) for name, node in OWN["get_named_param_nodes"](graph).items()}


def _through(node: fx.Node, users: list[fx.Node]) -> fx.Node:
    is_copied = len(users) == 1 and users[0].target is torch.ops.aten.clone.default
    return users[0] if is_copied else node


def _results(graph: fx.Graph) -> list[Any]:
    return list(graph.output_node().args[0])  # type: ignore[arg-type]


_CHANGES: tuple[tuple[str, str, str, Callable[[Any], Any], Program], ...] = (
    ("U1", "inputs without gradient left out", INPUTS, paired, programs.TWO_OUTPUTS),
    ("U1", "buffers left out", INPUTS, without("BufferAOTInput"), programs.BUFFERS_MUTATED),
    ("U1", "view bases left out", INPUTS, without("ViewBaseAOTInput"), programs.ALIASED_INPUTS_ONE_MUTATED),
    ("U1", "no gradient", INPUTS, entry(PLAIN, alone), programs.ONE_OUTPUT),
    ("U1", "a gradient where there is none", INPUTS, entry(PLAIN, twice), programs.TWO_OUTPUTS),
    ("U1", "the gradient of another input", INPUTS, exchanged, programs.TWO_INPUTS),
    ("U1", "the gradient in the node's place", INPUTS, entry(PLAIN, turned), programs.ONE_OUTPUT),
    ("U1", "a tangent with a gradient", INPUTS, entry(TANGENT, twice), programs.ONE_OUTPUT),
    ("U1", "nodes alone", INPUTS, entry(PLAIN, bare), programs.ONE_OUTPUT),
    ("U1", "a list", INPUTS, list, programs.ONE_OUTPUT),
    ("U1", "a token among the inputs", INPUTS, more(d.ForwardTokenAOTInput(0)), programs.ONE_OUTPUT),
    ("U1", "an error", INPUTS, raising(ValueError("no")), programs.ONE_OUTPUT),
    ("U2", "outputs without tangent left out", OUTPUTS, paired, MASK_RETURNED),
    ("U2", "mutations left out", OUTPUTS, without("InputMutationAOTOutput"), programs.MUTATED_INPUT),
    ("U2", "intermediate bases left out", OUTPUTS, without("IntermediateBaseAOTOutput"), SHARED),
    ("U2", "no tangent of an intermediate base", OUTPUTS, entry(d.IntermediateBaseAOTOutput(OUTPUT), alone), SHARED),
    ("U2", "no tangent", OUTPUTS, entry(OUTPUT, alone), programs.ONE_OUTPUT),
    ("U2", "the tangent of another output", OUTPUTS, exchanged, programs.TWO_OUTPUTS),
    ("U2", "a gradient with a tangent", OUTPUTS, entry(GRAD, twice), programs.ONE_OUTPUT),
    ("U2", "a token among the outputs", OUTPUTS, more(d.ForwardTokenAOTOutput(0)), programs.ONE_OUTPUT),
    ("U2", "an error", OUTPUTS, raising(ValueError("no")), programs.ONE_OUTPUT),
    ("U3", "a buffer among the parameters", PARAMETERS, more(COUNT), programs.BUFFERS_MUTATED),
    ("U3", "parameters without gradient left out", PARAMETERS, without("ParamAOTInput"), WEIGHT_UNUSED),
    ("U3", "no gradient of a parameter", PARAMETERS, entry(WEIGHT, alone), programs.TWO_OUTPUTS),
    ("U3", "a parameter among the inputs", PLAIN_INPUTS, more(WEIGHT), programs.TWO_OUTPUTS),
    ("U3", "a tangent among the inputs", PLAIN_INPUTS, more(TANGENT), programs.ONE_OUTPUT),
    ("U3", "no plain inputs", PLAIN_INPUTS, without("PlainAOTInput"), programs.ONE_OUTPUT),
    ("U3", "the gradient of another input", PLAIN_INPUTS, exchanged, programs.TWO_INPUTS),
    ("U3", "a mutation among the outputs", PLAIN_OUTPUTS, more(d.InputMutationAOTOutput(PLAIN)), programs.MUTATED_INPUT),
    ("U3", "a gradient among the outputs", PLAIN_OUTPUTS, more(GRAD), programs.ONE_OUTPUT),
    ("U3", "no plain outputs", PLAIN_OUTPUTS, without("PlainAOTOutput"), MASK_RETURNED),
    ("U3", "the tangent of another output", PLAIN_OUTPUTS, exchanged, programs.TWO_OUTPUTS),
    ("U4", "parameters backwards", "get_param_nodes", backwards, TWO_PARAMETERS),
    ("U4", "buffers backwards", "get_buffer_nodes", backwards, TWO_BUFFERS),
    ("U4", "a parameter lost", "get_param_nodes", lambda a: a[:1], TWO_PARAMETERS),
    ("U4", "a buffer twice", "get_buffer_nodes", lambda a: [*a, a[0]], TWO_BUFFERS),
    ("U4", "names in place of nodes", "get_param_nodes", lambda a: [node.name for node in a], TWO_PARAMETERS),
    ("U4", "a view of the values", "get_buffer_nodes", lambda a: dict(enumerate(a)).values(), TWO_BUFFERS),
    ("U4", "the last part of an FQN", "get_named_param_nodes", last_parts, TWO_PARAMETERS),
    ("U4", "by node name", "get_named_buffer_nodes", lambda a: {v.name: v for v in a.values()}, TWO_BUFFERS),
    ("U4", "parameters by each other's name", "get_named_param_nodes", others_named, TWO_PARAMETERS),
    ("U4", "buffers by each other's name", "get_named_buffer_nodes", others_named, TWO_BUFFERS),
    ("U4", "an error", "get_named_param_nodes", raising(ValueError("no")), TWO_PARAMETERS),
)

_EDITED: tuple[tuple[str, Callable[[], Implementation], Program], ...] = (
    *((f"{utility} remembers", remembered(utility), programs.TWO_OUTPUTS) for utility in (OUTPUTS, PLAIN_OUTPUTS)),
    ("outputs by position", offering({PLAIN_OUTPUTS: results_by_position}), programs.TWO_OUTPUTS),
    ("gradients by position", offering({INPUTS: gradients_by_position}), programs.TWO_INPUTS),
    ("parameters by their use", offering({"get_named_param_nodes": by_use}), programs.TWO_OUTPUTS),
)

_UNREFUSED: tuple[tuple[str, dict[str, Utility]], ...] = (
    *((f"{utility} answers", {utility: lambda graph: {}}) for utility in OWN),
    ("another error", {INPUTS: raising(KeyError("a subclass"))}),
    ("no reason", {INPUTS: raising(RuntimeError("not supported"))}),
)

WRONG: tuple[Wrong, ...] = (
    *(Wrong(rule, title, changed(utility, change), program) for rule, title, utility, change, program in _CHANGES),
    Wrong("U1", "a number among the inputs", PyTorch, NUMBERS, right=changed(INPUTS, tensors_alone)),
    Wrong("U2", "a number among the outputs", PyTorch, NUMBERS_RETURNED, right=changed(OUTPUTS, tensors_alone)),
    *(Wrong("U5", title, offering(own, PyTorch), programs.SUBCLASS_PARAMETER) for title, own in _UNREFUSED),
    Wrong("U5", "subclass inputs alone", PyTorch, SUBCLASS_UNUSED, right=with_refusals(PyTorch)),
    Wrong("U5", "subclass outputs alone", subclass_returned, programs.ONE_OUTPUT, right=with_refusals(subclass_returned)),
    *(Wrong("U6", title, implementation, program) for title, implementation, program in _EDITED),
)
