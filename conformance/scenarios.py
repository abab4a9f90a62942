"""The ways in which a callable is used while it is watched (C2-C5, C7, C8, C14).

A scenario gets something to call and what was built for it, and records facts. Eager and the
implementation go through the same scenario, each with fresh inputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from conformance import effects
from conformance.observation import (
    Facts,
    autograd_state,
    cotangents_for,
    has_grad_fn,
    is_leaf,
    observe_aliasing,
    observe_contents,
    observe_error,
    observe_leaf,
    roots_of,
    shape_of,
    significant_stride,
    value_of,
)
from generators.build import Built, build
from generators.program import Program
from generators.subclasses import storages, wrapped
from generators.variants import sizes_in, with_non_leaves

#: Calls a built module, or what an implementation made of it, with the built inputs.
Call = Callable[[Built], Any]


#: The fact that a scenario does not apply to a program.
INAPPLICABLE = "inapplicable"


class Stopped(Exception):
    """A step of a scenario raised; the error is among the facts already."""


@dataclass
class Watch:
    """One run of one scenario: what is called, what was built for it, what was seen so far."""

    call: Call
    built: Built
    facts: Facts

    def forward(self, path: str = "outputs") -> list[Any]:
        """Call, and give back the flat outputs."""
        outputs = self._step("forward", lambda: self.call(self.built))
        leaves, structure = pytree.tree_flatten(outputs)
        self.facts[f"{path}.structure"] = str(structure)
        return leaves

    def backward(self, roots: list[torch.Tensor], seed: int = 0, **options: Any) -> None:
        """Backward from ``roots`` under random cotangents; nothing to do without roots."""
        if roots:
            self._step("backward", lambda: torch.autograd.backward(roots, cotangents_for(roots, seed), **options))

    def outputs(self, leaves: list[Any], path: str = "outputs") -> None:
        """Record the flat outputs and how they alias one another and what the caller holds."""
        for index, leaf in enumerate(leaves):
            observe_leaf(self.facts, f"{path}[{index}]", leaf)
        tensors = {f"{path}[{i}]": leaf for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)}
        observe_aliasing(self.facts, {**self.caller(), **tensors})

    def caller(self) -> dict[str, torch.Tensor]:
        """What the caller holds, by path."""
        return {f"caller.{name}": tensor for name, tensor in self.built.tensors.items()}

    def inputs(self, versions: dict[str, int]) -> None:
        """Record the state of everything that the caller holds after the call (C4)."""
        for path, tensor in self.caller().items():
            observe_leaf(self.facts, path, tensor)
            self.facts[f"{path}.offset"] = tensor.storage_offset() if tensor.numel() else None
            self.facts[f"{path}.written"] = tensor._version != versions[path]

    def gradients(self, path: str = "grads") -> None:
        """Record the gradient of every leaf that the caller holds (C3)."""
        for name, tensor in self.built.tensors.items():
            if is_leaf(tensor) is True and tensor.requires_grad:
                self.gradient(f"{path}.{name}", tensor.grad)

    def gradient(self, path: str, grad: torch.Tensor | None) -> None:
        """Record one gradient: None, or its type, dtype, layout, stride and value.

        The strides of a subclass' pieces are not told: autograd sees to those of its outside alone.
        """
        self.facts[f"{path}.none"] = grad is None
        if grad is not None:
            self.facts[f"{path}.type"] = (type(grad).__name__, str(grad.dtype), shape_of(grad), str(grad.layout))
            self.facts[f"{path}.stride"] = significant_stride(grad)
            observe_contents(self.facts, path, grad, strides=False)

    def kinds(self) -> list[tuple[Any, ...]]:
        """What an export takes for granted of each tensor that the caller holds."""
        tensors = self.built.tensors.values()
        return [(t.shape, t.stride(), t.dtype, autograd_state(t), storages(t)) for t in tensors]

    def versions(self) -> dict[str, int]:
        """The version counters of what the caller holds."""
        return {path: tensor._version for path, tensor in self.caller().items()}

    def _step(self, stage: str, action: Callable[[], Any]) -> Any:
        try:
            with effects.listening():
                result = action()
            if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                torch.cuda.synchronize()  # an error of a kernel belongs to the step that launched it
            return result
        except Exception as error:
            observe_error(self.facts, stage, error)
            raise Stopped from error
        finally:
            self._note_effects(stage)

    def _note_effects(self, stage: str) -> None:
        """Record what the step performed, after what earlier steps of its stage did (C14)."""
        before = self.facts.setdefault(f"effects.{stage}", ())
        for place, (name, told) in enumerate(effects.performed(), len(before)):
            self.facts[f"effects.{stage}"] += (name,)
            self.facts[f"effects.{stage}[{place}].{name}"] = told


def train(watch: Watch) -> None:
    """One call, everything read, backward from all that autograd reaches."""
    versions = watch.versions()
    leaves = watch.forward()
    watch.outputs(leaves)
    watch.inputs(versions)
    watch.facts["rng.value"] = torch.get_rng_state()
    watch.backward(roots_of([*leaves, *_written_by_call(watch, versions)]))
    watch.facts["rng.after_backward.value"] = torch.get_rng_state()
    watch.gradients()
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad and is_leaf(leaf) != "refused":
            watch.facts[f"outputs[{index}].grad.retained"] = leaf.retains_grad
            if leaf.is_leaf or leaf.retains_grad:
                watch.gradient(f"outputs[{index}].grad", leaf.grad)


def retained(watch: Watch) -> None:
    """Backward twice through a retained graph."""
    roots = roots_of(watch.forward())
    watch.backward(roots, retain_graph=True)
    watch.backward(roots, seed=1)
    watch.gradients()


def again(watch: Watch) -> None:
    """Other values than those exported with, and gradients accumulated into those that are there."""
    for index, tensor in enumerate(watch.built.tensors.values()):
        if is_leaf(tensor) is True and tensor.requires_grad:
            tensor.grad = torch.full_like(tensor, 0.5 + index)
    leaves = watch.forward()
    watch.outputs(leaves)
    watch.backward(roots_of(leaves))
    watch.gradients()


def alone(index: int) -> Callable[[Watch], None]:
    """Backward from one of several outputs alone."""

    def scenario(watch: Watch) -> None:
        roots = roots_of(watch.forward())
        watch.backward(roots[index : index + 1])
        watch.gradients()

    return scenario


def one_by_one(watch: Watch) -> None:
    """A backward from each root in turn, each with its own part of the graph."""
    for index, root in enumerate(roots_of(watch.forward())):
        watch.backward([root], seed=index)
    watch.gradients()


def twice(watch: Watch) -> None:
    """Two calls on one state, then one backward through both.

    It says nothing where the first call leaves inputs of another kind than those exported with: of another
    shape, say, or requiring grad by now.
    """
    before = watch.kinds()
    first = watch.forward()
    if watch.kinds() != before:
        watch.facts[INAPPLICABLE] = True
        raise Stopped
    second = watch.forward("second")
    watch.outputs(second, "second")
    for index, leaf in enumerate(first):
        if isinstance(leaf, torch.Tensor):
            watch.facts[f"first[{index}].value"] = value_of(leaf)
    watch.backward(roots_of([*first, *second]))
    watch.gradients()


def without_grad(watch: Watch) -> None:
    """A call under no_grad."""
    with torch.no_grad():
        leaves = watch.forward()
    watch.outputs(leaves)


def plain_tangents(watch: Watch) -> None:
    """Backward from subclasses under cotangents that are plain tensors."""
    _backward_under(watch, lambda root: torch.ones(root.shape, dtype=root.dtype, device=root.device))


def subclass_tangents(watch: Watch) -> None:
    """Backward from plain tensors under cotangents that are of a subclass."""
    _backward_under(watch, lambda root: wrapped("two_tensor", torch.ones_like(root)), plain=True)


def _backward_under(watch: Watch, cotangent: Callable[[torch.Tensor], torch.Tensor], plain: bool = False) -> None:
    """Backward from the roots that are ``plain``, or from those that are not."""
    roots = [root for root in roots_of(watch.forward()) if is_traceable_wrapper_subclass(root) is not plain]
    if not roots:
        watch.facts[INAPPLICABLE] = True
        raise Stopped
    watch._step("backward", lambda: torch.autograd.backward(roots, list(map(cotangent, roots))))
    watch.gradients()


def non_leaf(watch: Watch) -> None:
    """A call with inputs that require grad as before, but are no leaves."""
    watch.outputs(watch.forward())
    watch.gradients()


def written(grad: bool) -> Callable[[Watch], None]:
    """Each output written in place after the call, with or without grad: who sees it (C5)."""

    def scenario(watch: Watch) -> None:
        leaves = watch.forward()
        with torch.set_grad_enabled(grad):
            for index, leaf in enumerate(leaves):
                if isinstance(leaf, torch.Tensor):
                    watch.facts[f"outputs[{index}].write"] = _write(leaf)
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                watch.facts[f"outputs[{index}].after.value"] = value_of(leaf)
        for path, tensor in watch.caller().items():
            watch.facts[f"{path}.after.value"] = value_of(tensor)

    return scenario


def overwritten(watch: Watch) -> None:
    """Everything that the caller may write is written between forward and backward: saved activations among it (C8)."""
    versions = watch.versions()
    leaves = watch.forward()
    roots = roots_of([*leaves, *_written_by_call(watch, versions)])
    plain = [t for t in watch.built.tensors.values() if is_leaf(t) is True and not t.requires_grad]
    with torch.no_grad():
        for tensor in {id(t): t for t in [*leaves, *plain] if isinstance(t, torch.Tensor)}.values():
            _write(tensor)
    watch.backward(roots)
    watch.gradients()


def _write(tensor: torch.Tensor) -> str:
    """ "written", or "refused" where autograd or memory overlap does not allow it."""
    try:
        tensor.logical_not_() if tensor.dtype == torch.bool else tensor.add_(1)
    except RuntimeError:
        return "refused"
    return "written"


def _written_by_call(watch: Watch, versions: dict[str, int]) -> list[torch.Tensor]:
    """What the caller holds that the call wrote and autograd reaches: mutations carry gradients too."""
    return [t for path, t in watch.caller().items() if has_grad_fn(t) is True and t._version != versions[path]]


SCENARIOS: dict[str, Callable[[Watch], None]] = {
    "train": train,
    "again": again,
    "alone0": alone(0),
    "alone1": alone(1),
    "one_by_one": one_by_one,
    "retained": retained,
    "twice": twice,
    "plain_tangents": plain_tangents,
    "subclass_tangents": subclass_tangents,
    "no_grad": without_grad,
    "non_leaf": non_leaf,
    "written": written(grad=True),
    "written_no_grad": written(grad=False),
    "larger": train,
    "smaller": train,
    "overwritten": overwritten,
}

#: Scenarios that say nothing new about a program without a gradient, without subclasses, or with a single root.
NEEDS_SUBCLASSES = frozenset({"plain_tangents", "subclass_tangents"})
NEEDS_GRADIENT = NEEDS_SUBCLASSES | {
    "again", "alone0", "alone1", "one_by_one", "retained", "no_grad", "non_leaf", "written", "overwritten"
}  # fmt: skip
NEEDS_SEVERAL_ROOTS = frozenset({"alone0", "alone1", "one_by_one"})
#: Of these a program with gradients goes through one group, chosen by its hash, unless the case is thorough.
IN_TURN = (("retained", "alone0"), ("non_leaf", "one_by_one", "overwritten"), ("alone1", "written_no_grad"))
#: The values that a scenario runs on; 0 are those that the program was exported with.
VARIANT = {"again": 1, "twice": 2}


def run(scenario: str, call: Call, program: Program, device: str, seed: int = 0) -> Facts:
    """The facts of one scenario: fresh inputs, a seeded generator, and an end at the first error."""
    facts: Facts = {"error": None}
    torch.manual_seed(seed)
    source = with_non_leaves(program) if scenario == "non_leaf" else program
    with contextlib.suppress(Stopped):
        SCENARIOS[scenario](Watch(call, _built(source, device, scenario, facts), facts))
    return facts


def _built(program: Program, device: str, scenario: str, facts: Facts) -> Built:
    try:
        return build(program, device, VARIANT.get(scenario, 0), sizes_in(scenario, program))
    except Exception as error:
        observe_error(facts, "setup", error)
        raise Stopped from error


def call_module(built: Built) -> Any:
    """Eager: the module itself."""
    return built.module(*built.args, **built.kwargs)
