"""Chapter J, J7: the pieces of a subclass, on both sides of the graph, in the order in which they make it up again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from conformance.case import Case
from conformance.graph import PIECES, flat_results, kind_of, kinds_of, output_descriptors, placeholder_descriptors, whole
from conformance.observation import Facts, has_grad_fn, structure_of
from conformance.rule import Complaint, has_joint, rule
from conformance.rules.primals import both_sides, exported_at, kept_as_a_copy, name_of

#: What a subclass is made of: the path to each attribute, the outer subclasses before what is in them.
Paths = Sequence[str]


def _has_subclasses(case: Case) -> bool:
    on_graph = any(kind_of(d) in PIECES for _, descriptors in both_sides(case) for d in descriptors)
    return on_graph or any(map(structure_of, case.primals.values()))


@rule("J7", lambda case: has_joint(case) and _has_subclasses(case))
def pieces_of_a_subclass_are_complete(case: Case) -> Iterator[Complaint]:
    """Each whole is there in the pieces that it has in eager, one after another: attributes, symbolic sizes, symbolic strides.

    A tangent has the pieces of its output, but no numbers: it shares those of the primals. A gradient that the graph
    does not compute is None as a whole.
    """
    results = dict(zip(output_descriptors(case.joint), flat_results(case.joint)))
    for side, descriptors in both_sides(case):
        wholes = list(map(whole, descriptors))
        for of in dict.fromkeys(wholes):
            paths = _paths_of(case, of)
            places = [index for index, other in enumerate(wholes) if other == of]
            if paths is None or of is None or results.get(of, of) is None:
                continue
            found = [descriptors[index] for index in places]
            wanted = list(_expected(case, of, paths, found))
            if found != wanted:
                yield f"{side} pieces of {kinds_of(of)}", wanted, found
            elif places[-1] - places[0] >= len(places):
                yield f"{side} pieces of {kinds_of(of)}", "one after another", f"at {places}"


def _paths_of(case: Case, of: Any) -> Paths | None:
    """What this is made of, () for a plain tensor; None where eager alone does not say."""
    facts = case.eager["train"]
    kind = kind_of(of)
    if of in case.primals:
        return [path for path, *_ in structure_of(case.primals[of])]
    if facts["error"]:
        return None
    if kind == "PlainAOTOutput":
        return _paths_at(facts, f"outputs[{of.idx}]")
    if kind == "TangentAOTInput":
        return None if kind_of(of.output) == "InputMutationAOTOutput" else _paths_of(case, of.output)
    if kind == "GradAOTOutput" and (_a_tangent_is_guessed(case) or _flows_beside_the_graph(case, of.grad_of)):
        return None
    if kind in ("InputMutationAOTOutput", "GradAOTOutput"):
        root = of.mutated_input if kind == "InputMutationAOTOutput" else of.grad_of
        name = name_of(case, root)
        if name is None or (kind[0] == "G" and kept_as_a_copy(facts, name)):
            return None
        return _paths_at(facts, f"{'caller' if kind[0] == 'I' else 'grads'}.{name}")
    return None


def _a_tangent_is_guessed(case: Case) -> bool:
    """Whether there is a tangent of a mutation: PyTorch documents that it takes it for a plain tensor of zeros.

    See the note on the subclassness of tangents for mutated inputs in torch/_functorch/_aot_autograd. A gradient
    that it flows into is then a plain tensor, too.
    """
    tangents = [d.output for d in placeholder_descriptors(case.joint) if kind_of(d) == "TangentAOTInput"]
    return any(kind_of(output) == "InputMutationAOTOutput" for output in tangents)


def _flows_beside_the_graph(case: Case, primal: Any) -> bool:
    """Whether eager's gradient is a sum of the joint's and of more: of another input's, or of the input's as an output."""
    name = f"caller.{name_of(case, primal)}"
    facts = case.eager["train"]
    told = [facts[path] for path in facts if path.startswith("outputs") and path.endswith((".is", ".base"))]
    return name in told or _comes_of_another(case, primal)


def _comes_of_another(case: Case, primal: Any) -> bool:
    """Whether the gradient of what is passed there comes through another input too: eager shows the sum of both."""
    passed = case.primals.get(primal)
    others = [other for other in case.primals.values() if isinstance(other, torch.Tensor) and other is not passed]
    return any(_leads_to(other.grad_fn, passed) for other in others if has_grad_fn(other) is True)


def _leads_to(function: Any, leaf: Any) -> bool:
    if function is None:
        return False
    return getattr(function, "variable", None) is leaf or any(_leads_to(other, leaf) for other, _ in function.next_functions)


def _paths_at(facts: Facts, path: str) -> Paths | None:
    """What the tensor at that path of the facts is made of; None if there is none."""
    return [place for place, *_ in facts.get(f"{path}.pieces", ())] if f"{path}.value" in facts else None


def _expected(case: Case, of: Any, paths: Paths, found: Sequence[Any]) -> Iterator[Any]:
    """The pieces as they must be, innermost attributes alone, each subclass followed by its numbers."""
    if not paths:
        yield of
        return
    side = "Input" if isinstance(of, case.implementation.descriptors.AOTInput) else "Output"
    attribute = getattr(case.implementation.descriptors, f"SubclassGetAttrAOT{side}")
    direct = [path for path in paths if path.count(".") == 1]
    for path in direct:
        inside = [other[len(path) :] for other in paths if other.startswith(f"{path}.")]
        yield from _expected(case, attribute(base=of, attr=path[1:]), inside, found)
    yield from _numbers(case, of, side, found)


def _numbers(case: Case, of: Any, side: str, found: Sequence[Any]) -> Iterator[Any]:
    """The symbolic sizes, then strides: of a primal those that it was exported with, of a result those that were found.

    Which sizes of a result are symbolic is a matter of tracing; where none goes in, none comes out. So is whether a
    symbol that tracing found to be a number still counts: it may be there or not.
    """
    names = case.implementation.descriptors
    passed = exported_at(case, of)
    for what in ("Size", "Stride"):
        number = getattr(names, f"Subclass{what}AOT{side}")
        if isinstance(passed, torch.Tensor):
            values = passed.size() if what == "Size" else passed.stride()
            symbolic: dict[Any, Any] = {number(base=of, idx=i): value for i, value in enumerate(values) if _is_symbolic(value)}
            yield from (d for d, value in symbolic.items() if value.node.maybe_as_int() is None or d in found)
        elif side == "Output" and case.program.symbolic:
            yield from sorted({d for d in found if isinstance(d, number) and d.base == of}, key=lambda d: d.idx)


def _is_symbolic(value: Any) -> bool:
    """Whether a size or stride becomes an input of its own: the ragged dimension of a nested tensor is found in its offsets."""
    return isinstance(value, torch.SymInt) and not value.node.is_nested_int()
