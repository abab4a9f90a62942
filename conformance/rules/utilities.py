"""Chapter U: the FX utilities, held against the descriptors on the graph that they are asked about.

Judged is what their docstrings promise, no more. *All forward* tensors have an entry; that tangents come with the
inputs and gradients with the outputs is left open ("each DifferentiableAOTInput"), so they may, each by its own node.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from conformance.case import Case
from conformance.graph import PIECES, chain, kind_of, output_descriptors, placeholder_descriptors
from conformance.observation import Raised
from conformance.rule import Complaint, rule
from conformance.rules.pipeline import BASES, PRIMALS

FORWARD_INPUTS = PRIMALS | BASES
FORWARD_OUTPUTS = frozenset(f"{what}AOTOutput" for what in ("Plain", "InputMutation", "IntermediateBase", "MetadataMutation"))
NUMBERS = (int, float, complex, torch.SymInt, torch.SymFloat, torch.SymBool)

#: The utilities of U3, and the kind that they are restricted to.
OF_A_KIND = {
    "get_param_and_grad_nodes": "ParamAOTInput",
    "get_plain_input_and_grad_nodes": "PlainAOTInput",
    "get_plain_output_and_tangent_nodes": "PlainAOTOutput",
}
PAIRING = ("get_all_input_and_grad_nodes", "get_all_output_and_tangent_nodes", *OF_A_KIND)
#: The utilities of U4: the kind that they list, and whether by FQN.
STATE = {
    "get_param_nodes": ("ParamAOTInput", False),
    "get_buffer_nodes": ("BufferAOTInput", False),
    "get_named_param_nodes": ("ParamAOTInput", True),
    "get_named_buffer_nodes": ("BufferAOTInput", True),
}


@dataclass(frozen=True)
class Asked:
    """A graph, what the caller passes for its primals, and the utilities that are asked about it."""

    graph: fx.Graph
    primals: dict[Any, Any]
    utilities: Any

    def answer(self, utility: str) -> Any:
        """What the utility gives, or the error that it raises, as a Raised."""
        try:
            return getattr(self.utilities, utility)(self.graph)
        except Exception as error:
            return Raised(utility, error)

    def inputs(self) -> list[tuple[Any, fx.Node]]:
        """The descriptor and the node of each placeholder, in order."""
        return [(node.meta.get("desc"), node) for node in self.graph.find_nodes(op="placeholder")]

    def outputs(self) -> list[tuple[Any, Any]]:
        """The descriptor and the node of each flat output; or a constant, or None, in the node's place."""
        output = self.graph.output_node()
        return list(zip(output.meta.get("desc") or (), output.args[0]))  # type: ignore[arg-type]

    def takes_tensor(self, primal: Any) -> bool:
        """Whether the caller passes a tensor there; a base always is one."""
        return primal not in self.primals or isinstance(self.primals[primal], torch.Tensor)


@dataclass(frozen=True)
class Entries:
    """The entries of a utility that pairs nodes: which must be there, which may, and those of what is no tensor."""

    must: dict[Any, tuple[Any, Any]]
    may: dict[Any, tuple[Any, Any]]
    no_tensor: dict[Any, tuple[Any, Any]]

    def of_kind(self, kind: str) -> Entries:
        """The tensors of one kind. Of what else is of that kind the docstrings don't speak there, so it may come."""
        must, rest = ({d: p for d, p in part.items() if kind_of(d) == kind} for part in (self.must, self.may | self.no_tensor))
        return Entries(must, rest, {})

    def complaints(self, utility: str, found: Any, partner: str) -> Iterator[Complaint]:
        """Where ``found`` has not these entries, nodes compared by identity."""
        if not isinstance(found, dict):
            yield utility, "a dictionary", found if isinstance(found, Raised) else type(found).__name__
            return
        for descriptor in [*self.must, *(found.keys() - self.must.keys())]:
            place, known = f"{utility} {kind_of(descriptor)}", {**self.may, **self.must}
            if descriptor not in found:
                yield place, "an entry", "none"
            elif descriptor not in known:
                yield f"{place}{' of no tensor' if descriptor in self.no_tensor else ''}", "no entry", "one"
            elif not isinstance(found[descriptor], tuple) or len(found[descriptor]) != 2:
                yield place, f"the node and its {partner}", type(found[descriptor]).__name__
            else:
                yield from _node_complaints(place, ("node", partner), known[descriptor], found[descriptor])


