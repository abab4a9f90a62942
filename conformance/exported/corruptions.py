"""Corruptions of a good exported program: one thing done to it each, and the requirement of chapter E that it breaks.

The rules are tested by them, and PyTorch's own Verifier is measured by them (conformance/exported/verifier.py).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import nn
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument

from conformance.exported import spoiling
from conformance.exported.case import Exported, export_walk
from conformance.exported.forms import DECOMPOSED, EXPORTED, LOADED
from conformance.exported.spoiling import Spoil, call_of, of_input, of_output, of_val, saying, swap_inputs, without
from conformance.pytorch import PyTorch
from generators.build import build
from generators.program import Leaf, Literal, Node, Program, Ref, State, Statement


def _let(result: str, op: str, *operands: str, arguments: tuple[Literal, ...] = ()) -> Statement:
    return Statement(op, operands, arguments, (result,))


def _program(shapes: tuple[tuple[int, ...], ...], *body: Statement) -> Program:
    """Plain inputs of these shapes, these statements, and the last two results, or the only one, as outputs."""
    leaves = tuple(Leaf(f"x{place}", shape) for place, shape in enumerate(shapes))
    returned = [name for statement in body for name in statement.results][:2]
    args, outputs = (tuple(map(Ref, names)) for names in ([leaf.name for leaf in leaves], returned))
    return Program(leaves, args=args, body=body, outputs=Node("tuple", outputs))


#: A parameter, a persistent buffer that is written, one that is neither, and an input.
STATEFUL = Program(
    leaves=(
        Leaf("x0", (2, 3)),
        Leaf("x1", (2, 3), requires_grad=True, parameter=True),
        Leaf("x2", (2, 3)),
        Leaf("x3", (2, 3)),
    ),
    state=(State("weight", "x1"), State("count", "x2"), State("scale", "x3", persistent=False)),
    args=(Ref("x0"),),
    body=(
        Statement("add_", ("self.count",), (1,)),
        _let("v0", "mul", "a0", "self.weight"),
        _let("v1", "mul", "v0", "self.scale"),
    ),
    outputs=Node("tuple", (Ref("v1"),)),
)
#: A parameter of a module within the module.
MODULE_IN_MODULE = Program(
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3), requires_grad=True, parameter=True)),
    state=(State("layer.weight", "x1"),),
    args=(Ref("x0"),),
    body=(_let("v0", "mul", "a0", "self.layer.weight"),),
    outputs=Node("tuple", (Ref("v0"),)),
)
#: An input that is written, and one that is not.
WRITTEN_INPUT = _program(((2, 3), (2, 3)), Statement("mul_", ("a0",), (2,)), _let("v0", "sin", "a1"))
#: Two calls that differ, each an output.
TWO_CALLS = _program(((2, 3), (2, 3)), _let("v0", "sin", "a0"), _let("v1", "cos", "v0"))
#: A call whose operands can't be swapped.
DIFFERENCE = _program(((2, 3), (2, 3)), _let("v0", "sub", "a0", "a1"))
SEVERAL_RESULTS = _program(((4, 2),), Statement("unbind", ("a0",), (0,), ("v0", "v1", "v2", "v3")))
CONTROL = _program(((3,),), _let("v0", "cond", "a0"))
#: An effect, which a token orders.
EFFECT = _program(((3,),), Statement("note", ("a0",)), _let("v0", "sin", "a0"))
#: The loop counts in a constant, which is lifted.
CONSTANT = _program(((3,),), _let("v0", "while_loop", "a0"))


@dataclass(frozen=True)
class Corruption:
    """What is done to one form of a program's export, and the requirement that it breaks."""

    requirement: str
    title: str
    spoil: Spoil
    program: Program = TWO_CALLS
    form: str = EXPORTED


@cache
def _good(program: Program) -> Any:
    built = build(program)
    return PyTorch().export_ir(built.module, built.args, built.kwargs)


@cache
def _good_decomposed(program: Program) -> Any:
    return PyTorch().decompose_ir(_good(program))


class Corrupted(PyTorch):
    """PyTorch's exporter, one form of whose programs is corrupted; it exports each program once in a process."""

    def __init__(self, corruption: Corruption) -> None:
        self.corruption = corruption

    def export_ir(self, *given: Any, **options: Any) -> Any:
        """The ExportedProgram, corrupted if this form is meant."""
        return self._copy_of(EXPORTED, _good(self.corruption.program))

    def decompose_ir(self, exported: Any) -> Any:
        """The ExportedProgram made functional, corrupted if this form is meant."""
        return self._copy_of(DECOMPOSED, _good_decomposed(self.corruption.program))

    def load_ir(self, file: Any) -> Any:
        """The ExportedProgram that the file holds, corrupted if this form is meant."""
        return self._copy_of(LOADED, super().load_ir(file))

    def _copy_of(self, form: str, good: Any) -> Any:
        exported = copy.deepcopy(good)
        if form == self.corruption.form:
            self.corruption.spoil(exported)
            exported.graph_module.recompile()
        return exported


