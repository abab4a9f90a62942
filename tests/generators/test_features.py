"""Features say what a program is made of, and everything that was promised is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from generators.build import build
from generators.features import features
from generators.program import Const, Leaf, Node, Program, Ref, State, Statement, Tree, leaves_of
from generators.vocabulary import VOCABULARY
from tests import programs as by_hand
from tests.drawing import drawn
from tests.programs import change, let, outputs

GRAD = Leaf("x0", (2, 3), requires_grad=True)
WEIGHT = Leaf("x1", (2, 3), requires_grad=True, parameter=True)


def body(*statements: Statement, result: str = "a0") -> Program:
    return Program((GRAD,), args=(Ref("x0"),), body=statements, outputs=outputs(result))


def state(*states: State, leaf: Leaf = WEIGHT) -> Program:
    return Program((GRAD, leaf), state=states, args=(Ref("x0"),), outputs=outputs("a0"))


#: What a feature is: a program that has it, and one that only nearly does.
TABLE: dict[str, tuple[Program, Program]] = {
    "dtype:int64": (Program((Leaf("x0", (2,), "int64"),)), Program((Leaf("x0", (2,), "int32"),))),
    "rank:0": (Program((Leaf("x0", ()),)), Program((Leaf("x0", (1,)),))),
    "size:0": (Program((Leaf("x0", (0, 3)),)), Program((Leaf("x0", ()),))),
    "size:1": (Program((Leaf("x0", (2, 1)),)), Program((Leaf("x0", (2,)),))),
    "stride:given": (Program((Leaf("x0", (2, 3), stride=(1, 2)),)), Program((GRAD,))),
    "grad:leaf": (Program((GRAD,)), Program((Leaf("x0", (2, 3)),))),
    "setup:view": (by_hand.ALIASED_INPUTS, by_hand.SAME_INPUT_TWICE),
    "setup:view-under-no_grad": (
        Program((GRAD,), (Statement("t", ("x0",), (), ("x1",), "no_grad"),), args=(Ref("x1"),)),
        by_hand.ALIASED_INPUTS,
    ),
    "state:parameter": (state(State("weight", "x1")), state(State("weight", "x1"), leaf=Leaf("x1", (2, 3)))),
    "state:buffer": (state(State("weight", "x1"), leaf=Leaf("x1", (2, 3))), state(State("weight", "x1"))),
    "state:frozen": (state(State("w", "x1"), leaf=Leaf("x1", (2, 3), parameter=True)), state(State("w", "x1"))),
    "state:tied-parameter": (by_hand.TIED_PARAMETERS, by_hand.TWO_OUTPUTS),
    "state:tied-buffer": (state(State("b", "x0"), State("c", "x0")), state(State("b", "x0"))),
    "state:non-persistent": (by_hand.BUFFERS_MUTATED, state(State("weight", "x1", persistent=False))),
    "state:nested": (state(State("layer.weight", "x1")), state(State("weight", "x1"))),
    "input:twice": (by_hand.SAME_INPUT_TWICE, by_hand.ALIASED_INPUTS),
    "input:aliased": (by_hand.ALIASED_INPUTS, by_hand.SAME_INPUT_TWICE),
    "input:piece": (
        Program((GRAD,), (let("x1", "to_pair", "x0"),), args=(Ref("x1"), Ref("x0"))),
        Program((GRAD,), (let("x1", "to_pair", "x0"), let("x2", "sin", "x1")), args=(Ref("x2"), Ref("x0"))),
    ),
    "input:view": (by_hand.ALIASED_INPUTS, by_hand.MUTATED_INPUT_WITH_GRADIENT),
    "input:non-leaf": (by_hand.MUTATED_INPUT_WITH_GRADIENT, by_hand.ALIASED_INPUTS),
    "input:constant": (Program((GRAD,), args=(Ref("x0"), Const(2))), by_hand.ONE_OUTPUT),
    "input:keyword": (by_hand.NESTED_STRUCTURES, by_hand.TWO_INPUTS),
    "input:nested": (by_hand.NESTED_STRUCTURES, by_hand.TWO_INPUTS),
    "input:unused": (body(), by_hand.ONE_OUTPUT),
    "kind:pointwise": (body(let("v0", "sin", "a0")), body(let("v0", "t", "a0"))),
    "view-under-no_grad": (body(Statement("t", ("a0",), (), ("v0",), "no_grad")), body(let("v0", "t", "a0"))),
    "writes:input": (body(change("mul_", "a0", 2)), body(let("v0", "sin", "a0"), change("mul_", "v0", 2))),
    "writes:view-of-input": (body(let("v0", "t", "a0"), change("mul_", "v0", 2)), body(change("mul_", "a0", 2))),
    "writes:intermediate": (body(let("v0", "sin", "a0"), change("mul_", "v0", 2)), body(change("mul_", "a0", 2))),
    "writes:buffer": (by_hand.BUFFERS_MUTATED, by_hand.MUTATED_INPUT),
    "changes-metadata-of:input": (body(change("t_", "a0")), body(change("mul_", "a0", 2))),
    "output:input": (body(), by_hand.ONE_OUTPUT),
    "output:view-of-input": (body(let("v0", "t", "a0"), result="v0"), body()),
    "output:intermediate": (by_hand.ONE_OUTPUT, body()),
    "output:view-of-intermediate": (by_hand.OUTPUT_VIEWS_OF_INTERMEDIATE, by_hand.ONE_OUTPUT),
    "output:parameter": (
        Program((WEIGHT,), state=(State("w", "x1"),), outputs=outputs("self.w")),
        by_hand.TWO_OUTPUTS,
    ),
    "output:repeated": (by_hand.NESTED_STRUCTURES, by_hand.OUTPUT_VIEWS_OF_INTERMEDIATE),
    "output:aliased": (by_hand.OUTPUT_VIEWS_OF_INTERMEDIATE, by_hand.TWO_OUTPUTS),
    "output:several": (by_hand.TWO_OUTPUTS, by_hand.ONE_OUTPUT),
    "output:constant": (Program((GRAD,), outputs=Const(None)), by_hand.ONE_OUTPUT),
    "output:nested": (by_hand.NESTED_STRUCTURES, by_hand.TWO_OUTPUTS),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_program_that_has_it_has_the_feature(name: str) -> None:
    assert name in features(TABLE[name][0])


@pytest.mark.parametrize("name", TABLE)
def test_a_program_that_nearly_has_it_does_not_have_the_feature(name: str) -> None:
    assert name not in features(TABLE[name][1])


def has(*names: str) -> Callable[[Program], bool]:
    """Whether a program has one of these features."""
    return lambda program: bool(features(program) & set(names))


def setup_op(*ops: str) -> Callable[[Program], bool]:
    return lambda program: any(statement.op in ops for statement in program.setup)


def trees(program: Program) -> Iterator[Tree]:
    yield from program.args
    yield from (tree for _, tree in program.kwargs)


def depth(tree: Tree) -> int:
    return 1 + max(map(depth, tree.children), default=0) if isinstance(tree, Node) else 0


def uses(program: Program) -> set[str]:
    given = {operand for statement in program.body for operand in statement.operands}
    return given | {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}


def unused_state(parameter: bool) -> Callable[[Program], bool]:
    def condition(program: Program) -> bool:
        unused = [s for s in program.state if f"self.{s.fqn}" not in uses(program)]
        return any((s.value in program.parameter_leaves) is parameter for s in unused)

    return condition


def argument_of(kind: str) -> Callable[[Program], bool]:
    return lambda program: any(isinstance(tree, Node) and tree.kind == kind for tree in trees(program))


def constant(*values: object, out: bool = False) -> Callable[[Program], bool]:
    """Whether one of these constants is an argument, or an output."""

    def condition(program: Program) -> bool:
        leaves = program.flat_outputs if out else program.flat_args
        found = [(type(leaf.value), leaf.value) for leaf in leaves if isinstance(leaf, Const)]
        return any((type(value), value) in found for value in values)

    return condition


def passed(program: Program) -> set[str]:
    return {leaf.name for leaf in program.flat_args if isinstance(leaf, Ref)}


def overlapping_input(program: Program) -> bool:
    """Whether an argument has several elements in one place."""
    tensors = build(program).tensors
    return any(
        size > 1 and stride == 0
        for name in passed(program)
        for size, stride in zip(tensors[name].shape, tensors[name].stride(), strict=True)
    )


def partly_overlapping_inputs(program: Program) -> bool:
    """Whether two arguments of one storage begin at different elements."""
    tensors = build(program).tensors
    begins = {name: (t.untyped_storage()._cdata, t.storage_offset()) for name, t in tensors.items() if name in passed(program)}
    return any(a[0] == b[0] and a[1] != b[1] for a in begins.values() for b in begins.values())


def chain_of_views(program: Program) -> bool:
    """Whether an argument is a view of a view of a view."""
    steps: dict[str, int] = {}
    for statement in program.setup:
        if VOCABULARY[statement.op].kind == "view":
            steps.update({result: steps.get(statement.operands[0], 0) + 1 for result in statement.results})
    return any(steps.get(name, 0) >= 2 for name in passed(program))


def aliased_buffers(program: Program) -> bool:
    """Whether two buffers, or a buffer and an argument, share memory and are not one object."""
    tensors = build(program).tensors
    buffers = {s.value for s in program.state} - program.parameter_leaves
    return any(
        a != b and tensors[a].untyped_storage()._cdata == tensors[b].untyped_storage()._cdata
        for a in buffers
        for b in buffers | passed(program)
    )


def running_statistics(program: Program) -> bool:
    """Whether a batch norm in training updates buffers."""
    names = {f"self.{s.fqn}" for s in program.state if s.value not in program.parameter_leaves}
    return any(s.op == "batch_norm" and names & set(s.operands[1:]) for s in program.body)


def leaf(condition: Callable[[Leaf], bool]) -> Callable[[Program], bool]:
    return lambda program: any(map(condition, program.leaves))


def channels_last(candidate: Leaf) -> bool:
    return candidate.stride is not None and len(candidate.shape) == 4 and candidate.stride[1] == 1


# fmt: off
VIEWS = ("view", "reshape", "transpose", "permute", "slice", "select", "expand", "diagonal", "as_strided", "unfold", "squeeze",
         "unsqueeze", "detach", "alias", "real", "imag", "view_dtype")
METADATA = ("t_", "transpose_", "squeeze_", "unsqueeze_", "resize_", "set_", "as_strided_", "set_data", "requires_grad_",
            "detach_")
DRAWN_DTYPES = ("float32", "float64", "bfloat16", "int64", "int32", "bool", "complex64")
# fmt: on
#: What a run must draw, in the words in which it was promised.
PROMISED: dict[str, Callable[[Program], bool]] = {
    "trainable parameters": leaf(lambda x: x.parameter and x.requires_grad),
    "frozen parameters": has("state:frozen"),
    "unused parameters": unused_state(parameter=True),
    "unused buffers": unused_state(parameter=False),
    "tied parameters": has("state:tied-parameter"),
    "state in nested submodules": has("state:nested"),
    "persistent buffers": lambda p: any(s.persistent and s.value not in p.parameter_leaves for s in p.state),
    "buffers that are not persistent": has("state:non-persistent"),
    "aliased buffers": aliased_buffers,
    "mutated buffers": has("writes:buffer", "writes:view-of-buffer"),
    "mutated parameters": has("writes:parameter", "writes:view-of-parameter"),
    "inputs that are leaves with gradient": lambda p: any(x.requires_grad and x.name in passed(p) for x in p.leaves),
    "inputs that are not leaves": has("input:non-leaf"),
    "plain inputs": lambda p: any(not x.requires_grad and x.name in passed(p) for x in p.leaves),
    "inputs that are views of one another": has("input:aliased"),
    "chains of views": chain_of_views,
    "inputs that overlap in memory": overlapping_input,
    "inputs at different places of one storage": partly_overlapping_inputs,
    "the same tensor twice": has("input:twice"),
    "unused inputs": has("input:unused"),
    "views taken under no_grad": has("setup:view-under-no_grad"),
    "views taken under enable_grad": has("setup:view-under-enable_grad"),
    "an integer as an input": constant(2, 3, -1),
    "None as an input": constant(None),
    "kwargs": has("input:keyword"),
    "a tuple as an input": argument_of("tuple"),
    "a list as an input": argument_of("list"),
    "a dict as an input": argument_of("dict"),
    "pointwise ops": has("kind:pointwise"),
    "binary ops": has("kind:binary"),
    "reductions": has("kind:reduction"),
    "matmul, linear": has("op:matmul", "op:linear", "op:addmm", "op:matmul_t"),
    "convolutions": has("op:conv1d", "op:conv2d"),
    "normalization": has("kind:norm"),
    "indexing": has("kind:indexing"),
    "split, chunk": has("op:split", "op:chunk"),
    "unbind": has("op:unbind"),
    "topk": has("op:topk"),
    "max with indices": has("op:max_dim"),
    **{
        f"the view {name}": has(f"op:{name}")
        for name in VIEWS
    },
    "mutation of inputs": has("writes:input"),
    "mutation of views of inputs": has("writes:view-of-input"),
    "mutation of intermediates": has("writes:intermediate"),
    "mutation of views of intermediates": has("writes:view-of-intermediate"),
    "mutation by index": has("op:set_row", "op:set_slice", "op:mul_row", "op:augment"),
    **{
        f"the change of metadata {name}": has(f"op:{name}")
        for name in METADATA
    },
    "regions under no_grad": has("pointwise-under-no_grad"),
    "regions under enable_grad": has("pointwise-under-enable_grad"),
    "mutation under no_grad": has("mutation-under-no_grad"),
    **{f"the dtype {name}": has(f"dtype:{name}") for name in DRAWN_DTYPES},
    "sizes 0": has("size:0"),
    "sizes 1": has("size:1"),
    "rank 0": has("rank:0"),
    "strides that are not contiguous": has("stride:given"),
    "channels-last strides": leaf(channels_last),
    "outputs that repeat": has("output:repeated"),
    "outputs that are inputs": has("output:input"),
    "outputs that are parameters": has("output:parameter"),
    "outputs that are buffers": has("output:buffer"),
    "outputs that are views of inputs": has("output:view-of-input"),
    "outputs that are views of one another": has("output:aliased"),
    "None as an output": constant(None, out=True),
    "a float as an output": constant(2.5, out=True),
    "nested outputs": has("output:nested"),
    "an output that is no container": lambda p: not isinstance(p.outputs, Node),
    "a dict of outputs": lambda p: isinstance(p.outputs, Node) and p.outputs.kind == "dict",
    "a list of outputs": lambda p: isinstance(p.outputs, Node) and p.outputs.kind == "list",
    "a float as an input": constant(0.5),
    "a bool as an input": constant(True),
    "an integer as an output": constant(1, out=True),
    "containers within containers as inputs": lambda p: any(depth(tree) > 1 for tree in trees(p)),
    "running statistics": running_statistics,
    "in-place mutation of metadata by the caller": setup_op("t_", "transpose_", "resize_", "set_", "set_data", "detach_"),
    "several views at once in the setup": setup_op("unbind", "split", "chunk"),
    "float16": has("dtype:float16"),
}


@pytest.mark.parametrize("promise", PROMISED)
def test_a_run_draws_what_was_promised(promise: str) -> None:
    assert any(map(PROMISED[promise], drawn()))


def test_all_leaves_of_nested_arguments_are_flat_arguments() -> None:
    tree = Node("dict", (Node("list", (Ref("x0"),)), Const(1)), ("a", "b"))
    assert list(leaves_of(tree)) == list(Program((GRAD,), args=(tree,)).flat_args)
