"""Chapter P, P6: each kind of descriptor where eager shows a cause for it, and nowhere else.

The prediction is made from what eager did to what the caller holds, never from AOTAutograd's own analysis.
Where that does not decide the question, nothing is judged; each exception says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import torch._functorch.config

from conformance.case import Case
from conformance.difference import same
from conformance.graph import PIECES, chain, kind_of, output_descriptors, whole
from conformance.observation import Facts
from conformance.rule import Complaint, rule
from conformance.rules.pipeline import (
    BACKWARD_TOKENS,
    BASES,
    FORWARD_TOKENS,
    PHILOX,
    PRIMALS,
    descriptors_on,
    parts_on,
)
from conformance.rules.primals import attributes, kept_as_a_copy
from generators.dressings import fqns
from generators.features import hides_writes
from generators.program import Program, Ref
from generators.vocabulary import VOCABULARY

#: Ops that give an input another storage: what it shares afterwards says nothing about before.
SWAPS_STORAGE = frozenset({"set_", "set_data", "resize_", "out_sin"})


@dataclass(frozen=True)
class Eager:
    """What eager showed: the caller's tensors before and after one call, and the outputs."""

    program: Program
    before: Facts
    after: Facts

    @property
    def passed(self) -> list[str]:
        """The caller's name of each tensor that the graph may take: arguments, then state; one name may recur."""
        arguments = [leaf.name for leaf in self.program.flat_args if isinstance(leaf, Ref)]
        return [name for name in (*arguments, *(state.value for state in self.program.state)) if self.is_tensor(name)]

    def is_tensor(self, name: str) -> bool:
        """Whether the caller holds a tensor of that name."""
        return f"caller.{name}.value" in self.before

    def primal(self, descriptor: Any) -> str | None:
        """The caller's name of what a primal descriptor stands for; None if there is no such thing."""
        if kind_of(descriptor) == "PlainAOTInput":
            leaf = dict(enumerate(self.program.flat_args)).get(descriptor.idx)
            return leaf.name if isinstance(leaf, Ref) else None
        return fqns(self.program).get(descriptor.target)

    def shares(self, one: str, other: str) -> bool:
        """Whether two paths (``caller.x0``, ``outputs[1]``) are on one storage after the call."""
        return one == other or one in self.after.get(f"{other}.shares", ()) or other in self.after.get(f"{one}.shares", ())

    def group(self, name: str) -> list[str]:
        """Everything passed that is on the storage of ``name``, once for each time that it is passed."""
        return [other for other in self.passed if self.shares(f"caller.{name}", f"caller.{other}")]

    def fact_of(self, name: str, fact: str) -> tuple[Any, Any]:
        """One fact of what the caller holds, before and after."""
        return self.before.get(f"caller.{name}.{fact}"), self.after.get(f"caller.{name}.{fact}")

    def reshaped(self, name: str) -> bool:
        """Whether shape or stride changed."""
        return any(before != after for before, after in (self.fact_of(name, "shape"), self.fact_of(name, "stride")))

    def changed(self, name: str) -> bool:
        """Whether the values changed, under the same shape and stride."""
        return not self.reshaped(name) and not same(*self.fact_of(name, "value"))

    def touched(self, name: str) -> bool:
        """Whether there is any sign that the call wrote it or its metadata."""
        return bool(self.after[f"caller.{name}.written"]) or self.reshaped(name) or self.changed(name)

    def uses(self, ops: frozenset[str]) -> bool:
        """Whether the forward calls one of these ops."""
        return any(statement.op in ops for statement in self.program.body)

    def uses_kind(self, kind: str) -> bool:
        """Whether the forward calls an op of that kind."""
        return any(VOCABULARY[statement.op].kind == kind for statement in self.program.body)

    def performs(self, way: str) -> bool:
        """Whether the forward, or the backward, called an op that has an effect."""
        return bool(self.after.get(f"effects.{way.lower()}"))

    def is_differentiable_result(self, path: str) -> bool:
        """Whether an output has a history, is not a view of something in sight, and was not there already."""
        return self.after.get(f"{path}.base", path) is None and self.after[f"{path}.is"] is None

    @property
    def leaves_autograd(self) -> bool:
        """Whether the forward makes tensors that share storage while autograd knows nothing of it."""
        lines = [VOCABULARY[statement.op].template for statement in self.program.body]
        has_modes = any(statement.mode for statement in self.program.body)
        wraps = self.uses_kind("metadata") or self.uses_kind("subclass")
        return has_modes or wraps or any("detach" in line or ".data" in line for line in lines)

    @property
    def hides_writes(self) -> bool:
        """Whether the forward goes through ``.data``, which writes without moving the version counter."""
        return hides_writes(self.program)


def _seen(case: Case) -> Eager:
    return Eager(case.program, case.before, case.eager["train"])


def _is_settled(case: Case) -> bool:
    """Whether there is a joint graph of a program that eager accepts."""
    return case.joint is not None and not case.eager["train"]["error"]


