"""Implementations that are right at the sizes of the export alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from conformance.implementation import Implementation, Joint
from generators.program import Program
from tests import programs
from tests.programs import let
from tests.wrong.base import Wrong
from tests.wrong.compiled import afterwards, first, output
from tests.wrong.pipeline import Spoilt

#: Every size of the inputs is a symbol; they are exported at 2 rows of 3.
SYMBOLIC = (2, 3)
ROWS, ELEMENTS = 2, 6

SINE = replace(programs.ONE_OUTPUT, symbolic=SYMBOLIC)
TIMES_SIZE = replace(SINE, body=(let("v0", "times_size", "a0"),))
OF_SIZE = replace(SINE, body=(let("v0", "zeros_of_size", "a0"), let("v1", "sin", "a0")), outputs=programs.outputs("v0", "v1"))
FLATTENED = replace(SINE, body=(let("v0", "view_rows", "a0"), let("v1", "sin", "v0")), outputs=programs.outputs("v0", "v1"))
SIZE = replace(SINE, body=(let("v0", "sin", "a0"), let("v1", "size", "a0", 0)), outputs=programs.outputs("v0", "v1"))
#: The input is written; the parameter, whose sizes are not symbolic, gets a gradient.
WRITTEN = replace(
    programs.MUTATED_INPUT,
    leaves=(programs.MUTATED_INPUT.leaves[0], replace(programs.MUTATED_INPUT.leaves[1], shape=())),
    symbolic=SYMBOLIC,
)


def with_sizes_baked_in(joint: Joint) -> None:
    """Every size that the graph computes with is the number that it was at the export."""
    graph = joint.graph_module.graph
    for node in list(graph.find_nodes(op="call_function", target=torch.ops.aten.sym_size.int)):
        node.replace_all_uses_with(node.meta["val"].node.hint)
        graph.erase_node(node)
    joint.graph_module.recompile()


def baked_in() -> Implementation:
    """PyTorch's implementation without a symbol in its graph."""
    return Spoilt(with_sizes_baked_in)


def mean_gradient_of_the_export(found: torch.Tensor) -> torch.Tensor:
    """The gradient is scaled as if there were as many elements as at the export."""
    if found.requires_grad:
        found.register_hook(lambda cotangent: cotangent * found.numel() / ELEMENTS)
    return found


def of_the_exported_rows(act: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """Something done to all rows but those that there were at the export."""
    return lambda tensor: act(tensor[ROWS:])


def copied_unless_exported(view: torch.Tensor) -> torch.Tensor:
    """A view at the sizes of the export, a copy at others."""
    return view if view.numel() == ELEMENTS else view.clone()


_WRONG: tuple[tuple[str, Callable[[], Implementation], Program], ...] = (
    ("a factor baked in", baked_in, TIMES_SIZE),
    ("the size of a new tensor baked in", baked_in, OF_SIZE),
    ("the shape of a view baked in", baked_in, FLATTENED),
    ("a size that stays as at the export", output(1, lambda size: ROWS), SIZE),
    ("a gradient that counts the elements of the export", first(mean_gradient_of_the_export), SINE),
    ("more rows than exported are not written", afterwards(of_the_exported_rows(lambda rows: rows.mul_(0.5))), WRITTEN),
    ("a view at the sizes of the export alone", first(copied_unless_exported), FLATTENED),
    ("a random number drawn at other sizes", first(lambda x: x if x.numel() == ELEMENTS else x + 0 * torch.rand(())), SINE),
)

WRONG: tuple[Wrong, ...] = tuple(Wrong("C16", *row) for row in _WRONG)
