"""Small programs written by hand, each with one feature that its name says; for the suite's own tests."""

from __future__ import annotations

from generators.program import Leaf, Literal, Node, Program, Ref, State, Statement, Tree


def outputs(*names: str) -> Tree:
    """A tuple of values as the result of the forward."""
    return Node("tuple", tuple(map(Ref, names)))


def let(result: str, op: str, operand: str, *arguments: Literal) -> Statement:
    """``result = op(operand)``."""
    return Statement(op, (operand,), arguments, (result,))


def change(op: str, operand: str, *arguments: Literal) -> Statement:
    """A call for its effect on ``operand``."""
    return Statement(op, (operand,), arguments)


_PLAIN = Leaf("x0", (2, 3))
_GRAD = Leaf("x0", (2, 3), requires_grad=True)
_WEIGHT = Leaf("x1", (2, 3), requires_grad=True, parameter=True)
_TIMES_WEIGHT = Statement("mul", ("a0", "self.weight"), (), ("v0",))
_PLUS_WEIGHT = Statement("add", ("a0", "self.weight"), (), ("v0",))

#: No gradient anywhere: the graph is an inference graph.
INFERENCE = Program((_PLAIN,), args=(Ref("x0"),), body=(let("v0", "sin", "a0"),), outputs=outputs("v0"))

ONE_OUTPUT = Program((_GRAD,), args=(Ref("x0"),), body=(let("v0", "sin", "a0"),), outputs=outputs("v0"))

#: A parameter, an input without gradient, and two differentiable outputs that do not alias.
TWO_OUTPUTS = Program(
    leaves=(_PLAIN, _WEIGHT),
    state=(State("weight", "x1"),),
    args=(Ref("x0"),),
    body=(_TIMES_WEIGHT, let("v1", "sin", "v0")),
    outputs=outputs("v0", "v1"),
)

TWO_INPUTS = Program(
    leaves=(_GRAD, Leaf("x1", (2, 3), requires_grad=True)),
    args=(Ref("x0"), Ref("x1")),
    body=(Statement("mul", ("a0", "a1"), (), ("v0",)),),
    outputs=outputs("v0"),
)

#: An input without gradient is written; beside it something is differentiable.
MUTATED_INPUT = Program(
    leaves=(_PLAIN, _WEIGHT),
    state=(State("weight", "x1"),),
    args=(Ref("x0"),),
    body=(_PLUS_WEIGHT, change("mul_", "a0", 2)),
    outputs=outputs("v0"),
)

#: A differentiable input that is no leaf is written: the mutation has a tangent.
MUTATED_INPUT_WITH_GRADIENT = Program(
    leaves=(_GRAD,),
    setup=(let("x1", "scale", "x0", 2),),
    args=(Ref("x1"),),
    body=(change("sin_", "a0"), let("v0", "scale", "a0", 3)),
    outputs=outputs("v0"),
)

METADATA_MUTATED = Program(
    leaves=(_PLAIN, _WEIGHT),
    state=(State("weight", "x1"),),
    args=(Ref("x0"),),
    body=(_PLUS_WEIGHT, change("t_", "a0")),
    outputs=outputs("v0"),
)

#: Two inputs are views of one base, which is no input itself, and one is written.
ALIASED_INPUTS_ONE_MUTATED = Program(
    leaves=(_GRAD,),
    setup=(let("x1", "scale", "x0", 2), let("x2", "view", "x1", (6,)), let("x3", "t", "x1")),
    args=(Ref("x2"), Ref("x3")),
    body=(change("mul_", "a0", 2), let("v0", "sin", "a1")),
    outputs=outputs("v0"),
)

#: Two inputs are views of one base, and nothing is written.
ALIASED_INPUTS = Program(
    leaves=(_GRAD,),
    setup=(let("x1", "view", "x0", (6,)), let("x2", "t", "x0")),
    args=(Ref("x1"), Ref("x2")),
    body=(let("v0", "sin", "a0"), let("v1", "cos", "a1")),
    outputs=outputs("v0", "v1"),
)

#: One tensor is passed twice.
SAME_INPUT_TWICE = Program(
    leaves=(_GRAD,),
    args=(Ref("x0"), Ref("x0")),
    body=(Statement("mul", ("a0", "a1"), (), ("v0",)),),
    outputs=outputs("v0"),
)