@rule("P6", _is_settled)
def descriptors_have_their_cause(case: Case) -> Iterator[Complaint]:
    """Nothing without a cause in what eager did, and everything for which there is one."""
    eager = _seen(case)
    for place, part in parts_on(case):
        cause, sentence = CAUSES.get(kind_of(part), (None, ""))
        if cause is not None and not cause(eager, part):
            yield place, f"{kind_of(part)} only where {sentence}", part
    tops = list(dict.fromkeys(whole(descriptor) for _, descriptor in descriptors_on(case)))
    if not {"config.unlift_effect_tokens", "disable_functionalization"}.intersection(case.program.options):
        # With the one the graph itself makes them, with the other nothing does: functionalization threads them.
        yield from _missing_tokens(eager, set(map(kind_of, tops)))
    if not eager.uses(SWAPS_STORAGE):
        if "keep_inference_input_mutations" not in case.program.options:  # then the graph itself does them
            yield from _missing_mutations(eager, tops)
        yield from _missing_bases(eager, tops)
        yield from _missing_intermediate_bases(eager, list(map(whole, output_descriptors(case.joint))))


# -- only where there is a cause -------------------------------------------------------------------------------------


def _exists(eager: Eager, primal: Any) -> bool:
    if kind_of(primal) == "PlainAOTInput":
        return bool(primal.idx < len(eager.program.flat_args))
    return primal.target in fqns(eager.program)


def _is_returned(eager: Eager, output: Any) -> bool:
    return bool(output.idx < len(eager.program.flat_outputs))


def _root(eager: Eager, descriptor: Any) -> str | None:
    """The caller's name of the primal at the end of a chain of bases and mutations."""
    last = list(chain(descriptor))[-1]
    return eager.primal(last) if kind_of(last) in PRIMALS else None


def _inputs_alias(eager: Eager, base: Any) -> bool:
    name = _root(eager, base)
    return name is None or eager.uses(SWAPS_STORAGE) or len(eager.group(name)) > 1


def _is_mutated(eager: Eager, mutation: Any) -> bool:
    name = _root(eager, mutation)
    undecided = name is None or eager.uses(SWAPS_STORAGE) or eager.hides_writes
    return undecided or any(eager.touched(other) for other in eager.group(name or ""))


def _outputs_alias(eager: Eager, base: Any) -> bool:
    last = list(chain(base))[-1]
    if kind_of(last) != "PlainAOTOutput" or eager.uses(SWAPS_STORAGE):
        return True
    path = f"outputs[{last.idx}]"
    twins = [other for other in _output_paths(eager) if eager.shares(path, other)]
    has_gradient = eager.after.get(f"{path}.autograd") != "no grad"
    return len(twins) > 1 and has_gradient and not _aliases_input(eager, path)


def _output_paths(eager: Eager) -> list[str]:
    paths = [f"outputs[{index}]" for index in range(len(eager.program.flat_outputs))]
    return [path for path in paths if f"{path}.value" in eager.after]


def _aliases_input(eager: Eager, path: str) -> bool:
    return any(eager.shares(f"caller.{name}", path) for name in eager.passed)


def _metadata_of_alias_mutated(eager: Eager, _: Any) -> bool:
    return eager.uses_kind("metadata") and any(len(eager.group(name)) > 1 for name in eager.passed)


def _is_a_piece(eager: Eager, piece: Any) -> bool:
    """Whether what it is a piece of has such an attribute, or for a number is a subclass; bases are not looked into."""
    of = whole(piece)
    if kind_of(of) in ("GradAOTOutput", "TangentAOTInput"):
        of = of.grad_of if kind_of(of) == "GradAOTOutput" else of.output
        gradient_of = eager.primal(of) if kind_of(of) in PRIMALS else None
        if gradient_of and kept_as_a_copy(eager.after, gradient_of):
            return True
        path = f"grads.{gradient_of}" if gradient_of else f"outputs[{of.idx}]" if kind_of(of) == "PlainAOTOutput" else ""
    elif kind_of(of) in (*PRIMALS, "InputMutationAOTOutput"):
        path = f"caller.{_root(eager, of)}"
    else:
        path = f"outputs[{of.idx}]" if kind_of(of) == "PlainAOTOutput" else ""
    known = eager.after.get(f"{path}.pieces", () if f"{path}.value" in eager.after else None)
    wanted = attributes(piece)
    return known is None or (any(place == wanted for place, *_ in known) if wanted else bool(known))


def _rng_is_functionalized(eager: Eager, _: Any) -> bool:
    return bool(torch._functorch.config.functionalize_rng_ops)


def _forward_has_effects(eager: Eager, _: Any) -> bool:
    return eager.performs("Forward")


def _backward_has_effects(eager: Eager, _: Any) -> bool:
    return eager.performs("Backward")


Cause = tuple[Callable[[Eager, Any], bool], str]

