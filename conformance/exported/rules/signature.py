"""Chapter E: the signature and the other members of an exported program, beside what the program is known to hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx

from conformance.difference import same
from conformance.exported.case import Exported, held_by
from conformance.exported.forms import FUNCTIONAL, STRICT
from conformance.exported.rules.agreement import agreement_complaints
from conformance.exported.rules.constants import constant_complaints
from conformance.exported.rules.graph import has_forms
from conformance.exported.rules.metadata import symbols_of
from conformance.named import unlike_stated
from conformance.observation import Raised, value_of
from conformance.rule import Complaint, exported_rule
from generators.program import Ref

#: Where inputs and outputs of a kind stand. A token or custom object may stand anywhere before the user's own.
INPUTS = {"PARAMETER": 0, "BUFFER": 1, "CONSTANT_TENSOR": 2, "USER_INPUT": 3}
OUTPUTS = {"BUFFER_MUTATION": 0, "PARAMETER_MUTATION": 0, "USER_INPUT_MUTATION": 0, "USER_OUTPUT": 1}
#: The documented attributes, none of which may be set.
ATTRIBUTES = ("graph_module", "graph", "graph_signature", "state_dict", "range_constraints")

#: Ops that read nothing of a tensor but its sizes.
READ_A_SIZE = ("size", "numel", "last_size", "zeros_of_size", "arange_of_size", "new_ones")


@exported_rule("E3", has_forms)
def the_signature_is_that_of_the_program(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        yield from _name_complaints(form, exported)
        yield from _order_complaints(form, exported.graph_signature)
        yield from _state_complaints(case, form, exported)
        yield from constant_complaints(case, form, exported)
        yield from _mutation_complaints(case, form, exported.graph_signature)
        yield from _token_complaints(case, form, exported.graph_signature)
        for kind, specs, wanted in (
            ("USER_INPUT", exported.graph_signature.input_specs, len(case.program.flat_args)),
            ("USER_OUTPUT", exported.graph_signature.output_specs, len(case.program.flat_outputs)),
        ):
            found = sum(spec.kind.name == kind for spec in specs)
            if found != wanted:
                yield f"{form}:number of {kind}", wanted, found
    yield from agreement_complaints(case)
    if case.stated and case.rows:
        yield from unlike_stated(f"case {case.stated.name}: input", case.stated.inputs, case.rows[0])
        yield from unlike_stated(f"case {case.stated.name}: output", case.stated.outputs, case.rows[1])


def _name_complaints(form: str, exported: Any) -> Iterator[Complaint]:
    """Each row of the signature is called as the node in its place; a constant among the outputs has none."""
    signature = exported.graph_signature
    inputs = [node.name for node in exported.graph.nodes if node.op == "placeholder"]
    named = [spec.arg.name for spec in signature.input_specs]
    if named != inputs:
        yield f"{form}:names of inputs", "those of the placeholders", "others"
    returned = [result for node in exported.graph.find_nodes(op="output") for result in node.args[0]]
    results = [result.name if isinstance(result, fx.Node) else None for result in returned]
    rows = [None if hasattr(spec.arg, "value") else spec.arg.name for spec in signature.output_specs]
    if rows != results:
        yield f"{form}:names of outputs", "those of the nodes returned", "others"


def _order_complaints(form: str, signature: Any) -> Iterator[Complaint]:
    for side, specs, order in (("inputs", signature.input_specs, INPUTS), ("outputs", signature.output_specs, OUTPUTS)):
        kinds = [spec.kind.name for spec in specs if spec.kind.name in order]
        for one, other in zip(kinds, kinds[1:]):
            if order[one] > order[other]:
                yield f"{form}:order of {side}", ", ".join(order), f"{one} before {other}"
    kinds = [spec.kind.name for spec in signature.input_specs]
    if "USER_INPUT" in kinds and set(kinds[kinds.index("USER_INPUT") :]) & {"TOKEN", "CUSTOM_OBJ"}:
        yield f"{form}:order of inputs", "those of the user last", "a token or custom object after them"


def _state_complaints(case: Exported, form: str, exported: Any) -> Iterator[Complaint]:
    """What the module holds is lifted, each once, as the kind that it is; what is lifted as state, the module holds."""
    module = case.built.module
    rows = [spec for spec in exported.graph_signature.input_specs if spec.kind.name in ("PARAMETER", "BUFFER")]
    specs = {spec.target: spec for spec in rows}
    for target, times in Counter(spec.target for spec in rows).items():
        if times > 1:
            yield f"{form}:inputs of kind {specs[target].kind.name}", "one for each target", "several"
    held, persistent = dict(held_by(module)), module.state_dict().keys()
    lifted = {id(held[fqn]) for fqn in specs if fqn in held}
    used = _used_tensors(case, held)
    for fqn, tensor in held.items():
        kind = "PARAMETER" if isinstance(tensor, torch.nn.Parameter) else "BUFFER"
        if id(tensor) not in lifted and (form != STRICT or id(tensor) in used):
            yield f"{form}:inputs of kind {kind}", "one for each that the module holds", "none"
        elif fqn in specs and specs[fqn].kind.name != kind:
            yield f"{form}:kind of a {kind}", kind, specs[fqn].kind.name
        elif fqn in specs and kind == "BUFFER" and specs[fqn].persistent is not (fqn in persistent):
            yield f"{form}:persistence of a BUFFER", fqn in persistent, specs[fqn].persistent
    for fqn in specs.keys() - held.keys():
        yield f"{form}:target of a {specs[fqn].kind.name}", "a parameter or buffer of the module", fqn


def _used_tensors(case: Exported, held: dict[str, torch.Tensor]) -> set[int]:
    """The ids of what of the module the program's outputs are made of: Dynamo lifts nothing else for sure.

    It need not: the signature is documented to name what is used within the graph, and a fixed size is a number there.
    """
    names = {leaf.name for leaf in case.program.flat_outputs if isinstance(leaf, Ref)}
    for statement in reversed(case.program.body):
        if names.intersection(statement.results) and statement.op not in READ_A_SIZE:
            names.update(statement.operands)
    return {id(tensor) for fqn, tensor in held.items() if f"self.{fqn}" in names}


def _mutation_complaints(case: Exported, form: str, signature: Any) -> Iterator[Complaint]:
    """What is said to be mutated, eager wrote; and of the functional graph, what eager changed is said to be mutated."""
    if case.eager["error"]:
        return
    names, inputs = _callers_names(case, signature), _kinds_of_inputs(signature)
    kinds = {spec.target: spec.kind.name for spec in signature.output_specs if spec.kind.name.endswith("MUTATION")}
    for target, kind in kinds.items():
        if names.get(target) not in case.written:
            yield f"{form}:outputs of kind {kind}", "for what is written alone", "one for another"
        elif inputs.get(target) and kind != f"{inputs[target]}_MUTATION":
            yield f"{form}:kind of a mutated {inputs[target]}", f"{inputs[target]}_MUTATION", kind
    for target, name in names.items() if form in FUNCTIONAL else ():
        if name in case.changed and target not in kinds:
            yield f"{form}:outputs of mutated inputs", "one for each", "none"


def _token_complaints(case: Exported, form: str, signature: Any) -> Iterator[Complaint]:
    """A token orders effects: it is taken and given back, and there is none where eager performs no effect."""
    taken, given = (
        sum(spec.kind.name == "TOKEN" for spec in specs) for specs in (signature.input_specs, signature.output_specs)
    )
    if taken != given:
        yield f"{form}:number of TOKEN", f"{taken} given back, as many as are taken", given
    if taken and not case.eager["error"] and not case.eager["effects.forward"]:
        yield f"{form}:number of TOKEN", "none where there is no effect", taken


def _kinds_of_inputs(signature: Any) -> dict[str, str]:
    """The kind of each target that a mutation may have: the module's state by FQN, the user's inputs by their node."""
    return {spec.target or spec.arg.name: spec.kind.name for spec in signature.input_specs}


def _callers_names(case: Exported, signature: Any) -> dict[str, str]:
    """What the caller calls each target of the signature: the module's state by FQN, the user's inputs by their node."""
    users = [spec.arg.name for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
    passed = {node: leaf.name for node, leaf in zip(users, case.program.flat_args) if isinstance(leaf, Ref)}
    return {state.fqn: state.value for state in case.program.state} | passed


@exported_rule("E7", has_forms)
def members_are_as_documented(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        yield from _attribute_complaints(form, exported)
        try:
            exported.validate()
        except Exception as error:
            yield f"{form}:validate", "an exported program that is valid", Raised("validate", error)
        for fqn, tensor in held_by(case.built.module):
            yield from _value_complaints(form, exported, fqn, tensor)
        placeholders = [node for node in exported.graph.nodes if node.op == "placeholder"]
        for spec, node in zip(exported.graph_signature.input_specs, placeholders):
            if symbols_of(node) - exported.range_constraints.keys():
                yield f"{form}:range_constraints of a {spec.kind.name}", "a range for each symbol", "none"


def _value_complaints(form: str, exported: Any, fqn: str, tensor: torch.Tensor) -> Iterator[Complaint]:
    """The state_dict has what was lifted, parameters as such, and nothing that does not persist."""
    signature, value = exported.graph_signature, exported.state_dict.get(fqn)
    kind = "a parameter" if isinstance(tensor, torch.nn.Parameter) else "a buffer"
    if fqn in signature.non_persistent_buffers:
        if fqn in exported.state_dict:
            yield f"{form}:state_dict of a non-persistent buffer", "no value", "a value"
    elif fqn in signature.parameters or fqn in signature.buffers:
        if not same(value_of(tensor), _held(value)):
            yield f"{form}:state_dict of {kind}", "the value that was lifted", "another, or none"
        elif isinstance(value, torch.nn.Parameter) is not isinstance(tensor, torch.nn.Parameter):
            yield f"{form}:state_dict of {kind}", type(tensor).__name__, type(value).__name__


def _held(value: Any) -> Any:
    return value_of(value) if isinstance(value, torch.Tensor) else value


def _attribute_complaints(form: str, exported: Any) -> Iterator[Complaint]:
    for name in ATTRIBUTES:
        if not hasattr(exported, name):
            yield f"{form}:{name}", "an attribute", "none"
            continue
        before = getattr(exported, name)
        try:
            setattr(exported, name, before)
        except RuntimeError:
            continue
        except Exception as error:
            yield f"{form}:{name}", "RuntimeError where it is set", Raised("set", error)
            continue
        yield f"{form}:{name}", "RuntimeError where it is set", "no error"