TIED_PARAMETERS = Program(
    leaves=(_PLAIN, _WEIGHT),
    state=(State("weight", "x1"), State("head.weight", "x1")),
    args=(Ref("x0"),),
    body=(_TIMES_WEIGHT, Statement("mul", ("v0", "self.head.weight"), (), ("v1",))),
    outputs=outputs("v1"),
)

#: A parameter, a buffer that is written, one that is only read, and an input.
BUFFERS_MUTATED = Program(
    leaves=(_PLAIN, _WEIGHT, Leaf("x2", (2, 3)), Leaf("x3", (2, 3))),
    state=(State("weight", "x1"), State("count", "x2"), State("scale", "x3", persistent=False)),
    args=(Ref("x0"),),
    body=(change("add_", "self.count", 1), _TIMES_WEIGHT, Statement("mul", ("v0", "self.scale"), (), ("v1",))),
    outputs=outputs("v1"),
)

#: Two outputs are views of one intermediate that is no output.
OUTPUT_VIEWS_OF_INTERMEDIATE = Program(
    leaves=(_GRAD,),
    args=(Ref("x0"),),
    body=(let("v0", "sin", "a0"), let("v1", "view", "v0", (6,)), let("v2", "t", "v0")),
    outputs=outputs("v1", "v2"),
)

#: An output is an input, another one a view of it.
OUTPUT_ALIASES_INPUT = Program(
    leaves=(_GRAD,),
    args=(Ref("x0"),),
    body=(let("v0", "t", "a0"), let("v1", "sin", "a0")),
    outputs=outputs("a0", "v0", "v1"),
)

#: Arguments and outputs are nested, some by keyword.
NESTED_STRUCTURES = Program(
    leaves=(_GRAD, Leaf("x1", (3,), requires_grad=True)),
    args=(Node("list", (Ref("x0"),)),),
    kwargs=(("scale", Node("dict", (Ref("x1"),), ("by",))),),
    body=(Statement("mul", ("a0", "a1"), (), ("v0",)),),
    outputs=Node("dict", (Ref("v0"), Node("list", (Ref("v0"),))), ("first", "rest")),
)

#: Two inputs of a subclass with two pieces; the output is of the same.
SUBCLASSES = Program(
    leaves=(
        Leaf("x0", (2, 3), requires_grad=True, subclass="pair"),
        Leaf("x1", (2, 3), requires_grad=True, subclass="pair"),
    ),
    args=(Ref("x0"), Ref("x1")),
    body=(Statement("mul", ("a0", "a1"), (), ("v0",)),),
    outputs=outputs("v0"),
)

#: A subclass whose pieces are of a subclass themselves.
NESTED_SUBCLASS = Program(
    leaves=(Leaf("x0", (2, 3), requires_grad=True, subclass="nested"),),
    args=(Ref("x0"),),
    body=(let("v0", "sin", "a0"),),
    outputs=outputs("v0"),
)

#: A parameter of a subclass beside a plain input without gradient.
SUBCLASS_PARAMETER = Program(
    leaves=(_PLAIN, Leaf("x1", (2, 3), requires_grad=True, parameter=True, subclass="scaled")),
    state=(State("weight", "x1"),),
    args=(Ref("x0"),),
    body=(let("v0", "sin", "self.weight"),),
    outputs=outputs("v0", "a0"),
)

#: A subclass without gradient is written; beside it a plain parameter is differentiable.
SUBCLASS_MUTATED = Program(
    leaves=(Leaf("x0", (2, 3), subclass="pair"), _WEIGHT),
    state=(State("weight", "x1"),),
    args=(Ref("x0"),),
    body=(change("mul_", "a0", 2), let("v0", "sin", "self.weight")),
    outputs=outputs("v0"),
)

#: The first size of the subclass is symbolic.
SYMBOLIC_SUBCLASS = Program(
    leaves=(Leaf("x0", (2, 3), requires_grad=True, subclass="pair"),),
    args=(Ref("x0"),),
    body=(let("v0", "sin", "a0"),),
    outputs=outputs("v0"),
    symbolic=(2,),
)
