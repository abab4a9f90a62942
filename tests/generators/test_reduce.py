"""The reducer reaches the exact minimum of simple predicates, and never makes a program larger."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from generators.build import Scope, build, execute
from generators.candidates import canonical
from generators.fit import Fitted, fit
from generators.program import Const, Leaf, Node, Program, Ref, State, Statement
from generators.reduce import reduce
from generators.strategies import programs

LARGE = Program(
    leaves=(
        Leaf("x0", (2, 3), "float64", (1, 2), True, parameter=True),
        Leaf("x1", (3,), requires_grad=True),
        Leaf("x2", (2, 3), requires_grad=True),
    ),
    setup=(Statement("sin", ("x2",), (), ("x3",)), Statement("select", ("x3",), (0, 1), ("x4",), "no_grad")),
    state=(State("block.inner.weight", "x0", persistent=False), State("twin", "x0")),
    args=(Node("list", (Ref("x2"), Const(3))), Ref("x3")),
    kwargs=(("key", Ref("x4")),),
    body=(
        Statement("mul", ("a2", "self.block.inner.weight"), (), ("v0",)),
        Statement("select", ("v0",), (0, 1), ("v1",)),
        Statement("add_", ("v1",), (2,), (), "no_grad"),
        Statement("unbind", ("v0",), (1,), ("v2", "v3", "v4")),
        Statement("cumsum", ("v4",), (0,), ("v5",)),
        Statement("flip", ("v0",), (1,), ("v6",)),
    ),
    outputs=Node("dict", (Ref("v5"), Node("tuple", (Ref("v6"), Const(None), Ref("v1")))), ("out", "rest")),
)
SMALLEST_LEAF = (Leaf("x0", ()),)


def calls(op: str) -> Callable[[Program], bool]:
    """Whether the program calls the op in its body."""
    return lambda program: any(statement.op == op for statement in program.body)


def writes_a_view(program: Program) -> bool:
    """Whether the body writes, by add_, a view of another value: asked of eager."""
    built = build(program)
    scope = Scope({f"a{i}": built.values.get(getattr(x, "name", "")) for i, x in enumerate(program.flat_args)}, built.module)
    for statement in program.body:
        if statement.op == "add_" and scope[statement.operands[0]]._is_view():
            return True
        execute(statement, scope)
    return False


def test_a_program_that_always_fails_becomes_empty() -> None:
    assert reduce(LARGE, lambda program: True) == Program()


@pytest.mark.parametrize(
    ("op", "minimum"),
    [
        ("flip", Statement("flip", ("a0",), (0,), ("v0",))),
        ("cumsum", Statement("cumsum", ("a0",), (0,), ("v0",))),
        ("mul", Statement("mul", ("a0", "a0"), (), ("v0",))),
        ("add_", Statement("add_", ("a0",), (1,))),
    ],
)
def test_one_statement_is_left_of_a_fault_in_one_op(op: str, minimum: Statement) -> None:
    found = reduce(LARGE, calls(op))
    assert (found.body, found.setup, found.state, found.outputs) == ((minimum,), (), (), Node("tuple", ()))


def test_a_fault_in_one_op_needs_one_small_plain_leaf() -> None:
    assert reduce(LARGE, calls("cumsum")).leaves == SMALLEST_LEAF


def test_a_written_view_keeps_the_view_and_the_write() -> None:
    body = (Statement("view", ("a0",), ((1,),), ("v0",)), Statement("add_", ("v0",), (1,)))
    assert reduce(LARGE, writes_a_view) == Program(SMALLEST_LEAF, args=(Ref("x0"),), body=body)


def test_what_eager_leaves_undefined_is_no_smaller_program() -> None:
    normed = Statement("batch_norm", ("a2", "a0", "a1"), (True,), ("v0",))
    leaves = (Leaf("x0", (2, 2)), Leaf("x1", (2,)), Leaf("x2", (2,)))
    program = Program(leaves, args=(Ref("x1"), Ref("x2"), Ref("x0")), body=(normed,))
    assert len(reduce(program, lambda p: any(s.op == "batch_norm" and s.arguments == (True,) for s in p.body)).leaves) == 3


def test_a_fault_in_tied_state_keeps_both_entries() -> None:
    tied = lambda program: len({s.value for s in program.state}) < len(program.state)  # noqa: E731
    weights = (State("weight", "x0"), State("twin", "x0"))
    assert reduce(LARGE, tied) == Program(leaves=SMALLEST_LEAF, state=weights)


def test_a_fault_in_a_parameter_keeps_the_parameter() -> None:
    trains = lambda p: any(isinstance(t, torch.nn.Parameter) and t.requires_grad for t in build(p).module.parameters())  # noqa: E731
    assert reduce(LARGE, trains).leaves == (Leaf("x0", (), requires_grad=True, parameter=True),)


def test_a_fault_in_an_output_that_aliases_another_keeps_two_outputs() -> None:
    def aliased(program: Program) -> bool:
        built = build(program)
        outputs = [t for t in torch.utils._pytree.tree_leaves(built.module(*built.args, **built.kwargs)) if torch.is_tensor(t)]
        return len({t.untyped_storage()._cdata for t in outputs}) < len(outputs)

    program = Program(
        leaves=(Leaf("x0", (2, 3)),),
        args=(Ref("x0"),),
        body=(
            Statement("sin", ("a0",), (), ("v0",)),
            Statement("exp", ("v0",), (), ("v1",)),
            Statement("transpose", ("v1",), (1,), ("v2",)),
        ),
        outputs=Node("list", (Ref("v0"), Node("tuple", (Ref("v1"), Ref("v2"))))),
    )
    expected = Program(leaves=SMALLEST_LEAF, args=(Ref("x0"),), outputs=Node("tuple", (Ref("a0"), Ref("a0"))))
    assert reduce(program, aliased) == expected


def test_an_argument_is_chosen_again_where_the_shape_has_changed() -> None:
    statement = Statement("view", ("a0",), ((3, 2),), ("v0",))
    program = Program((Leaf("x0", (2, 3)),), args=(Ref("x0"),), body=(statement,))
    assert reduce(program, calls("view")).body == (Statement("view", ("a0",), ((1,),), ("v0",)),)


def test_a_program_that_eager_refuses_keeps_its_error() -> None:
    def raises(program: Program) -> bool:
        try:
            built = build(program)
            built.module(*built.args, **built.kwargs)
        except IndexError:
            return True
        return False

    body = (Statement("sin", ("a0",), (), ("v0",)), Statement("select", ("v0",), (0, 7), ("v1",)))
    program = Program((Leaf("x0", (2, 3), requires_grad=True),), args=(Ref("x0"),), body=body, outputs=Ref("v0"))
    assert [s.op for s in reduce(program, raises).body] == ["select"]


@pytest.mark.parametrize("budget", [0, 1, 10])
def test_the_budget_of_calls_is_kept(budget: int) -> None:
    asked: list[Program] = []
    reduce(LARGE, lambda program: bool(asked.append(program)), budget=budget)
    assert len(asked) == budget


def test_no_program_is_asked_about_twice() -> None:
    asked: list[Program] = []
    reduce(LARGE, lambda program: asked.append(program) is None and calls("flip")(program))
    assert len(set(asked)) == len(asked)


def test_the_minimum_is_reached_within_the_default_budget() -> None:
    asked: list[Program] = []
    reduce(LARGE, lambda program: asked.append(program) is None and writes_a_view(program))
    assert len(asked) < 250


@settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_reduced_program_still_fails_is_no_larger_and_canonical(program: Program) -> None:
    def fails(candidate: Program) -> bool:
        return any(statement.operands[:1] == ("a0",) for statement in candidate.body)

    found = reduce(program, fails)
    sizes = [(fit(p, may_raise=True) or Fitted(p, 0)).size for p in (found, program)]
    assert (fails(found) or not fails(program), sizes[0] <= sizes[1], found == canonical(found)) == (True, True, True)


def test_equal_programs_reduce_to_equal_hashes() -> None:
    other = Program(
        leaves=(Leaf("x7", (4,)),), args=(Ref("x7"),), body=(Statement("cumsum", ("a0",), (0,), ("v9",)),), outputs=Ref("v9")
    )
    assert reduce(other, calls("cumsum")).name == reduce(LARGE, calls("cumsum")).name




def test_a_view_of_another_input_becomes_a_tensor_of_its_own() -> None:
    program = Program(
        leaves=(Leaf("x0", (2, 3)),),
        setup=(Statement("select", ("x0",), (0, 1), ("x1",)),),
        args=(Ref("x0"), Ref("x1")),
        body=(Statement("mul", ("a0", "a1"), (), ("v0",)),),
        outputs=Node("tuple", (Ref("v0"),)),
    )
    two_inputs = reduce(program, lambda smaller: len(set(smaller.flat_args)) == 2)
    assert (two_inputs.setup, len(two_inputs.leaves)) == ((), 2)