#: The cause that a descriptor of each kind must have, and its name. Tangents and gradients are counted by J6.
CAUSES: dict[str, Cause] = {
    **dict.fromkeys(PRIMALS, (_exists, "the module or the call has such an input")),
    "PlainAOTOutput": (_is_returned, "the call returns so many values"),
    **dict.fromkeys(BASES, (_inputs_alias, "the input shares storage with another one")),
    "InputMutationAOTOutput": (_is_mutated, "the call writes the input"),
    "IntermediateBaseAOTOutput": (_outputs_alias, "differentiable outputs share the storage of an intermediate"),
    "MetadataMutationAOTOutput": (_metadata_of_alias_mutated, "the metadata of an aliased input changes"),
    **dict.fromkeys(PIECES, (_is_a_piece, "the tensor is of a subclass that has such a piece")),
    **dict.fromkeys(PHILOX, (_rng_is_functionalized, "functionalize_rng_ops is on")),
    **dict.fromkeys(FORWARD_TOKENS, (_forward_has_effects, "the forward calls an op that has an effect")),
    **dict.fromkeys(BACKWARD_TOKENS, (_backward_has_effects, "the backward calls an op that has an effect")),
}


# -- wherever there is a cause ---------------------------------------------------------------------------------------


def _missing_mutations(eager: Eager, tops: list[Any]) -> Iterator[Complaint]:
    """An input whose values or metadata changed has its mutation returned, by itself, a twin, or their base."""
    returned = [_root(eager, top) for top in tops if kind_of(top) == "InputMutationAOTOutput"]
    covered = {name for root in returned if root is not None for name in eager.group(root)}
    indirect = any(kind_of(top) == "MetadataMutationAOTOutput" for top in tops)
    for name in dict.fromkeys(eager.passed):
        if name not in covered and (eager.changed(name) or (eager.reshaped(name) and not indirect)):
            yield f"caller.{name}", "an InputMutationAOTOutput, since eager wrote it", tops


def _missing_tokens(eager: Eager, kinds: set[str]) -> Iterator[Complaint]:
    """Where a forward or a backward has an effect, a token comes in and goes out."""
    for way, side in product(("Forward", "Backward"), ("Input", "Output")):
        token = f"{way}TokenAOT{side}"
        if eager.performs(way) and token not in kinds:
            yield f"{side.lower()}s", f"{token}(idx=0), since the {way.lower()} calls an op that has an effect", "nothing"


def _missing_bases(eager: Eager, tops: list[Any]) -> Iterator[Complaint]:
    """Where two inputs have elements in common and one is written, they become one base."""
    if eager.uses_kind("metadata"):
        return  # what the views were before the call can't be told from what they are after it
    roots = {_root(eager, part) for top in tops for part in chain(top) if kind_of(part) in BASES}
    based = {name for root in roots if root is not None for name in eager.group(root)}
    for one, other in combinations(dict.fromkeys(eager.passed), 2):
        if one not in based and _overlap(eager, one, other) and (eager.changed(one) or eager.changed(other)):
            yield f"caller.{one}", f"a base of it and of {other}: they overlap, and eager wrote one", tops


def _overlap(eager: Eager, one: str, other: str) -> bool:
    """Whether two different plain tensors have elements in common."""
    if any(f"caller.{name}.pieces" in eager.after for name in (one, other)):
        return False  # a base is a plain tensor over memory; there is none of a subclass
    is_same = eager.after[f"caller.{other}.is"] == f"caller.{one}" or eager.after[f"caller.{one}.is"] is not None
    if is_same or not eager.shares(f"caller.{one}", f"caller.{other}"):
        return False
    return bool(_addresses(eager.after, f"caller.{one}") & _addresses(eager.after, f"caller.{other}"))


def _addresses(facts: Facts, path: str) -> set[int]:
    """The places in the storage, counted in elements, that a tensor's elements are at."""
    dimensions = zip(facts[f"{path}.shape"], facts[f"{path}.stride"], strict=True)
    steps = [range(0, size * stride, stride) if stride else range(min(size, 1)) for size, stride in dimensions]
    return {facts[f"{path}.offset"] + sum(place) for place in product(*steps)}


def _missing_intermediate_bases(eager: Eager, outputs: list[Any]) -> Iterator[Complaint]:
    """Two differentiable views of an intermediate that is no output come with their base."""
    if eager.leaves_autograd or eager.uses_kind("multi_view"):
        return  # what shares storage need not be a view then; views of one multi-view op may be returned as they are
    roots = {list(chain(top))[-1].idx for top in outputs if kind_of(top) == "IntermediateBaseAOTOutput"}
    views = [path for path in _output_paths(eager) if eager.is_differentiable_result(path)]
    for one, other in combinations(views, 2):
        has_base = any(eager.shares(one, f"outputs[{root}]") for root in roots)
        if eager.shares(one, other) and not _aliases_input(eager, one) and not has_base:
            yield one, f"an IntermediateBaseAOTOutput of it or of {other}", outputs
