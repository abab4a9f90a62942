"""What a program is made of, as short names: for steering, for ``-k``, for findings, for coverage counts.

Names are ``family:detail``. Views are followed from statement to statement, so that a write through a
view of an input is told from a write to an intermediate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from generators.layers import CALLED
from generators.program import Const, Leaf, Literal, Node, Program, Ref, Statement
from generators.vocabulary import VOCABULARY

VIEW_KINDS = ("view", "multi_view", "size_view", "function_view", "custom_view")
#: Give back the operand or a view of it in some layouts, and a copy in others.
MAYBE_COPIES = ("contiguous", "to", "reshape", "flatten")

#: Calls whose arguments make something else of the op: what it does then is a feature of its own.
SPECIAL_CALLS: dict[tuple[str, tuple[Literal, ...]], str] = {
    ("dropout", (0.0,)): "call:dropout-of-nothing",
    ("dropout", (1.0,)): "call:dropout-of-everything",
}


@dataclass(frozen=True)
class Origin:
    """Where a value's memory comes from: ``owner`` names it, ``kind`` says what it is, ``steps`` counts views.

    ``maybe_copy`` says that the program alone does not tell whether it is a view or a copy.
    """

    owner: str
    kind: str
    steps: int = 0
    maybe_copy: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The kind, and whether it is reached through a view; what may be a copy is an intermediate, too."""
        label = f"view-of-{self.kind}" if self.steps else self.kind
        return (label, "intermediate") if self.maybe_copy else (label,)


def features(program: Program) -> frozenset[str]:
    """The names of everything that the program exercises."""
    inside, caller = memory(program)
    return frozenset(
        [
            *(name for leaf in program.leaves for name in _of_leaf(leaf)),
            *(name for statement in program.setup for name in _of_setup(statement)),
            *_of_state(program),
            *_of_inputs(program, caller),
            *(name for statement in program.body for name in _of_statement(statement, inside)),
            *_of_unused(program),
            *(["body:dead"] if _has_dead_code(program, inside) else []),
            *_of_outputs(program, inside),
            *(f"module:{name}" for name in program.dressing),
            *(f"op:{op}" for name in program.dressing for op in CALLED.get(name, ())),
            *(f"option:{name}" for name in program.options),
            *(["size:symbolic"] if program.symbolic else []),
        ]
    )


def memory(program: Program) -> tuple[dict[str, Origin], dict[str, Origin]]:
    """The origin of each value that the forward sees, and of each that the caller does."""
    caller = _flow(program.setup, {leaf.name: Origin(leaf.name, "leaf") for leaf in program.leaves})
    return _flow(program.body, dict(_inside(program, caller))), caller


def hides_writes(program: Program) -> bool:
    """Whether the forward goes through ``.data``, which writes without moving the version counter."""
    return any(".data" in VOCABULARY[statement.op].template for statement in program.body)


def _pieces(program: Program) -> dict[str, str]:
    """The owner of each value that the caller has, where a subclass and what it holds have the same one."""
    leaves = {leaf.name: Origin(leaf.name, "leaf") for leaf in program.leaves}
    return {name: origin.owner for name, origin in _flow(program.setup, leaves, (*VIEW_KINDS, "subclass")).items()}


def _flow(
    statements: tuple[Statement, ...], known: dict[str, Origin], sharing: tuple[str, ...] = VIEW_KINDS
) -> dict[str, Origin]:
    """Each value's origin: its operand's for a view, and for whatever else shares its memory; its own otherwise."""
    for statement in statements:
        source = known.get(statement.operands[0])
        maybe_copy = statement.op in MAYBE_COPIES
        op = VOCABULARY[statement.op]
        is_view = maybe_copy or op.kind in sharing or op.kind == "function_write"
        for result in statement.results:
            known[result] = _viewed(source, maybe_copy) if is_view and source else _made(result)
    return known


def _viewed(source: Origin, maybe_copy: bool) -> Origin:
    return Origin(source.owner, source.kind, source.steps + 1, source.maybe_copy or maybe_copy)


def _made(name: str) -> Origin:
    return Origin(name, "intermediate")


def _inside(program: Program, caller: dict[str, Origin]) -> Iterator[tuple[str, Origin]]:
    parameters = program.parameter_leaves
    for state in program.state:
        yield f"self.{state.fqn}", Origin(caller[state.value].owner, "parameter" if state.value in parameters else "buffer")
    for index, leaf in enumerate(program.flat_args):
        yield f"a{index}", Origin(caller[leaf.name].owner, "input") if isinstance(leaf, Ref) else Origin(f"a{index}", "number")


def _of_leaf(leaf: Leaf) -> Iterator[str]:
    yield f"dtype:{leaf.dtype}"
    yield f"rank:{len(leaf.shape)}"
    if leaf.requires_grad:
        yield "grad:leaf"
    if leaf.stride is not None:
        yield "stride:given"
    if leaf.subclass:
        yield "leaf:subclass"
        yield f"subclass:{leaf.subclass}"
    yield from (f"size:{size}" for size in (0, 1) if size in leaf.shape)


