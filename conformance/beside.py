"""Eager run beside a joint graph: the same inputs, and backward from the same outputs under the same cotangents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from conformance import effects
from conformance.described import Inputs, Meaningless, Outputs, gradient_in
from conformance.graph import chain, kind_of, output_descriptors, placeholder_descriptors, placeholders
from conformance.implementation import Joint
from conformance.observation import has_grad_fn, roots_of
from conformance.scenarios import call_module
from generators.build import Built, build
from generators.program import Program
from generators.subclasses import inner_tensors

#: Each gradient by the descriptor of its input; None where nothing reaches it.
Gradients = dict[Any, "torch.Tensor | None"]


@dataclass(frozen=True)
class Eager:
    """What eager gave, and the effects that it performed, forward and backward together.

    ``fresh`` are the same inputs made once more, with the same cotangents: those that the graph is to run on.
    """

    outputs: Outputs
    fresh: Inputs
    effects: tuple[effects.Effect, ...]


def run_eager(joint: Joint, program: Program, device: str) -> Eager | None:
    """Eager's forward and backward beside ``joint``; None where eager raises."""
    inputs, fresh = Inputs(seeded_build(program, device)), Inputs(seeded_build(program, device))
    _look_up_before_the_call(joint, inputs, fresh)
    edges = edges_of(inputs, (d.grad_of for d in map(gradient_in, output_descriptors(joint)) if d is not None))
    torch.manual_seed(0)
    with effects.listening():
        try:
            outputs = Outputs(pytree.tree_leaves(call_module(inputs.built)), inputs)
        except Exception:
            return None
        fresh.cotangents = _cotangents(joint, outputs, fresh)
        roots = list(_roots(outputs, fresh.cotangents))
        try:
            gradients = backward(roots, edges)
        except Exception:
            return None
    outputs.gradients = {d: gradient for d, gradient in gradients.items() if not _goes_around(edges[d], inputs.value(d))}
    return Eager(outputs, fresh, effects.performed())


def _goes_around(edge: GradientEdge, value: torch.Tensor) -> bool:
    """Whether the gradient no longer comes by this edge: a write to a view gives it another, behind that of its base."""
    return value._is_view() and has_grad_fn(value) is True and get_gradient_edge(value) != edge


def seeded_build(program: Program, device: str) -> Built:
    """The program's module and inputs, the same each time, random setup included."""
    torch.manual_seed(0)
    return build(program, device)


def _look_up_before_the_call(joint: Joint, inputs: Inputs, fresh: Inputs) -> None:
    """Take hold of every input that a descriptor mentions, since a call may change what hangs on what.

    A base over a whole storage takes in elements that no tensor addresses: those are made equal on both sides.
    """
    descriptors = [*placeholder_descriptors(joint), *output_descriptors(joint)]
    for part in (part for descriptor in descriptors for part in chain(descriptor)):
        with suppress(Meaningless):
            if kind_of(part).endswith("AOTInput") and kind_of(part) != "TangentAOTInput":
                inputs.value(part)
            if kind_of(part) == "SyntheticBaseAOTInput":
                inputs.value(part).copy_(fresh.value(part))


def edges_of(inputs: Inputs, descriptors: Iterable[Any]) -> dict[Any, GradientEdge]:
    """Where gradients of these inputs arrive: not where nothing requires grad or is no tensor, nor at a view under no_grad.

    An in-place write does not move an edge.
    """
    edges = {}
    for descriptor in descriptors:
        with suppress(Meaningless, RuntimeError, AssertionError, AttributeError):
            edges[descriptor] = get_gradient_edge(inputs.value(descriptor))
    return edges


def backward(roots: list[tuple[Any, Any]], edges: dict[Any, GradientEdge]) -> Gradients:
    """The gradient at each edge, from tensors or edges, each with a cotangent. Raises what autograd raises.

    Without an edge the backward runs all the same, for the effects on its way: autograd.grad would ask for nothing.
    """
    if not roots:
        return dict.fromkeys(edges)
    starts, cotangents = zip(*roots)
    if not edges:
        torch.autograd.backward(starts, cotangents)
        return {}
    return dict(zip(edges, torch.autograd.grad(starts, tuple(edges.values()), cotangents, allow_unused=True)))


