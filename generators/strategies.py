"""Hypothesis strategies: random programs, by a mix of features."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from generators import loose
from generators.dressings import DRESSINGS
from generators.loose import Loose
from generators.options import OPTIONS
from generators.program import MODES, Program
from generators.settle import settle
from generators.subclasses import SUBCLASSES


@dataclass(frozen=True)
class Mix:
    """What is drawn how often: each op kind is named as often as it weighs; sizes are upper bounds.

    ``least`` and ``least_leaves`` are how many statements and leaves there are at the least; one program in
    ``symbolic`` has symbolic sizes (0: none).
    """

    kinds: tuple[str, ...]
    setup_kinds: tuple[str, ...] = ("view",) * 10 + ("pointwise",) * 4 + ("mutation",) * 2 + ("multi_view", "metadata")
    families: tuple[int, ...] = tuple(range(len(loose.FAMILIES)))
    dtypes: tuple[str, ...] = loose.DTYPE_CHOICES
    roles: tuple[str, ...] = loose.ROLES
    modes: tuple[str, ...] = loose.MODES
    dressings: tuple[str, ...] = ("",)
    options: tuple[str, ...] = ("",)
    symbolic: int = 0
    subclasses: tuple[str, ...] = ("",)
    leaves: int = 4
    setup: int = 3
    statements: int = 8
    least: int = 1
    least_leaves: int = 1

    @property
    def has_extras(self) -> bool:
        """Whether there is anything to choose beside the program itself."""
        return len(self.dressings) > 1 or len(self.options) > 1 or self.symbolic > 0


def _weighted(**weights: int) -> tuple[str, ...]:
    return tuple(kind for kind, weight in weights.items() for _ in range(weight))


EVERYTHING = Mix(
    _weighted(
        pointwise=6, binary=5, reduction=2, view=8, mutation=6, multi_view=2, multi=2, matrix=2, norm=3, indexing=2, metadata=1
    )
)
#: Named mixes: what a shard of the fuzzer concentrates on.
MIXES: dict[str, Mix] = {
    "everything": EVERYTHING,
    "aliasing": Mix(_weighted(pointwise=6, binary=2, view=10, multi_view=2, mutation=2), setup=3, statements=7, least=3),
    "mutation": Mix(_weighted(pointwise=3, binary=2, view=4, mutation=7)),
    "metadata": Mix(_weighted(pointwise=3, view=3, mutation=2, metadata=4), statements=6),
    "arithmetic": replace(
        EVERYTHING,
        kinds=_weighted(pointwise=4, binary=4, reduction=3, matrix=3, norm=5, indexing=3, multi=3, view=2),
        setup_kinds=("pointwise",),
    ),
    "layers": Mix(
        _weighted(norm=5, matrix=4, pointwise=3, mutation=2, reduction=1),
        families=loose.LAYER_FAMILIES,
        dtypes=("float32",),
        roles=("input", "buffer", "parameter", "buffer"),
        leaves=6,
        least_leaves=3,
        statements=5,
    ),
    "ways": replace(
        EVERYTHING,
        modes=("",) * 6 + tuple(MODES),
        dressings=("",) * len(DRESSINGS) + tuple(DRESSINGS),
        options=("",) * (len(OPTIONS) // 2) + tuple(OPTIONS),
        statements=5,
    ),
    "symbolic": Mix(
        _weighted(size=5, size_view=3, unbacked=1, pointwise=3, binary=3, view=4, mutation=2, reduction=1, matrix=1),
        symbolic=1,
        statements=5,
    ),
    "randomness": Mix(_weighted(rng=5, rng_mutation=2, checkpoint=3, pointwise=2, binary=2, view=2, mutation=1), statements=5),
    "functions": Mix(
        _weighted(function=6, function_view=2, function_write=2, hook=2, pointwise=2, view=2, mutation=2), statements=5
    ),
    "operators": Mix(
        _weighted(custom=4, custom_view=1, custom_mutation=4, custom_write=2, effect=4, pointwise=2, view=3), statements=5
    ),
    "control": Mix(
        _weighted(control=8, control_mutation=2, control_effect=1, pointwise=3, view=2, mutation=2),
        symbolic=2,
        leaves=3,
        statements=3,
    ),
    "subclasses": Mix(
        _weighted(
            pointwise=6, binary=5, view=4, mutation=4, subclass=4, reduction=1, matrix=1, multi_view=1, multi=1, metadata=1
        ),
        setup_kinds=("view",) * 6 + ("pointwise",) * 4 + ("subclass",) * 2,
        dtypes=("float32",) * 5 + ("float64", "int64", "bfloat16"),
        subclasses=("", *SUBCLASSES, *("", "pair", "two_tensor", "scaled", "nested", "mixed", "tilted", "coded") * 2, ""),
        statements=6,
    ),
}


def programs(mix: Mix = EVERYTHING) -> st.SearchStrategy[Program]:
    """Programs that eager accepts, and a small share that it refuses, drawn with ``mix``."""
    return loose_programs(mix).map(settle)


def loose_programs(mix: Mix) -> st.SearchStrategy[Loose]:
    """The choices for one program; shrinks toward few, plain, small."""
    return st.builds(
        _loose,
        _bytes(loose.HEAD_BYTES),
        _several(loose.LEAF_BYTES, mix.least_leaves, mix.leaves),
        _several(loose.STATEMENT_BYTES, 0, mix.setup),
        _several(loose.ITEM_BYTES, 1, 5),
        _several(loose.STATEMENT_BYTES, mix.least, mix.statements),
        _several(loose.ITEM_BYTES, 1, 3),
        _bytes(loose.EXTRA_BYTES) if mix.has_extras else st.just(bytes(loose.EXTRA_BYTES)),
        st.just(mix),
    )


def _loose(
    head: bytes,
    leaves: list[bytes],
    setup: list[bytes],
    args: list[bytes],
    body: list[bytes],
    outputs: list[bytes],
    extras: bytes,
    mix: Mix,
) -> Loose:
    family, tie, keywords, container, refused = head
    return Loose(
        family=mix.families[family % len(mix.families)],
        leaves=tuple(loose.leaf(choices, mix.dtypes, mix.roles, mix.subclasses) for choices in leaves),
        setup=loose.statements(setup, mix.setup_kinds),
        ties=(tie,) if tie % 6 == 5 else (),
        args=tuple(map(loose.item, args)),
        keywords=1 if keywords % 8 == 7 else 0,
        body=loose.statements(body, mix.kinds, mix.modes),
        outputs=tuple(map(loose.item, outputs)),
        output_container=loose.OUTPUT_CONTAINERS[container % len(loose.OUTPUT_CONTAINERS)],
        keep_refused=refused % 8 == 7,
        **loose.extras(extras, mix.dressings, mix.options, mix.symbolic),
    )


def _bytes(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


def _several(size: int, least: int, most: int) -> st.SearchStrategy[list[bytes]]:
    return st.lists(_bytes(size), min_size=least, max_size=most)
