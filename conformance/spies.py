"""A partition and two compilers that a caller may give to the compile: they write down what they get (C9, J20)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from torch import fx
from torch._functorch.partitioners import default_partition

from conformance.graph import kind_of, placeholder_descriptors
from conformance.observation import Facts
from conformance.passes import gradients_come_from_the_graph

if TYPE_CHECKING:
    from conformance.case import Case

_COMPILERS = ("fw_compiler", "bw_compiler")


def spied(facts: Facts) -> dict[str, Callable[..., Any]]:
    """The options of the compile, each of which tells ``facts`` how often it and its result were used, and on what."""
    facts.update({f"{who}.calls": 0 for who in _COMPILERS})
    facts["partition_fn.described"] = False
    inputs: list[str] = []
    compilers = {who: _compiler(who, facts, inputs) for who in _COMPILERS}
    return {"partition_fn": _partition(facts, inputs), **compilers}


def _partition(facts: Facts, inputs: list[str]) -> Callable[..., Any]:
    """Subgraphs of the joint may be partitioned by it too; they have no descriptors."""

    def partition(joint: fx.GraphModule, *args: Any, num_fwd_outputs: int, **options: Any) -> Any:
        if is_described(joint, ()):
            inputs.extend(node.name for node in joint.graph.find_nodes(op="placeholder"))
            facts["partition_fn.described"] = True
            facts["num_fwd_outputs"] = num_fwd_outputs
            facts["leading outputs"] = leading_outputs(joint)
        return default_partition(joint, *args, num_fwd_outputs=num_fwd_outputs, **options)

    return partition


def _compiler(who: str, facts: Facts, inputs: list[str]) -> Callable[..., Any]:
    def compiler(module: fx.GraphModule, example_inputs: Any) -> Any:
        facts[f"{who}.calls"] += 1
        facts[f"{who}.described"] = is_described(module, inputs)
        facts[f"{who}.runs"] = 0

        def run(args: list[Any]) -> Any:
            facts[f"{who}.runs"] += 1
            return fx.Interpreter(module).boxed_run(args)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    return compiler


def leading_outputs(joint: fx.GraphModule) -> int:
    """How many outputs stand before the first gradient, or before the None that stands for one."""
    descriptors = joint.graph.output_node().meta["desc"]
    backward = (i for i, d in enumerate(descriptors) if d is None or d.is_grad() or kind_of(d) == "BackwardTokenAOTOutput")
    return next(backward, len(descriptors))


def is_described(module: Any, inputs: Collection[str]) -> bool:
    """Whether each output that is not None carries a descriptor, and each of the joint's ``inputs`` that it takes.

    An activation saved for the backward has none there: no AOTInput stands for it.
    """
    if not isinstance(module, fx.GraphModule):
        return False
    output = module.graph.output_node()
    results, descriptors = list(output.args[0]), output.meta.get("desc") or ()  # type: ignore[arg-type]
    taken = [node.meta.get("desc") for node in module.graph.find_nodes(op="placeholder") if node.name in inputs or not inputs]
    given = [descriptor for descriptor, result in zip(descriptors, results) if result is not None]
    return len(descriptors) == len(results) and None not in [*taken, *given]


def spies_report(case: Case) -> Facts:
    """What is due: each function used on graphs with descriptors, each compiler once, and its result run once.

    Without a tangent there is nothing to partition, and no backward to compile. Whether the backward of the graph
    runs is asked where every gradient comes out of the graph. A joint without descriptors is told of as such (J1).
    """
    plain = case.compiled["train"]
    has_gradient = any(path.startswith("grads.") and path.endswith(".value") for path in plain)
    due = {"fw_compiler.calls": 1, "fw_compiler.runs": 1, "fw_compiler.described": True}
    if any(d is not None and d.is_tangent() for d in placeholder_descriptors(case.joint)):
        due["partition_fn.described"] = True
        if has_gradient and gradients_come_from_the_graph(case):
            due |= {"bw_compiler.calls": 1, "bw_compiler.runs": 1, "bw_compiler.described": True}
    described = is_described(case.joint.graph_module, ())
    return plain | {path: fact for path, fact in due.items() if described or not path.endswith(".described")}