def _node_complaints(
    place: str, sides: tuple[str, str], expected: tuple[Any, Any], found: tuple[Any, Any]
) -> Iterator[Complaint]:
    for side, wanted, given in zip(sides, expected, found):
        if given is not wanted:
            yield f"{place} {side}", "none" if wanted is None else "its own", "none" if given is None else "another"


def _inputs_and_gradients(asked: Asked) -> Entries:
    gradients = {d.grad_of: result for d, result in asked.outputs() if kind_of(d) == "GradAOTOutput"}
    pairs = {descriptor: (node, gradients.get(descriptor)) for descriptor, node in asked.inputs()}
    forward = {d: pair for d, pair in pairs.items() if kind_of(d) in FORWARD_INPUTS}
    return Entries(
        must={d: pair for d, pair in forward.items() if asked.takes_tensor(d)},
        may={d: pair for d, pair in pairs.items() if kind_of(d) == "TangentAOTInput"},
        no_tensor={d: pair for d, pair in forward.items() if not asked.takes_tensor(d)},
    )


def _outputs_and_tangents(asked: Asked) -> Entries:
    tangents = {d.output: node for d, node in asked.inputs() if kind_of(d) == "TangentAOTInput"}
    pairs = {descriptor: (result, tangents.get(descriptor)) for descriptor, result in asked.outputs()}
    forward = {d: pair for d, pair in pairs.items() if kind_of(d) in FORWARD_OUTPUTS}
    numbers = {d: pair for d, pair in forward.items() if isinstance(pair[0], fx.Node) and _is_number(pair[0])}
    gradients = {d: pair for d, pair in pairs.items() if kind_of(d) == "GradAOTOutput"}
    return Entries(
        must={d: pair for d, pair in forward.items() if isinstance(pair[0], fx.Node) and d not in numbers},
        may={**gradients, **numbers},
        no_tensor={d: pair for d, pair in forward.items() if not isinstance(pair[0], fx.Node)},
    )


def _is_number(node: fx.Node) -> bool:
    return isinstance(node.meta.get("val"), NUMBERS)


def _asked(case: Case) -> Asked:
    return Asked(case.joint.graph_module.graph, case.primals, case.implementation.fx_utils)


def _offers_utilities(case: Case) -> bool:
    return case.joint is not None and case.implementation.fx_utils is not None


def _has_pieces(descriptors: list[Any]) -> bool:
    return any(kind_of(descriptor) in PIECES for descriptor in descriptors)


def _is_of_plain_tensors(case: Case) -> bool:
    """Whether there are utilities and a graph that they support: one without subclasses."""
    return _offers_utilities(case) and not _has_pieces([*placeholder_descriptors(case.joint), *output_descriptors(case.joint)])


def _all_inputs(asked: Asked) -> Iterator[Complaint]:
    utility = "get_all_input_and_grad_nodes"
    yield from _inputs_and_gradients(asked).complaints(utility, asked.answer(utility), "gradient")


def _all_outputs(asked: Asked) -> Iterator[Complaint]:
    utility = "get_all_output_and_tangent_nodes"
    yield from _outputs_and_tangents(asked).complaints(utility, asked.answer(utility), "tangent")


def _entries_of_a_kind(asked: Asked) -> Iterator[Complaint]:
    inputs, outputs = _inputs_and_gradients(asked), _outputs_and_tangents(asked)
    for utility, kind in OF_A_KIND.items():
        side, partner = (inputs, "gradient") if kind.endswith("Input") else (outputs, "tangent")
        yield from side.of_kind(kind).complaints(utility, asked.answer(utility), partner)


def _state(asked: Asked) -> Iterator[Complaint]:
    for utility, (kind, by_name) in STATE.items():
        wanted = {d.target: node for d, node in asked.inputs() if kind_of(d) == kind}
        found = asked.answer(utility)
        if not isinstance(found, dict if by_name else list):
            yield utility, "a dictionary" if by_name else "a list", found if isinstance(found, Raised) else type(found).__name__
        elif by_name and set(found) != set(wanted):
            yield f"{utility} names", "the FQNs of the graph", "others"
        elif not _are_same(wanted.values(), [found[fqn] for fqn in wanted] if by_name else list(found)):
            yield f"{utility} nodes", "those of that kind, as they are passed", "others, or in another order"