def corrupted_case(corruption: Corruption) -> Exported:
    """The case of the corruption's program, with the corrupted export in its form."""
    return export_walk(corruption.program, Corrupted(corruption), others=(corruption.form,))


SIN_, MUL_, COS = torch.ops.aten.sin_.default, torch.ops.aten.mul_.Tensor, torch.ops.aten.cos.default
TENSOR, ONE_MORE = torch.ones(2, 3), TensorArgument("one_more")
_ROWS: tuple[tuple[Any, ...], ...] = (
    ("E1", "a placeholder after a call", spoiling.late_placeholder),
    ("E1", "two outputs", spoiling.second_output),
    ("E1", "no output", spoiling.no_output),
    ("E1", "the output is not last", spoiling.output_first),
    ("E1", "a method is called", spoiling.method_called),
    ("E1", "a module is called", spoiling.module_called),
    ("E1", "a node is used before it is made", spoiling.used_before_made),
    ("E1", "two nodes have one name", spoiling.one_name_for_two),
    ("E1", "code that can't be run", spoiling.returning("missing")),
    ("E1", "code that gives something else", spoiling.returning("(args_0, args_1)")),
    ("E1", "operands that do not fit their op", spoiling.operands_that_do_not_fit),
    ("E2", "a parameter is read", spoiling.reading(nn.Parameter(TENSOR))),
    ("E2", "a buffer is read", spoiling.buffer_read),
    ("E2", "a text is read", spoiling.reading("text")),
    ("E2", "what is not there is read", spoiling.nothing_read),
    ("E2", "a parameter is read in a branch", spoiling.tensor_read_in_branch, CONTROL),
    ("E3", "rows of a parameter and an input are swapped", swap_inputs(0, -1), STATEFUL),
    ("E3", "rows of two inputs are swapped", swap_inputs(0, 1)),
    ("E3", "rows of two outputs are swapped", spoiling.swap_outputs),
    ("E3", "a row of inputs is called otherwise", of_input(0, arg=ONE_MORE)),
    ("E3", "a placeholder is called otherwise", spoiling.renamed_placeholder, STATEFUL),
    ("E3", "an input has no row", spoiling.no_row_for_input),
    ("E3", "a row has no placeholder", spoiling.one_row_more),
    ("E3", "an input is there twice", spoiling.input_twice),
    ("E3", "a parameter is there twice", spoiling.state_twice, STATEFUL),
    ("E3", "a parameter is called a buffer", of_input(0, kind=InputKind.BUFFER, persistent=True), STATEFUL),
    ("E3", "a buffer is called a parameter", of_input(1, kind=InputKind.PARAMETER, persistent=None), STATEFUL),
    ("E3", "an input of the user is called a constant", of_input(0, kind=InputKind.CONSTANT_TENSOR, target="c")),
    ("E3", "a constant is called an input of the user", of_input(0, kind=InputKind.USER_INPUT, target=None), CONSTANT),
    ("E3", "a buffer is said not to persist", of_input(1, persistent=False), STATEFUL),
    ("E3", "a buffer is said to persist", of_input(2, persistent=True), STATEFUL),
    ("E3", "a buffer is not said to persist or not", of_input(1, persistent=None), STATEFUL),
    ("E3", "a parameter that the module does not hold", of_input(0, target="other"), STATEFUL),
    ("E3", "a parameter without a target", of_input(0, target=None), STATEFUL),
    ("E3", "a constant that is not there", of_input(0, kind=InputKind.CONSTANT_TENSOR, target="c"), STATEFUL),
    ("E3", "a constant of another name", of_input(0, target="other"), CONSTANT),
    ("E3", "an input of the user is lost", spoiling.drop_input(1)),
    ("E3", "a parameter is lost", spoiling.drop_input(2), STATEFUL),
    ("E3", "an output of the user is lost", spoiling.drop_result),
    ("E3", "an output has no row", spoiling.no_row_for_output),
    ("E3", "one more output", spoiling.extra_result),
    ("E3", "one more output of the user", spoiling.extra_result_with_row),
    ("E3", "a row of outputs is called otherwise", of_output(0, arg=ONE_MORE)),
    ("E3", "a mutation that eager does not do", of_output(0, kind=OutputKind.BUFFER_MUTATION, target="scale"), STATEFUL),
    ("E3", "a mutation of another buffer", of_output(0, target="scale"), STATEFUL, DECOMPOSED),
    ("E3", "a mutation of no buffer", of_output(0, target="other"), STATEFUL, DECOMPOSED),
    ("E3", "a mutated buffer is called an input", of_output(0, kind=OutputKind.USER_INPUT_MUTATION), STATEFUL, DECOMPOSED),
    ("E3", "a mutation of an input is no output", spoiling.write_is_no_output, WRITTEN_INPUT, DECOMPOSED),
    ("E3", "mutations come last", spoiling.reverse_outputs, STATEFUL, DECOMPOSED),
    ("E3", "a token that orders nothing", spoiling.token_more, TWO_CALLS, DECOMPOSED),
    ("E3", "a token that is not given back", partial(spoiling.drop_result, place=0), EFFECT, DECOMPOSED),
    ("E4", "a function of torch is called", call_of(torch.sin)),
    ("E4", "an op without its overload is called", call_of(torch.ops.aten.sin)),
    ("E4", "a function of the user is called", call_of(lambda x: x.sin())),
    ("E4", "a Python builtin on no number is called", call_of(torch.Tensor.sin)),
    ("E4", "a function of torch is called in a branch", spoiling.call_in_branch_of(torch.sin), CONTROL),
    ("E4", "an op that writes, after the decomposition", call_of(SIN_), TWO_CALLS, DECOMPOSED),
    ("E4", "an op that writes in a branch, after it", spoiling.call_in_branch_of(MUL_), CONTROL, DECOMPOSED),
    ("E4", "a written buffer is no output", spoiling.write_is_no_output, STATEFUL, DECOMPOSED),
    ("E5", "no val", without("val")),
    ("E5", "one call has no val", spoiling.last_without("val")),
    ("E5", "no stack trace", without("stack_trace")),
    ("E5", "no module stack", without("nn_module_stack")),
    ("E5", "one call has no module stack", spoiling.last_without("nn_module_stack")),
    ("E5", "no function of torch", without("torch_fn")),
    ("E5", "a placeholder without val", without("val", "placeholder")),
    ("E5", "a stack trace of no file", saying("stack_trace", "unknown")),
    ("E5", "a stack trace that is no text", saying("stack_trace", ["File x"])),
    ("E5", "a module stack that is no dict", saying("nn_module_stack", "layer")),
    ("E5", "a module that is not there", saying("nn_module_stack", {"L": ("other", "torch.nn.Module")}), MODULE_IN_MODULE),
    ("E5", "a module of another class", saying("nn_module_stack", {"L": ("layer", "torch.nn.Linear")}), MODULE_IN_MODULE),
    ("E5", "a val that is a real tensor", of_val(lambda val: torch.ones(2, 3))),
    ("E6", "another dtype", of_val(lambda val: val.double())),
    ("E6", "another shape", of_val(lambda val: val.t())),
    ("E6", "another rank", of_val(lambda val: val[0])),
    ("E6", "other strides", of_val(lambda val: val.t().contiguous().t())),
    ("E6", "another device", of_val(lambda val: val.to("meta"))),
    ("E6", "a tensor is said to be none", of_val(lambda val: None)),
    ("E6", "a tensor is said to be a tuple", of_val(lambda val: (val,))),
    ("E6", "a tensor is said to be a number", of_val(lambda val: 2)),
    ("E6", "an input of another dtype", of_val(lambda val: val.double(), "placeholder")),
    ("E6", "an input of another shape", of_val(lambda val: val[:1], "placeholder")),
    ("E6", "fewer results than there are", of_val(lambda val: val[:-1]), SEVERAL_RESULTS),
    ("E6", "more results than there are", of_val(lambda val: [*val, val[0]]), SEVERAL_RESULTS),
    ("E6", "after the decomposition, another dtype", of_val(lambda val: val.double()), TWO_CALLS, DECOMPOSED),
    ("E7", "another value of a parameter", spoiling.other_value, STATEFUL),
    ("E7", "no value of a parameter", spoiling.no_value("weight"), STATEFUL),
    ("E7", "no value of a buffer", spoiling.no_value("count"), STATEFUL),
    ("E7", "a parameter's value is a plain tensor", spoiling.parameter_as_plain_tensor, STATEFUL),
    ("E7", "a value of what does not persist", spoiling.value_of_what_does_not_persist, STATEFUL),
    ("E3", "no value of a constant", spoiling.no_constant, CONSTANT),
    ("E7", "a symbol without a range", spoiling.unranged_symbol),
    ("E8", "another op", call_of(COS)),
    ("E8", "another op after the decomposition", call_of(COS), TWO_CALLS, DECOMPOSED),
    ("E8", "operands are swapped", spoiling.operands_swapped, DIFFERENCE),
    ("E8", "a number is another", spoiling.number_changed, STATEFUL),
    ("E8", "another value of a constant", spoiling.other_constant, CONSTANT),
    ("E8", "a write to a buffer is lost", spoiling.lost_write, STATEFUL),
    ("E8", "a write to an input is lost", spoiling.lost_write, WRITTEN_INPUT),
    ("E8", "a mutation gives what was there before", spoiling.nothing_written_back, STATEFUL, DECOMPOSED),
    ("E8", "outputs change places, with their rows", spoiling.reverse_outputs),
    ("E8", "targets of two buffers are swapped", spoiling.swap_targets(1, 2), STATEFUL),
    ("E8", "the call graph names an input that is not there", spoiling.unknown_in_call_graph),
    ("E8", "another structure", spoiling.other_structure),
    ("E8", "the branches are swapped", spoiling.branches_swapped, CONTROL),
    ("E11", "no cond in the graph", spoiling.no_control_flow, CONTROL),
    ("E11", "a cond without subgraphs", spoiling.no_subgraphs, CONTROL),
)
CORRUPTIONS = tuple(Corruption(*row) for row in _ROWS)
