"""Chapter E: the exported program and the joint export of the same module speak of the same things.

No requirement of the contract is this alone. E3 carries it, since it says what the signature names: the joint's own
account, its descriptors and specs, is a second witness beside what the program is known to hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.exported.case import Exported, held_by
from conformance.exported.forms import DECOMPOSED
from conformance.graph import kind_of, output_descriptors, wrapped
from conformance.implementation import Joint
from conformance.rule import Complaint

#: How the two say what a mutation is of.
MUTATIONS = {
    "ParamAOTInput": "PARAMETER_MUTATION",
    "BufferAOTInput": "BUFFER_MUTATION",
    "PlainAOTInput": "USER_INPUT_MUTATION",
}


def agreement_complaints(case: Exported) -> Iterator[Complaint]:
    """Where the functional export and the joint differ on parameters, buffers, mutations or outputs."""
    if case.joint is None or DECOMPOSED not in case.forms:
        return
    signature, held = case.forms[DECOMPOSED].graph_signature, dict(held_by(case.built.module))
    for what, ours, theirs in (
        ("parameters", signature.parameters, case.joint.params_spec),
        ("buffers", signature.buffers, case.joint.buffers_spec),
    ):
        if _tensors_of(ours, held) != _tensors_of(theirs, held):
            yield f"{DECOMPOSED}:{what} beside the joint", f"{', '.join(theirs)} in this order", ", ".join(ours)
    for kind, mutated in _mutations(signature).items():
        expected = _mutations_of_joint(case.joint)[kind]
        if mutated != expected:
            yield f"{DECOMPOSED}:{kind} beside the joint", sorted(expected, key=str), sorted(mutated, key=str)
    outputs = [wanted.idx for wanted in output_descriptors(case.joint) if kind_of(wanted) == "PlainAOTOutput"]
    rows = sum(spec.kind.name == "USER_OUTPUT" for spec in signature.output_specs)
    if list(range(rows)) != outputs:
        yield f"{DECOMPOSED}:outputs beside the joint", outputs, list(range(rows))


def _tensors_of(fqns: Any, held: dict[str, Any]) -> list[Any]:
    """The tensors that these names stand for, in order, each once: of the names of a tied one each may choose another."""
    return list(dict.fromkeys(id(held[fqn]) if fqn in held else fqn for fqn in fqns))


def _mutations(signature: Any) -> dict[str, set[Any]]:
    """What the signature says is mutated, by kind: state by FQN, the user's inputs by their place among them."""
    users = [spec.arg.name for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
    found: dict[str, set[Any]] = {kind: set() for kind in MUTATIONS.values()}
    for spec in signature.output_specs:
        if spec.kind.name in found:
            found[spec.kind.name].add(users.index(spec.target) if spec.target in users else spec.target)
    return found


def _mutations_of_joint(joint: Joint) -> dict[str, set[Any]]:
    """What the descriptors say is mutated, likewise."""
    found: dict[str, set[Any]] = {kind: set() for kind in MUTATIONS.values()}
    for descriptor in output_descriptors(joint):
        mutated = wrapped(descriptor)
        if kind_of(descriptor) == "InputMutationAOTOutput" and kind_of(mutated) in MUTATIONS:
            found[MUTATIONS[kind_of(mutated)]].add(getattr(mutated, "target", getattr(mutated, "idx", None)))
    return found
