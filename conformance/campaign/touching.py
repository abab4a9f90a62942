"""What a program does to one tensor, where that tells two faults with one symptom apart."""

from __future__ import annotations

from collections.abc import Iterator

from generators.features import Origin, memory
from generators.program import Program, Ref, Statement
from generators.vocabulary import VOCABULARY

#: By aspect (conformance/campaign/symptoms.py) the kinds of ops that the fault may be one of, the likeliest first.
_MATTER: dict[str, tuple[str, ...]] = {
    "descriptors": ("metadata",),
    "identity": ("subclass", "function_write", "rng", "metadata"),
    "memory": ("subclass", "function_write", "rng", "metadata", "function_view"),
    "kind": ("subclass", "metadata", "matrix", "norm", "custom_write", "mutation"),
    "autograd": ("metadata",),
    "version": ("subclass", "metadata", "norm"),
    "value": (
        "control_mutation", "subclass", "hook", "function_write", "function_view", "metadata", "custom_mutation",
        "rng_mutation", "norm", "matrix",
    ),
    "later write": ("module hook", "inference_mode", "hook", "function_view", "multi_view", "function_write"),
}
#: Ops that give a tensor other memory, another size, or another autograd state: what is wrong after one is that op's fault,
#: whatever it is noticed by.
_TELL_ALL = frozenset({"set_data", "resize_", "set_", "detach_", "requires_grad_", "requires_no_grad_"})
_SUBCLASS, _MODULE_HOOK = "subclass", "module hook"


def touching(program: Program, place: str, aspect: str) -> str:
    """Of the ops that touch the memory of the tensor at ``place`` the one that tells most about the aspect, or ""."""
    kinds = _MATTER.get(aspect, ())
    inside, caller = memory(program)
    owner = _owner(program, place, inside, caller)
    found = [] if not kinds else sorted(_told(program, owner, inside, kinds))
    return found[0][1] if found else ""


def tells_all(op: str) -> bool:
    """Whether the op is the fault's name whatever the symptom."""
    return op in _TELL_ALL


def _owner(program: Program, place: str, inside: dict[str, Origin], caller: dict[str, Origin]) -> str | None:
    """Whose memory the tensor at the place has; None where it is no tensor's alone."""
    if place in caller:
        return caller[place].owner
    flat = program.flat_outputs
    number = int(place[len("outputs[") : -1]) if place.startswith("outputs[") else len(flat)
    leaf = flat[number] if number < len(flat) else None
    return inside[leaf.name].owner if isinstance(leaf, Ref) else None


def _told(program: Program, owner: str | None, inside: dict[str, Origin], kinds: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for statement in program.body:
        op = VOCABULARY[statement.op]
        if owner is None or owner in _owners(statement, inside):
            told = op.name if op.kind == "metadata" else op.kind
            yield from ((kinds.index(kind), name) for kind, name in ((op.kind, told), (statement.mode,) * 2) if kind in kinds)
    if _MODULE_HOOK in kinds and any(name.endswith("hook") for name in program.dressing):
        yield kinds.index(_MODULE_HOOK), _MODULE_HOOK
    if _SUBCLASS in kinds and any(leaf.subclass for leaf in program.leaves if leaf.name == owner):
        yield kinds.index(_SUBCLASS), _SUBCLASS


def _owners(statement: Statement, inside: dict[str, Origin]) -> set[str]:
    return {inside[name].owner for name in (*statement.operands, *statement.results) if name in inside}
