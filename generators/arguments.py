"""How a loose choice (an integer that knows nothing) becomes an op's argument that fits its operands.

A chooser gets the choice, the operands as eager made them, and the arguments already chosen for this
call; it answers with a literal. It may be wrong: settle asks eager, and drops what eager refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from generators.program import Literal

Chooser = Callable[[int, Sequence[Any], Sequence[Literal]], Literal]


def among(*literals: Literal) -> Chooser:
    """One of a fixed few, the simplest first."""
    return lambda choice, operands, before: literals[choice % len(literals)]


def dim(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A dimension of the first operand (0 for rank 0, which many ops accept)."""
    return choice % max(int(operands[0].dim()), 1)


def split_dim(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A dimension of the first operand that has more than one element, if there is one."""
    wide = [d for d, size in enumerate(operands[0].shape) if size > 1]
    return wide[choice % len(wide)] if wide else dim(choice, operands, before)


def index(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """An index into the dimension chosen before (dimension 0 if none was)."""
    return choice % max(_size_of(operands[0], before), 1)


def end(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """The end of a slice that began at the index chosen before."""
    start = before[-1] if before and isinstance(before[-1], int) else 0
    left = max(_size_of(operands[0], before[:-1]) - start, 1)
    return start + left - choice % left


def width(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A window that fits into the dimension chosen before."""
    return 1 + choice % max(_size_of(operands[0], before), 1)


def shape(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A shape with as many elements as the first operand."""
    n = operands[0].numel()
    pairs = [(d, n // d) for d in range(2, n) if n % d == 0]
    shapes: list[tuple[int, ...]] = [(n,), (1, n), (n, 1), _sizes(operands[0])[::-1], *pairs]
    return shapes[choice % len(shapes)]


def permutation(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A permutation of the first operand's dimensions, the reversal first."""
    dims = list(range(operands[0].dim()))
    rotation = choice % max(len(dims), 1)
    return tuple(reversed(dims)) if rotation == 0 else tuple(dims[rotation:] + dims[:rotation])


def expanded(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A shape that the first operand can be expanded to: a new dimension in front, or its ones widened."""
    old = _sizes(operands[0])
    shapes = [(2, *old), tuple(3 if size == 1 else size for size in old), (1, *old)]
    return shapes[choice % len(shapes)]


def strided_size(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A small size for as_strided, within the first operand's elements."""
    n = operands[0].numel()
    return ((min(n, 2),), (n,), (min(n, 2), 1), ())[choice % 4]


def strided_stride(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """Strides for the size chosen before; one in three overlaps in memory."""
    size = before[-1]
    rank = len(size) if isinstance(size, tuple) else 0
    return tuple((1, 2, 0)[choice % 3] for _ in range(rank))


def resized(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """A shape for resize_ that reads no uninitialized memory: at most as many elements as there are."""
    n = operands[0].numel()
    return ((n,), (max(n - 1, 0),), (1, n), (n // 2, 2))[choice % 4]


def columns(choice: int, operands: Sequence[Any], before: Sequence[Literal]) -> Literal:
    """The shape of the first operand's last dimension, as normalizations want it."""
    return _sizes(operands[0])[-1:]


def _sizes(tensor: Any) -> tuple[int, ...]:
    """The shape in numbers. Raises AttributeError where a dimension is ragged, and has none that could be written down."""
    return tuple(map(int, tensor.shape))


def _size_of(tensor: Any, before: Sequence[Literal]) -> int:
    chosen = before[-1] if before and isinstance(before[-1], int) else 0
    return int(tensor.shape[chosen]) if tensor.dim() > chosen else 1