def _roots(outputs: Outputs, cotangents: dict[Any, torch.Tensor]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """What the outputs with a cotangent are in eager, where a backward can start from it; it may write its cotangent."""
    for descriptor, cotangent in cotangents.items():
        for root in roots_of([outputs.value(descriptor)]):
            is_laid_out = _is_base(descriptor) and cotangent.shape != root.shape
            own = cotangent.clone()
            yield root, own.as_strided(root.shape, root.stride()) if is_laid_out else own


def _is_base(output: Any) -> bool:
    return _is_written_base(output) or kind_of(output) == "IntermediateBaseAOTOutput"


def _is_written_base(output: Any) -> bool:
    return kind_of(getattr(output, "mutated_input", None)) == "ViewBaseAOTInput"


def as_the_graph_has_it(output: Any, outputs: Outputs, fresh: Inputs, in_graph: Any) -> Any:
    """What an output stands for in eager, laid out as the graph's own, ``in_graph``, is. Raises Meaningless.

    The trace takes some calls apart and so makes views that eager does not: vector @ matrix is a matrix, squeezed.
    The graph's base is then that matrix, and eager's output is nothing's view.
    """
    value = _as_before_the_call(output, outputs.value(output), fresh)
    if kind_of(output) == "IntermediateBaseAOTOutput" and getattr(outputs.value(output.base_of), "_base", None) is None:
        return _with_the_sizes_of(in_graph, value)
    return value


def _with_the_sizes_of(like: Any, value: Any) -> Any:
    if not all(isinstance(tensor, torch.Tensor) and not is_traceable_wrapper_subclass(tensor) for tensor in (like, value)):
        return value
    sizes = _numbers(like.shape)
    return value.view(sizes) if prod(sizes) == value.numel() and value.is_contiguous() else value


def _as_before_the_call(output: Any, value: Any, fresh: Inputs) -> Any:
    """What an output stands for in eager. A written base is laid out as before the call.

    The caller may pass the base itself beside its views, and the call change its shape: that is the mutation of
    another input, which is handed out on its own.
    """
    if not _is_written_base(output) or not isinstance(value, torch.Tensor):
        return value
    before = fresh.value(output.mutated_input)
    with suppress(RuntimeError):  # set_ may have left it a storage too small for that
        return value.as_strided(before.shape, before.stride())
    return value


def _cotangents(joint: Joint, outputs: Outputs, fresh: Inputs) -> dict[Any, torch.Tensor]:
    """A random cotangent for each output that has a tangent on the graph, of its shape and dtype."""
    stream = torch.Generator().manual_seed(1000)
    cotangents: dict[Any, torch.Tensor] = {}
    for node in placeholders(joint):
        descriptor = node.meta.get("desc")
        tangent = next((part for part in chain(descriptor) if kind_of(part) == "TangentAOTInput"), None)
        if tangent is None or tangent.output in cotangents:
            continue
        with suppress(Meaningless):
            value = as_the_graph_has_it(tangent.output, outputs, fresh, node.meta.get("val"))
            if isinstance(value, torch.Tensor):  # else the tangent stands for nothing, which S1 tells
                whole = tangent is descriptor
                cotangents[tangent.output] = _laid_out(value, node, stream) if whole else _pieces_like(value, stream)
    return cotangents


def _laid_out(value: Any, node: Any, stream: torch.Generator) -> torch.Tensor:
    """A plain cotangent with the strides that the graph was traced with, as the runtime would make it (J11)."""
    cotangent, traced = _random_like(value, stream), node.meta.get("val")
    if isinstance(traced, torch.Tensor) and _numbers(traced.shape) == list(cotangent.shape):
        strides = _numbers(traced.stride())
        return torch.empty_strided(cotangent.shape, strides, dtype=value.dtype, device=value.device).copy_(cotangent)
    return cotangent


def _numbers(sizes: Iterable[Any]) -> list[Any]:
    """Sizes or strides as numbers: of a symbolic one that which it was traced with, which asks for no guard."""
    return [size.node.hint if isinstance(size, torch.SymInt) else size for size in sizes]


def _pieces_like(value: Any, stream: torch.Generator) -> torch.Tensor:
    if not is_traceable_wrapper_subclass(value):
        return _random_like(value, stream)
    attributes, context = value.__tensor_flatten__()
    pieces = {name: getattr(value, name) for name in attributes}  # not all of them tensors: a DTensor's mesh is none
    pieces |= {name: _pieces_like(piece, stream) for name, piece in inner_tensors(value)}
    return type(value).__tensor_unflatten__(pieces, context, value.size(), value.stride())


def _random_like(value: torch.Tensor, stream: torch.Generator) -> torch.Tensor:
    widest = torch.complex128 if value.dtype.is_complex else torch.float64
    return torch.randn(value.shape, generator=stream, dtype=widest).to(value.dtype).to(value.device)


def accumulated(piece: Any, fresh: Inputs, results: dict[Any, Any], expected: Gradients) -> Gradients:
    """What the caller's inputs get when the graph's gradients flow on, as they do after a compiled backward.

    Inputs may hang together: one passed twice adds up two gradients, and that of a view reaches the input that
    it views. So does eager's gradient, which can't be taken apart; so the graph's are put together.
    ``piece`` is the class of the descriptors of a subclass's pieces. A gradient of another shape or dtype
    than its input is left out, since it can't flow. That of a plain input may be a subclass, as eager's ``expected``
    one tells.
    """
    wholes: Gradients = {}
    for gradient in dict.fromkeys(gradient_in(descriptor) for descriptor in results):
        with suppress(LookupError):
            if gradient is not None:
                likes = [expected.get(gradient.grad_of), fresh.value(gradient.grad_of)]
                like = next(filter(is_traceable_wrapper_subclass, likes), None)
                wholes[gradient.grad_of] = _whole(piece, gradient, results, like)
    edges = {d: edge for d, edge in edges_of(fresh, wholes).items() if _fits(wholes[d], fresh.value(d))}
    roots = [(edge, wholes[d]) for d, edge in edges.items() if wholes[d] is not None]
    try:
        return backward(roots, edges)
    except Exception:
        return {d: wholes[d] for d in edges}


def _whole(piece: Any, descriptor: Any, results: dict[Any, Any], like: Any) -> Any:
    """The graph's result under a descriptor, or its pieces put back together. Raises LookupError where one is missing."""
    if descriptor in results:
        return results[descriptor]
    if not is_traceable_wrapper_subclass(like):
        raise Meaningless("neither whole nor in pieces")
    attributes, context = like.__tensor_flatten__()
    pieces = {name: getattr(like, name) for name in attributes}
    pieces |= {name: _whole(piece, piece(descriptor, name), results, own) for name, own in inner_tensors(like)}
    return type(like).__tensor_unflatten__(pieces, context, like.size(), like.stride())


def _fits(gradient: Any, value: torch.Tensor) -> bool:
    if gradient is None:
        return True
    return isinstance(gradient, torch.Tensor) and gradient.shape == value.shape and gradient.dtype == value.dtype