def _are_same(wanted: Collection[fx.Node], found: Collection[Any]) -> bool:
    return len(wanted) == len(found) and all(one is other for one, other in zip(wanted, found))


@rule("U1", _is_of_plain_tensors)
def every_forward_input_has_its_node_and_gradient(case: Case) -> Iterator[Complaint]:
    """``get_all_input_and_grad_nodes``: state, arguments and bases; nothing that is no tensor, as the docstring says."""
    return _all_inputs(_asked(case))


@rule("U2", _is_of_plain_tensors)
def every_forward_output_has_its_node_and_tangent(case: Case) -> Iterator[Complaint]:
    """``get_all_output_and_tangent_nodes``: outputs, mutations and intermediate bases. An entry is of a node."""
    return _all_outputs(_asked(case))


@rule("U3", _is_of_plain_tensors)
def utilities_of_a_kind_give_that_kind(case: Case) -> Iterator[Complaint]:
    """Parameters with gradients, plain inputs with gradients, plain outputs with tangents: these, and no others."""
    return _entries_of_a_kind(_asked(case))


@rule("U4", _is_of_plain_tensors)
def state_comes_in_order_and_by_name(case: Case) -> Iterator[Complaint]:
    """The nodes of parameters and buffers, in the order of the placeholders, and by FQN."""
    return _state(_asked(case))


@rule("U5", lambda case: _offers_utilities(case) and not _is_of_plain_tensors(case))
def subclasses_are_refused(case: Case) -> Iterator[Complaint]:
    """RuntimeError that names subclasses as the reason.

    Those of U3 don't say so in their docstrings; the guide does of all utilities. Those of U4 promise it where they
    meet subclasses, and they go through the inputs alone: so they are judged where a primal is one.
    """
    asked, inputs = _asked(case), placeholder_descriptors(case.joint)
    sides = [side for side, ds in (("inputs", inputs), ("outputs", output_descriptors(case.joint))) if _has_pieces(ds)]
    has_whole_state = not any(kind_of(d) in PIECES and kind_of(list(chain(d))[-1]) in PRIMALS for d in inputs)
    for utility in (*PAIRING, *(() if has_whole_state else STATE)):
        place, found = f"{utility} with subclass {' and '.join(sides)}", asked.answer(utility)
        if not isinstance(found, Raised) or not isinstance(found.error, RuntimeError):
            yield place, "RuntimeError", found if isinstance(found, Raised) else "an answer"
        elif "subclass" not in str(found.error).lower():
            yield f"{place}: message", "a message that names subclasses", found


@rule("U6", lambda case: case.thorough and _is_of_plain_tensors(case))
def utilities_follow_what_passes_edit(case: Case) -> Iterator[Complaint]:
    """After edits such as passes make, U1 to U4 hold as before; what did not hold before is theirs to say."""
    asked = Asked(copy.deepcopy(case.joint.graph_module.graph), case.primals, case.implementation.fx_utils)
    before = {place for place, _, _ in _complaints(asked)}
    _edit(asked, case.implementation.descriptors.PlainAOTOutput(idx=len(case.program.flat_outputs)))
    yield from (complaint for complaint in _complaints(asked) if complaint[0] not in before)


def _complaints(asked: Asked) -> Iterator[Complaint]:
    for complaints in (_all_inputs, _all_outputs, _entries_of_a_kind, _state):
        yield from complaints(asked)


def _edit(asked: Asked, addition: Any) -> None:
    """Use each input through an added node, erase dead code, return in another order, and one tensor more.

    Inputs stay where they are: how they are passed is told by their order too. Outputs are told by descriptors.
    """
    inputs = _inputs_and_gradients(asked).must
    added: list[fx.Node] = []
    for placeholder, _ in inputs.values():
        with asked.graph.inserting_after(placeholder):  # not after the last: calls may stand before it
            added.append(asked.graph.call_function(torch.ops.aten.clone.default, (placeholder,)))
        placeholder.replace_all_uses_with(added[-1], delete_user_cb=lambda user: user is not added[-1])
    output, results = asked.graph.output_node(), asked.outputs()[::-1]
    results += [(addition, node) for node in added[:1]]
    output.args = ([node for _, node in results],)
    output.meta = {**output.meta, "desc": [descriptor for descriptor, _ in results]}
    asked.graph.eliminate_dead_code()
