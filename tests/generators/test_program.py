"""Programs are values: equal by content, named by a hash of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from generators.program import Const, Leaf, Node, Program, Ref, State, Statement, map_refs, unflatten
from tests.programs import BUFFERS_MUTATED, NESTED_STRUCTURES, ONE_OUTPUT

#: One program with something in every field; whoever changes what a hash is made of changes all names.
EVERYTHING = Program(
    leaves=(Leaf("x0", (2, 3), "float64", (1, 2), True), Leaf("x1", (3,), parameter=True, requires_grad=True)),
    setup=(Statement("reshape", ("x0",), ((6,),), ("x2",), "no_grad"),),
    state=(State("layer.weight", "x1"), State("count", "x2", persistent=False)),
    args=(Ref("x0"), Node("list", (Const(None), Const(2), Const(0.5)))),
    kwargs=(("scale", Node("dict", (Ref("x2"),), ("by",))),),
    body=(Statement("to", ("a0",), ("bfloat16",), ("v0",)),),
    outputs=Node("tuple", (Ref("v0"), Const(True))),
)
PINNED = "42d6d71ec496"


def test_the_hash_of_a_program_is_pinned() -> None:
    assert EVERYTHING.name == PINNED


def test_the_hash_is_the_same_in_another_process() -> None:
    code = "from tests.generators.test_program import EVERYTHING; print(EVERYTHING.name)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == PINNED


def test_equal_programs_have_one_hash() -> None:
    copy = replace(EVERYTHING)
    assert (copy, copy.name) == (EVERYTHING, EVERYTHING.name)


@pytest.mark.parametrize(
    "changed",
    [
        replace(EVERYTHING, leaves=(replace(EVERYTHING.leaves[0], shape=(3, 2)), EVERYTHING.leaves[1])),
        replace(EVERYTHING, leaves=(replace(EVERYTHING.leaves[0], stride=None), EVERYTHING.leaves[1])),
        replace(EVERYTHING, leaves=(replace(EVERYTHING.leaves[0], requires_grad=False), EVERYTHING.leaves[1])),
        replace(EVERYTHING, setup=(replace(EVERYTHING.setup[0], mode=""),)),
        replace(EVERYTHING, setup=()),
        replace(EVERYTHING, state=EVERYTHING.state[::-1]),
        replace(EVERYTHING, state=(EVERYTHING.state[0], State("count", "x2"))),
        replace(EVERYTHING, args=EVERYTHING.args[::-1]),
        replace(EVERYTHING, kwargs=()),
        replace(EVERYTHING, body=(replace(EVERYTHING.body[0], arguments=("float16",)),)),
        replace(EVERYTHING, outputs=Node("list", (Ref("v0"), Const(True)))),
    ],
)
def test_a_changed_program_has_another_hash(changed: Program) -> None:
    assert changed != EVERYTHING and changed.name != EVERYTHING.name


def test_flat_args_count_keywords_last() -> None:
    assert [leaf.name if isinstance(leaf, Ref) else leaf.value for leaf in EVERYTHING.flat_args] == ["x0", None, 2, 0.5, "x2"]


def test_flat_outputs_go_left_to_right() -> None:
    assert NESTED_STRUCTURES.flat_outputs == (Ref("v0"), Ref("v0"))


def test_parameter_leaves_are_those_hung_as_parameters() -> None:
    assert BUFFERS_MUTATED.parameter_leaves == {"x1"}


def test_map_refs_leaves_constants_alone() -> None:
    tree = Node("dict", (Ref("v0"), Const(1)), ("a", "b"))
    assert map_refs(lambda ref: Ref("v9"), tree) == Node("dict", (Ref("v9"), Const(1)), ("a", "b"))


def test_unflatten_fills_the_structure() -> None:
    tree = Node("dict", (Ref("x"), Node("list", (Const(1), Node("tuple", ())))), ("a", "b"))
    assert unflatten(tree, iter(["x", 1])) == {"a": "x", "b": [1, ()]}


def test_a_program_is_immutable() -> None:
    with pytest.raises(AttributeError):
        ONE_OUTPUT.body = ()  # type: ignore[misc]
