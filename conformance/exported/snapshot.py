"""An exported program as text, as conformance/snapshot.py writes a joint graph: its graph, signature, structure, ranges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import torch.utils._pytree as pytree

from conformance.named import Stated
from conformance.snapshot import Writer, digest, heading
from generators.program import Program


def exported_snapshot(exported: Any, program: Program, stated: Stated) -> str:
    """The text of an ExportedProgram: what stands before the descriptors in a joint graph stands before its rows.

    In the place of the FQNs: how the program is called, what it gives back, and the range of each symbol.
    """
    writer, (taken, given) = Writer(), signature_rows(exported)
    lines = writer.lines(exported.graph_module, taken, given)
    called = writer.called()
    head = [*heading(program, stated.name), f"# form {stated.form}", f"# nodes {digest(exported.graph)}"]
    spec = exported.call_spec
    structure = [f"called with {_filled(spec.in_spec)}", f"gives back {_filled(spec.out_spec)}"]
    return "\n".join([*head, "", *structure, *sorted(_ranges(exported, writer)), "", *lines, *called])


def signature_rows(exported: Any) -> tuple[list[str], list[str]]:
    """The rows of the signature, inputs and outputs, each written as a call of its kind: ``Buffer('mean', persistent=False)``.

    The user's own are counted, and told by their number: ``UserInput(0)``, ``UserInputMutation(0)``; one that is no
    tensor, with its value.
    """
    signature = exported.graph_signature
    users = [spec.arg.name for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
    numbers, results = {name: number for number, name in enumerate(users)}, count()
    inputs = [_row(spec, numbers, results) for spec in signature.input_specs]
    return inputs, [_row(spec, numbers, results) for spec in signature.output_specs]


def _row(spec: Any, numbers: dict[str, int], results: Iterator[int]) -> str:
    kind = spec.kind.name.title().replace("_", "")
    if kind == "UserInput":
        words = [str(numbers[spec.arg.name])]
    elif kind == "UserOutput":
        words = [str(next(results))]
    else:
        words = [str(numbers[spec.target]) if spec.target in numbers else repr(spec.target)] if spec.target else []
    if hasattr(spec.arg, "value"):
        words.append(f"value={spec.arg.value!r}")
    if getattr(spec, "persistent", None) is False:
        words.append("persistent=False")
    return f"{kind}({', '.join(words)})"


def _ranges(exported: Any, writer: Writer) -> list[str]:
    ranges = exported.range_constraints.items()
    return [f"{writer.symbolic(symbol)} from {told.lower} to {told.upper}" for symbol, told in ranges]


def _filled(spec: Any) -> str:
    """The structure with a mark in the place of each leaf."""
    return str(pytree.tree_unflatten([Leaf()] * spec.num_leaves, spec))


class Leaf:
    """What stands for a leaf."""

    def __repr__(self) -> str:
        return "*"
