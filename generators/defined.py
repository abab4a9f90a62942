"""Which calls leave eager's own result undefined: they are not drawn, since nothing can be compared with them."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from generators.build import Scope
from generators.program import Statement
from generators.subclasses import pieces, storages
from generators.vocabulary import VOCABULARY

#: Writes that go element by element: they may read the very tensor that they write.
ELEMENTWISE_WRITES = frozenset({"copy_", "add_tensor_", "mul_tensor_", "addcmul_", "out_sin"})


def check_defined(statement: Statement, scope: Scope) -> None:
    """Raise ValueError where eager's result is left undefined: memory grown and not filled, or a place read or written twice,
    or data that is none: a wrapper subclass has no storage, and a plain tensor that gets it for its own points nowhere.

    A write to an expanded tensor is left in: eager refuses it, or gives every copy the same value.
    """
    operands = [scope[name] for name in statement.operands]
    target, *others = operands
    if not isinstance(target, torch.Tensor):
        return
    if statement.op == "resize_" and any(_grows(piece, statement.arguments[0]) for _, piece in pieces(target)):
        raise ValueError("what the tensor grows by is left as it is found")
    if statement.op == "batch_norm" and len({storages(value) for value in (target, *others)}) < 3:
        raise ValueError("the running statistics are one tensor, or the input")
    if statement.op in ("set_data", "set_") and any(map(is_traceable_wrapper_subclass, operands)):
        raise ValueError("a wrapper subclass has no data of its own")  # one that gets another's may kill the process later
    op = VOCABULARY[statement.op]
    if op.kind == "metadata":
        return
    for place in op.targets:
        _check_written(statement.op, operands[place], operands[:place] + operands[place + 1 :])


def _check_written(op: str, target: Any, others: list[Any]) -> None:
    if isinstance(target, torch.Tensor) and any(_overlaps_itself(piece) for _, piece in pieces(target)):
        raise ValueError("what is written overlaps itself")
    for other in others:
        both = isinstance(other, torch.Tensor) and isinstance(target, torch.Tensor)
        is_aliased = both and bool(storages(other) & storages(target)) and bool(target.numel())
        if is_aliased and not (op in ELEMENTWISE_WRITES and _same_place(target, other)):
            raise ValueError("the operand overlaps what is written")


def _grows(tensor: torch.Tensor, size: Any) -> bool:
    held = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    return bool(math.prod(size) > held)


def _overlaps_itself(tensor: torch.Tensor) -> bool:
    if any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride())):
        return False  # expanded
    steps = [range(0, size * stride, stride) if stride else range(1) for size, stride in zip(tensor.shape, tensor.stride())]
    return len({sum(place) for place in product(*steps)}) < tensor.numel()


def _same_place(one: torch.Tensor, other: torch.Tensor) -> bool:
    places = [[(t.dtype, t.shape, t.stride(), t.storage_offset()) for _, t in pieces(whole)] for whole in (one, other)]
    return places[0] == places[1]