def _of_setup(statement: Statement) -> Iterator[str]:
    kind = VOCABULARY[statement.op].kind
    yield f"setup:{kind}"
    if statement.mode:
        yield f"setup:{kind}-under-{statement.mode}"
    if statement.op == "requires_grad_":
        yield "grad:leaf"


def _of_state(program: Program) -> Iterator[str]:
    parameters = {leaf.name: leaf for leaf in program.leaves if leaf.parameter}
    subclasses = {leaf.name for leaf in program.leaves if leaf.subclass}
    values = Counter(state.value for state in program.state)
    for state in program.state:
        parameter = parameters.get(state.value)
        kind = "parameter" if parameter else "buffer"
        yield f"state:{kind}"
        if state.value in subclasses:
            yield f"state:subclass-{kind}"
        if values[state.value] > 1:
            yield f"state:tied-{kind}"
        if parameter and not parameter.requires_grad:
            yield "state:frozen"
        if not state.persistent and not parameter:
            yield "state:non-persistent"
        if "." in state.fqn:
            yield "state:nested"


def _of_inputs(program: Program, caller: dict[str, Origin]) -> Iterator[str]:
    names = [leaf.name for leaf in program.flat_args if isinstance(leaf, Ref)]
    inputs = [*names, *(state.value for state in program.state)]
    owners = Counter(caller[name].owner for name in set(inputs))
    pieces = _pieces(program)
    used = {operand for statement in program.body for operand in statement.operands}
    subclasses = {leaf.name for leaf in program.leaves if leaf.subclass}
    conditions = {
        "input:subclass": any(caller[name].owner in subclasses for name in names),
        "input:twice": len(set(names)) < len(names),
        "input:state": any(state.value in names for state in program.state),
        "input:aliased": any(count > 1 for count in owners.values()),
        "input:piece": len({pieces[name] for name in inputs}) < len(owners),
        "input:view": any(caller[name].steps for name in inputs),
        "input:non-leaf": any(caller[name].kind == "intermediate" for name in inputs),
        "input:constant": any(isinstance(leaf, Const) for leaf in program.flat_args),
        "input:keyword": bool(program.kwargs),
        "input:nested": any(isinstance(tree, Node) for tree in (*program.args, *(tree for _, tree in program.kwargs))),
        "input:unused": any(f"a{index}" not in used for index in range(len(program.flat_args))),
    }
    yield from (name for name, holds in conditions.items() if holds)


def _of_statement(statement: Statement, inside: dict[str, Origin]) -> Iterator[str]:
    op = VOCABULARY[statement.op]
    yield f"op:{op.name}"
    yield f"kind:{op.kind}"
    if (op.name, statement.arguments) in SPECIAL_CALLS:
        yield SPECIAL_CALLS[op.name, statement.arguments]
    if statement.mode:
        yield f"{op.kind}-under-{statement.mode}"
        yield f"mode:{statement.mode}"
    verb = "changes-metadata-of" if op.kind == "metadata" else "writes"
    for place in op.targets:
        yield from (f"{verb}:{label}" for label in inside[statement.operands[place]].labels)
    if len(op.targets) > 1:
        yield "writes:several"


def _of_unused(program: Program) -> Iterator[str]:
    """The kinds of which a call has a result, and none that anything uses."""
    used = {name for statement in program.body for name in statement.operands}
    used |= {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}
    for statement in program.body:
        if statement.results and used.isdisjoint(statement.results):
            yield f"unused:{VOCABULARY[statement.op].kind}"


def _has_dead_code(program: Program, inside: dict[str, Origin]) -> bool:
    """Whether a statement has no part in the outputs, nor in what the caller's tensors hold afterwards."""
    names = {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}
    owners = {inside[name].owner for name in names}
    for statement in reversed(program.body):
        op = VOCABULARY[statement.op]
        targets = [inside[statement.operands[place]] for place in op.targets]
        written = any(target.kind != "intermediate" or target.owner in owners for target in targets)
        if not (written or names.intersection(statement.results) or op.silent or op.kind.endswith("effect")):
            return True
        names.update(statement.operands)
        owners.update(inside[name].owner for name in statement.operands)
    return False


def _of_outputs(program: Program, inside: dict[str, Origin]) -> Iterator[str]:
    names = [leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)]
    owners = Counter(inside[name].owner for name in names)
    yield from (f"output:{label}" for name in names for label in inside[name].labels)
    conditions = {
        "output:repeated": len(set(names)) < len(names),
        "output:aliased": any(count > 1 for count in owners.values()),
        "output:several": len(names) > 1,
        "output:constant": any(isinstance(leaf, Const) for leaf in program.flat_outputs),
        "output:nested": isinstance(program.outputs, Node) and any(isinstance(c, Node) for c in program.outputs.children),
    }
    yield from (name for name, holds in conditions.items() if holds)
