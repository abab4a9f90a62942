"""J18: the options of the export do as documented."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from conformance.case import Case
from conformance.difference import NEAR_MISS, differences, same
from conformance.graph import is_symbolic, kind_of, lines_of, output_descriptors, placeholder_descriptors, placeholders
from conformance.implementation import Joint
from conformance.rule import Complaint, has_joint, rule
from conformance.thorough import OPTIONS
from generators.vocabulary import VOCABULARY

#: The options that change what nodes carry or how they are traced, and none of the nodes.
OF_THE_TRACE = ("_record_nn_module_stack", "_disable_torch_fn_metadata_mode")


def _options_were_tried(case: Case) -> bool:
    """Whether there is something to judge: where eager raises, what an export with an option does is open.

    A program with options of its own is left out: one option may be against another.
    """
    if case.program.options:
        return False
    return has_joint(case) and case.thorough and bool(_tried_options(case)) and not case.eager["train"]["error"]


@rule("J18", _options_were_tried)
def export_options_do_as_documented(case: Case) -> Iterator[Complaint]:
    for option in _tried_options(case):
        joint = case.optioned.get(option)
        if joint is None:
            yield option, "a joint graph, as without the option", "an error"
            continue
        if option in _EFFECTS:
            yield from _EFFECTS[option](case, joint)
        if option in OF_THE_TRACE and lines_of(joint) != case.lines:
            yield f"{option}: graph", "the graph as without the option", "another"
        yield from _other_results(case, option)


def _tried_options(case: Case) -> list[str]:
    return [option for option in OPTIONS if option in case.implementation.export_options()]


def _other_results(case: Case, option: str) -> Iterator[Complaint]:
    """Where the compiled joint, which without the option shows what eager shows, shows something else with it.

    Values that differ by so little that it may be rounding are not judged: a decomposition computes otherwise.
    """
    expected, found = case.eager["train"], case.optioned_results[option]
    if option == "ignore_shape_env":
        return  # it is tried in surroundings of its own, which have effects of their own
    if case.refusal is not None or any(scenario == "train" for scenario, _ in case.differences):
        return
    for difference in differences(expected, found, case.unjudged):
        path = difference.path
        if not (path.endswith(".value") and same(expected[path], found[path], NEAR_MISS)):
            yield f"{option}: {path}", difference.expected, difference.found


def _decomposed(case: Case, joint: Joint) -> Iterator[Complaint]:
    nodes = joint.graph_module.graph.find_nodes
    left = [str(target) for target in case.decompositions if nodes(op="call_function", target=target)]
    if left:
        yield "decompositions", "applied in forward and backward", f"left: {left}"


def _kept_mutations(case: Case, joint: Joint) -> Iterator[Complaint]:
    """In an inference graph, a mutation kept in the graph is a copy_ and no output.

    Not judged where the program changes metadata in place: no copy_ can do that.
    """
    changes_metadata = any(VOCABULARY[statement.op].kind == "metadata" for statement in case.program.body)
    if changes_metadata or any(kind_of(d) == "TangentAOTInput" for d in placeholder_descriptors(joint)):
        return
    left = [d for d in output_descriptors(joint) if kind_of(d) == "InputMutationAOTOutput"]
    if left:
        yield "keep_inference_input_mutations", "mutations done in the graph", f"handed out: {left}"
    nodes = joint.graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
    copies = {node.args[0].meta.get("desc") for node in nodes}
    for mutation in output_descriptors(case.joint):
        if kind_of(mutation) == "InputMutationAOTOutput" and mutation not in left and mutation.mutated_input not in copies:
            yield "keep_inference_input_mutations", "a copy_ for each mutation", f"none for {mutation}"


def _specialized(case: Case, joint: Joint) -> Iterator[Complaint]:
    """AOTConfig of torch: "if dynamic shapes are on, we end up specializing on example_inputs"."""
    if any(map(is_symbolic, placeholders(joint))) and not any(map(is_symbolic, placeholders(case.joint))):
        yield "ignore_shape_env", "the sizes of the example tensors", "symbolic sizes"


def _without_torch_fn(case: Case, joint: Joint) -> Iterator[Complaint]:
    """AOTConfig of torch: the mode that is off "is used to track torch_fn metadata"."""
    if any("torch_fn" in node.meta for node in joint.graph_module.graph.nodes):
        yield "_disable_torch_fn_metadata_mode", "no torch_fn", "torch_fn"


_EFFECTS = {
    "decompositions": _decomposed,
    "keep_inference_input_mutations": _kept_mutations,
    "ignore_shape_env": _specialized,
    "_disable_torch_fn_metadata_mode": _without_torch_fn,
}
