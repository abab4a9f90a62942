"""Passes over a joint graph as its consumers write them, between export and compile (C12).

Each edits the joint in place. Where the callable then does something else than the plain one, or takes something
else, a function beside it says what is to be expected. No pass adds an output that the user sees: ``out_spec``
and the number of outputs are fixed at the export, and no document says how to change them.
"""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn
from torch.utils.checkpoint import CheckpointPolicy

from conformance.graph import flat_results, kind_of, output_descriptors, output_node, placeholders
from conformance.implementation import Joint
from conformance.observation import Facts
from generators.build import Built
from generators.dressings import fqns
from generators.program import Ref, State

if TYPE_CHECKING:
    from conformance.case import Case

ATEN = torch.ops.aten


def replace_graph(joint: Joint, case: Case) -> None:
    """Another graph module, with a copy of the graph in it."""
    joint.graph_module = _copied(joint)


def _copied(joint: Joint) -> fx.GraphModule:
    """The constants that belong to the graph are not copied: a fake mode may be active, and they are real."""
    return fx.GraphModule(joint.graph_module, copy.deepcopy(joint.graph_module.graph))


def eliminate_dead_code(joint: Joint, case: Case) -> None:
    """A node that nothing uses, and then all such nodes away."""
    graph = joint.graph_module.graph
    for node in _tensors(placeholders(joint))[:1]:
        with graph.inserting_after(node):
            _call(graph, ATEN.clone.default, (node,), node)
    graph.eliminate_dead_code()
    joint.graph_module.recompile()


def rename(joint: Joint, case: Case) -> None:
    """Each call under another name; the placeholders keep theirs, which partitioners read."""
    for node in _calls(joint):
        node._rename(f"renamed_{node.name}")
    joint.graph_module.recompile()


def recompute(joint: Joint, case: Case) -> None:
    """Everything in the forward, but for what must be done once, to be computed again in the backward.

    Not for where an input is written: what it held before is gone when the backward comes.
    """
    for node in _calls(joint):
        if node.meta.get("partitioner_tag") != "is_backward" and not _is_done_once(node):
            node.meta |= {"recompute": CheckpointPolicy.MUST_RECOMPUTE, "ac_graph_id": 0}


def _is_done_once(node: fx.Node) -> bool:
    """Whether the node draws random numbers, has an effect, or picks one of several results of what does: they go together."""
    target = getattr(node.args[0] if node.target is operator.getitem else node, "target", None)
    return target is torch.ops.higher_order.with_effects or torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def double(joint: Joint, case: Case) -> None:
    """Twice each gradient, in a graph module that takes the place of the first."""
    module = _copied(joint)
    output = module.graph.output_node()
    results = list(output.args[0])  # type: ignore[arg-type]
    with module.graph.inserting_before(output):
        for index, descriptor in enumerate(output_descriptors(joint)):
            result = results[index]
            if descriptor is not None and descriptor.is_grad() and isinstance(result, fx.Node):
                results[index] = _call(module.graph, ATEN.mul.Tensor, (result, 2), result)
    output.args = (results,)
    module.recompile()
    joint.graph_module = module


def writes_nothing(case: Case) -> bool:
    """Whether the call leaves everything that the caller holds as it was."""
    return not any(fact for path, fact in case.compiled["train"].items() if path.endswith(".written"))


def gradients_come_from_the_graph(case: Case) -> bool:
    """Whether every gradient comes out of the graph: one may pass by it where memory is shared or written."""
    plain = case.compiled["train"]
    held = {path.removesuffix(".written") for path in plain if path.endswith(".written")}
    outputs = [fact for path, fact in plain.items() if path.startswith("outputs") and path.endswith(".shares")]
    return writes_nothing(case) and not any(held.intersection(shared) for shared in outputs)


def is_doubled(case: Case) -> bool:
    """Whether every gradient is there as it is: what twice a piece of a subclass stands for is the subclass's own."""
    gradients = [d for d in output_descriptors(case.joint) if d is not None and d.is_grad()]
    is_plain = bool(gradients) and all(kind_of(d) == "GradAOTOutput" for d in gradients)
    return is_plain and gradients_come_from_the_graph(case)


def doubled(case: Case) -> Facts:
    """Twice each gradient of a leaf."""
    plain = case.compiled["train"]
    twice = {path: 2 * fact for path, fact in plain.items() if path.startswith("grads.") and path.endswith(".value")}
    return {**plain, **twice}


#: What the other process holds of the parameter that is sharded.
_OTHER_SHARD: list[torch.Tensor] = []


@torch.library.custom_op("conformance::gather_rows", mutates_args=(), schema="(Tensor shard, int rows) -> Tensor")
def gather_rows(shard: torch.Tensor, rows: int) -> torch.Tensor:
    """The whole parameter of this process's shard and the other's, as a collective would give it."""
    return torch.cat([shard, *_OTHER_SHARD])


@gather_rows.register_fake
def _(shard: torch.Tensor, rows: int) -> torch.Tensor:
    return shard.new_empty((rows, *shard.shape[1:]))


def is_sharded(case: Case) -> bool:
    """Whether there is a parameter to shard."""
    return _sharded_state(case) is not None


