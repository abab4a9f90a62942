"""Loose programs: what Hypothesis draws. Choices that know nothing of shapes or dtypes.

Every choice is a byte that ``settle`` turns into something that fits (17 modulo the size), so any loose
program settles into some program, and drawing and shrinking never touch torch. One byte string a leaf,
statement or item, not one draw a choice: Hypothesis takes tens of microseconds a draw, and a program has
about eighty choices. Byte 0 is the simplest choice everywhere, since Hypothesis shrinks toward it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from generators.vocabulary import KINDS, Op

T = TypeVar("T")

LEAF_BYTES = 5
STATEMENT_BYTES = 9
ITEM_BYTES = 4
HEAD_BYTES = 5
EXTRA_BYTES = 4

#: Shapes that like to meet in one program; a leaf picks within its program's family.
FAMILIES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((2, 3), (3,), (2, 3), (3,), (2, 1), (3, 3), ()),
    ((3,), (1,), (3,), (), (2,)),
    ((4,), (2, 2), (4,), (2,), (4, 1)),
    ((2, 3, 2), (3, 2), (2,), (1, 3, 1)),
    ((1, 2, 4, 4), (2, 2, 3, 3), (2,)),
    ((0, 3), (3,), (0,), (2, 3)),
    ((1, 2, 4), (2, 2, 3), (2,), (4,)),
    ((2, 3), (3,), (3,)),
)
#: The families in which linear layers, convolutions and normalizations find operands that fit.
LAYER_FAMILIES = (7, 4, 7, 6)
DTYPE_CHOICES = ("float32",) * 24 + ("float64",) * 4 + ("int64",) * 2 + ("complex64", "bfloat16", "bool", "int32", "float16")
LAYOUTS = ("contiguous", "contiguous", "contiguous", "transposed", "channels_last")
ROLES = ("input",) * 8 + ("parameter",) * 5 + ("buffer",) * 4 + ("frozen",)
MODES = ("",) * 10 + ("no_grad", "no_grad", "enable_grad")
CONTAINERS = ("",) * 6 + ("tuple", "list", "dict")
OUTPUT_CONTAINERS = ("tuple", "tuple", "tuple", "", "list", "dict")
SCALARS = (2, 0.5, None, 3, True, -1)
OUTPUT_CONSTANTS = (None, 1, 2.5)


@dataclass(frozen=True)
class LooseLeaf:
    """A tensor to make: a shape of the program's family, a dtype, a layout, a role in the program, a subclass."""

    shape: int
    dtype: str
    layout: str
    requires_grad: bool
    role: str
    subclass: str = ""


@dataclass(frozen=True)
class LooseStatement:
    """A call: which op, which of the values in sight (0 is the newest), which arguments."""

    op: Op
    operands: tuple[int, ...]
    arguments: tuple[int, ...]
    mode: str


@dataclass(frozen=True)
class LooseItem:
    """One argument or output, or a container of some: choices, and the container ("" for none).

    ``inner`` is a container around the last of them alone. ``aliased`` asks of an output that another value which
    shares its memory comes with it.
    """

    choices: tuple[int, ...]
    container: str
    constant: bool
    inner: str = ""
    aliased: bool = False


@dataclass(frozen=True)
class Loose:
    """Everything that is chosen for one program. ``ties`` hang values under a second FQN.

    ``symbolic`` is 0 for static sizes, else says which of the sizes of the inputs is a symbol.
    """

    family: int
    leaves: tuple[LooseLeaf, ...]
    setup: tuple[LooseStatement, ...]
    ties: tuple[int, ...]
    args: tuple[LooseItem, ...]
    keywords: int
    body: tuple[LooseStatement, ...]
    outputs: tuple[LooseItem, ...]
    output_container: str
    keep_refused: bool
    dressing: str = ""
    options: tuple[str, ...] = ()
    symbolic: int = 0


def leaf(
    choices: bytes, dtypes: Sequence[str] = DTYPE_CHOICES, roles: Sequence[str] = ROLES, subclasses: Sequence[str] = ("",)
) -> LooseLeaf:
    """The leaf that LEAF_BYTES bytes choose; one byte says whether it requires grad, and of which subclass it is.

    Seven in eight inputs require grad, the simplest among them.
    """
    shape, dtype, layout, grad, role = choices
    subclass = _of(subclasses, grad // 8)
    return LooseLeaf(shape, _of(dtypes, dtype), _of(LAYOUTS, layout), grad % 8 != 7, _of(roles, role), subclass)


def statements(drawn: Iterable[bytes], kinds: Sequence[str], modes: Sequence[str] = MODES) -> tuple[LooseStatement, ...]:
    """The calls that strings of STATEMENT_BYTES choose, one each."""
    return tuple(statement(choices, kinds, modes) for choices in drawn)


def statement(choices: bytes, kinds: Sequence[str], modes: Sequence[str] = MODES) -> LooseStatement:
    """The call that STATEMENT_BYTES bytes choose among the ops of ``kinds``."""
    kind, op, mode, *rest = choices
    return LooseStatement(_of(KINDS[_of(kinds, kind)], op), tuple(map(_near, rest[:3])), tuple(rest[3:]), _of(modes, mode))


def extras(choices: bytes, dressings: Sequence[str], options: Sequence[str], symbolic: int) -> dict[str, Any]:
    """What EXTRA_BYTES bytes choose beside the program itself; zeros choose nothing. One in four has a second option.

    One in ``symbolic`` has symbolic sizes, and none where that is 0.
    """
    dressing, first, second, size = choices
    chosen = [_of(options, first), _of(options, second) if second % 4 == 3 else ""]
    return {
        "dressing": _of(dressings, dressing),
        "options": tuple(sorted({option for option in chosen if option})),
        "symbolic": size // symbolic if symbolic and size % symbolic == 0 else 0,
    }


def item(choices: bytes) -> LooseItem:
    """The argument or output that ITEM_BYTES bytes choose."""
    container, constant, first, second = choices
    kind = _of(CONTAINERS, container)
    inner = _of(CONTAINERS, second // 8) if kind else ""
    both = (_seldom(first), _seldom(second))
    return LooseItem(both if kind and second % 2 else both[:1], kind, constant % 8 == 7, inner, constant % 8 in (5, 6))


def _of(table: Sequence[T], choice: int) -> T:
    return table[choice % len(table)]


def _near(choice: int) -> int:
    """Half of the operands are among the newest three values, the others anywhere."""
    return choice % 3 if choice < 128 else choice


def _seldom(choice: int) -> int:
    """Two in three are 0, the choice that makes each argument and output another value."""
    return choice // 3 if choice % 3 == 2 else 0