def _sharded_state(case: Case) -> State | None:
    """The first parameter of two rows or more that is passed once, by itself, and neither written nor returned."""
    return next((state for state in case.program.state if _can_shard(case, state)), None)


def _can_shard(case: Case, state: State) -> bool:
    leaf = next((leaf for leaf in case.program.leaves if leaf.name == state.value), None)
    if leaf is None or not leaf.parameter or leaf.stride is not None:
        return False
    return leaf.shape[:1] > (1,) and _is_apart(case, state.value) and _parameter_node(case.joint, state.fqn) is not None


def _is_apart(case: Case, name: str) -> bool:
    """Whether nothing else in the program has to do with this tensor, and nothing writes it."""
    program, plain = case.program, case.compiled["train"]
    passed = [*fqns(program).values()] + [arg.name for arg in program.flat_args if isinstance(arg, Ref)]
    viewed = any(name in statement.operands for statement in program.setup)
    shared = {other for path, fact in plain.items() if path.endswith(".shares") for other in fact}
    is_alone = f"caller.{name}" not in shared and not plain[f"caller.{name}.shares"] and not plain[f"caller.{name}.written"]
    return passed.count(name) == 1 and is_alone and not viewed


def _parameter_node(joint: Joint, fqn: str) -> fx.Node | None:
    nodes = (n for n in placeholders(joint) if kind_of(n.meta["desc"]) == "ParamAOTInput" and n.meta["desc"].target == fqn)
    return next(nodes, None)


def _rows_of_shard(rows: int) -> int:
    return (rows + 1) // 2


def shard(joint: Joint, case: Case) -> None:
    """One parameter means its first half from now on, gathered in the graph; its gradient is that of the half."""
    state = _sharded_state(case)
    assert state is not None
    node = _parameter_node(joint, state.fqn)
    assert node is not None
    graph, results, whole = joint.graph_module.graph, flat_results(joint), node.meta["val"]
    rows = whole.shape[0]
    with graph.inserting_after(placeholders(joint)[-1]):
        gathered = _call(graph, torch.ops.conformance.gather_rows.default, (node, rows), node)
    node.replace_all_uses_with(gathered, delete_user_cb=lambda user: user is not gathered)
    node.meta["val"] = _first_rows(whole)
    for index, descriptor in enumerate(output_descriptors(joint)):
        if kind_of(descriptor) == "GradAOTOutput" and descriptor.grad_of == node.meta["desc"] and results[index] is not None:
            results[index] = _scattered(graph, results[index], rows)
    output_node(joint).args = (results,)
    joint.graph_module.recompile()


def _scattered(graph: fx.Graph, gradient: fx.Node, rows: int) -> fx.Node:
    """The rows of a whole parameter's gradient that belong to the shard."""
    with graph.inserting_before(graph.output_node()):
        part = _call(graph, ATEN.slice.Tensor, (gradient, 0, 0, _rows_of_shard(rows)), gradient)
        part.meta["val"] = _first_rows(gradient.meta["val"])
        return _call(graph, ATEN.clone.default, (part,), part)


def _first_rows(value: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return value[: _rows_of_shard(value.shape[0])].clone()


def hold_shard(case: Case, built: Built) -> None:
    """Give the caller the shard for the parameter, and the other process the rest."""
    state = _sharded_state(case)
    assert state is not None
    whole = built.state(state.fqn).detach()
    rows = _rows_of_shard(whole.shape[0])
    mine = nn.Parameter(whole[:rows].clone(), requires_grad=built.state(state.fqn).requires_grad)
    _OTHER_SHARD[:] = [whole[rows:].clone()]
    owner, _, attribute = state.fqn.rpartition(".")
    built.module.get_submodule(owner).register_parameter(attribute, mine)
    built.values[state.value] = mine


def sharded(case: Case) -> Facts:
    """What the plain callable shows, with the shard in the caller's hands and the matching rows of the gradient."""
    state = _sharded_state(case)
    assert state is not None
    facts = dict(case.compiled["train"])
    for path in (f"caller.{state.value}.value", f"grads.{state.value}.value"):
        if path in facts:
            facts[path] = facts[path][: _rows_of_shard(facts[path].shape[0])]
    shapes = [f"caller.{state.value}.shape", f"caller.{state.value}.stride"]
    shapes += [f"grads.{state.value}.type", f"grads.{state.value}.stride"]
    return {path: fact for path, fact in facts.items() if path not in shapes}


def _call(graph: fx.Graph, target: Any, args: tuple[Any, ...], like: fx.Node) -> fx.Node:
    """A call whose result looks like that node, and belongs to the same side of the graph."""
    node = graph.call_function(target, args)
    node.meta = {key: value for key, value in like.meta.items() if key in ("val", "tensor_meta", "partitioner_tag")}
    return node


def _calls(joint: Joint) -> list[fx.Node]:
    return [node for node in joint.graph_module.graph.nodes if node.op == "call_function"]


def _tensors(nodes: list[fx.Node]) -> list[fx.Node]:
    return [node for node in nodes if isinstance(node.meta.get("val"), torch.Tensor)]
