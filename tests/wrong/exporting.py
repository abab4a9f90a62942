"""Exporters whose ExportedProgram is wrong: in what the graph is made of, what the nodes say, the signature, the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec, TensorArgument

from conformance.exported.case import DECOMPOSED, EXPORTED, LOADED
from conformance.pytorch import PyTorch
from generators.preludes.symbolic import with_symbolic_sizes
from generators.program import Leaf, Program, Ref, State, Statement
from tests import programs
from tests.programs import change, let, outputs

#: Something done to an exported program, in place.
Spoil = Callable[[Any], None]

#: A parameter, a persistent buffer that is written, one that is neither, and an input.
STATEFUL = programs.BUFFERS_MUTATED
#: An input without gradient that is written, and one that is not.
WRITTEN_INPUT = Program(
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3))),
    args=(Ref("x0"), Ref("x1")),
    body=(change("mul_", "a0", 2), let("v0", "sin", "a1")),
    outputs=outputs("v0"),
)
#: Two calls that differ, each an output.
TWO_CALLS = Program(
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3))),
    args=(Ref("x0"), Ref("x1")),
    body=(let("v0", "sin", "a0"), let("v1", "cos", "v0")),
    outputs=outputs("v0", "v1"),
)
MODULE_IN_MODULE = Program(
    leaves=(Leaf("x0", (2, 3)), Leaf("x1", (2, 3), requires_grad=True, parameter=True)),
    state=(State("layer.weight", "x1"),),
    args=(Ref("x0"),),
    body=(Statement("mul", ("a0", "self.layer.weight"), (), ("v0",)),),
    outputs=outputs("v0"),
)
SEVERAL_RESULTS = Program(
    leaves=(Leaf("x0", (4, 2)),), args=(Ref("x0"),), body=(Statement("unbind", ("a0",), (0,), ("v0", "v1", "v2", "v3")),),
    outputs=outputs("v0"),
)  # fmt: skip
CONTROL = Program(
    leaves=(Leaf("x0", (3,)),), args=(Ref("x0"),), body=(let("v0", "cond", "a0"),), outputs=outputs("v0")
)  # fmt: skip


@dataclass(frozen=True)
class WrongExport:
    """What is done to one form of a program's export, and the rule that must catch it.

    ``way`` names how dynamic sizes are asked for, "" for a program without them.
    """

    rule: str
    title: str
    spoil: Spoil
    program: Program = TWO_CALLS
    form: str = EXPORTED
    way: str = ""


class SpoiltExport(PyTorch):
    """PyTorch's exporter, one form of whose programs is spoilt."""

    def __init__(self, form: str, spoil: Spoil) -> None:
        self.form, self.spoil = form, spoil

    def export_ir(self, *given: Any, **options: Any) -> Any:
        return self._spoilt(EXPORTED, super().export_ir(*given, **options))

    def decompose_ir(self, exported: Any) -> Any:
        return self._spoilt(DECOMPOSED, super().decompose_ir(exported))

    def load_ir(self, file: Any) -> Any:
        return self._spoilt(LOADED, super().load_ir(file))

    def _spoilt(self, form: str, exported: Any) -> Any:
        if form == self.form:
            self.spoil(exported)
            exported.graph_module.recompile()
        return exported


def calls(exported: Any) -> list[fx.Node]:
    """The graph's calls, in order."""
    return [node for node in exported.graph.nodes if node.op == "call_function"]


def inputs(exported: Any) -> list[fx.Node]:
    """The graph's placeholders, in order."""
    return [node for node in exported.graph.nodes if node.op == "placeholder"]


# What the graph is made of


def late_placeholder(exported: Any) -> None:
    calls(exported)[0].append(inputs(exported)[1])


def second_output(exported: Any) -> None:
    exported.graph.output((calls(exported)[0],))


def method_called(exported: Any) -> None:
    node = calls(exported)[0]
    node.op, node.target = "call_method", "sin"


def used_before_made(exported: Any) -> None:
    first, second = calls(exported)[:2]
    first.prepend(second)


def returning(text: str) -> Spoil:
    """The graph's Python ends so."""

    class Other(fx.graph.CodeGen):
        def generate_output(self, output_args: Any, **options: Any) -> str:
            return f"return {text}"

    return lambda exported: exported.graph.set_codegen(Other())


def unknown_shape(exported: Any) -> None:
    calls(exported)[1].target = torch.ops.aten.mm.default
    calls(exported)[1].args = (calls(exported)[0], calls(exported)[0])


def tensor_read(exported: Any) -> None:
    exported.graph_module.held = nn.Parameter(torch.ones(2, 3))
    with exported.graph.inserting_before(calls(exported)[0]):
        node = exported.graph.get_attr("held")
    node.meta["val"] = inputs(exported)[0].meta["val"]
    calls(exported)[0].args = (node,)


def text_read(exported: Any) -> None:
    exported.graph_module.held = "text"
    with exported.graph.inserting_before(calls(exported)[0]):
        exported.graph.create_node("get_attr", "held")


def tensor_read_in_branch(exported: Any) -> None:
    branch = next(module for name, module in exported.graph_module.named_modules() if name == "true_graph_0")
    branch.held = nn.Parameter(torch.ones(3))
    with branch.graph.inserting_before(next(node for node in branch.graph.nodes if node.op == "call_function")):
        branch.graph.get_attr("held")


def call_of(target: Any) -> Spoil:
    def spoil(exported: Any) -> None:
        calls(exported)[0].target = target

    return spoil


def drop_written_buffer(exported: Any) -> None:
    signature = exported.graph_signature
    signature.output_specs[0] = OutputSpec(OutputKind.USER_OUTPUT, signature.output_specs[0].arg, None)


def no_control_flow(exported: Any) -> None:
    node = next(node for node in calls(exported) if "cond" in str(node.target))
    node.target = torch.ops.higher_order.map_impl


def no_subgraphs(exported: Any) -> None:
    node = next(node for node in calls(exported) if "cond" in str(node.target))
    node.args = (node.args[0], None, None, *node.args[3:])


# What the nodes say


def without(key: str, op: str = "call_function") -> Spoil:
    def spoil(exported: Any) -> None:
        for node in exported.graph.nodes:
            if node.op == op:
                node.meta.pop(key, None)

    return spoil


def saying(key: str, value: Any) -> Spoil:
    def spoil(exported: Any) -> None:
        calls(exported)[0].meta[key] = value

    return spoil


def of_val(make: Callable[[Any], Any], op: str = "call_function") -> Spoil:
    def spoil(exported: Any) -> None:
        node = (calls if op == "call_function" else inputs)(exported)[0]
        node.meta["val"] = make(node.meta["val"])

    return spoil


# The signature and the other members


def swap_inputs(exported: Any) -> None:
    specs = exported.graph_signature.input_specs
    specs[0], specs[-1] = specs[-1], specs[0]


def of_input(place: int, **members: Any) -> Spoil:
    def spoil(exported: Any) -> None:
        for name, value in members.items():
            setattr(exported.graph_signature.input_specs[place], name, value)

    return spoil


def of_output(place: int, **members: Any) -> Spoil:
    def spoil(exported: Any) -> None:
        for name, value in members.items():
            setattr(exported.graph_signature.output_specs[place], name, value)

    return spoil


def drop_input(place: int) -> Spoil:
    def spoil(exported: Any) -> None:
        exported.graph.erase_node(inputs(exported)[place])
        del exported.graph_signature.input_specs[place]

    return spoil


def drop_result(exported: Any) -> None:
    node = exported.graph.output_node()
    node.args = (node.args[0][:-1],)
    exported.graph_signature.output_specs.pop()


def reverse_outputs(exported: Any) -> None:
    exported.graph_signature.output_specs.reverse()
    node = exported.graph.output_node()
    node.args = (node.args[0][::-1],)


def settable(name: str) -> Spoil:
    def spoil(exported: Any) -> None:
        inner = getattr(ExportedProgram, name)
        exported.__class__ = type("Open", (ExportedProgram,), {name: property(inner.fget, lambda self, value: None)})

    return spoil


def other_value(exported: Any) -> None:
    exported.state_dict["weight"] = exported.state_dict["weight"] + 1


def no_value(exported: Any) -> None:
    del exported.state_dict["count"]


def unranged_symbol(exported: Any) -> None:
    inputs(exported)[0].meta["val"] = with_symbolic_sizes(((torch.ones(2, 3),), {}), (2,))[0][0]


# What it does


def lost_write(exported: Any) -> None:
    for node in calls(exported):
        if node.target in (torch.ops.aten.add_.Tensor, torch.ops.aten.mul_.Tensor) and not node.users:
            exported.graph.erase_node(node)


def other_structure(exported: Any) -> None:
    signature = exported.module_call_graph[0].signature
    signature.out_spec = pytree.tree_structure([0, 0])


def refuse(exported: Any) -> None:
    raise AssertionError("internal")


SIN_, ONE_MORE = torch.ops.aten.sin_.default, TensorArgument("one_more")
_ROWS: tuple[tuple[Any, ...], ...] = (
    ("E1", "a placeholder after a call", late_placeholder),
    ("E1", "two outputs", second_output),
    ("E1", "a method is called", method_called),
    ("E1", "a node is used before it is made", used_before_made),
    ("E1", "code that can't be run", returning("missing")),
    ("E1", "code that gives something else", returning("(args_0, args_1)")),
    ("E1", "a graph that can't be interpreted", unknown_shape),
    ("E2", "a parameter is read", tensor_read),
    ("E2", "a text is read", text_read),
    ("E2", "a parameter is read in a branch", tensor_read_in_branch, CONTROL),
    ("E3", "two rows of inputs are swapped", swap_inputs, STATEFUL),
    ("E3", "an input is called otherwise", of_input(0, arg=ONE_MORE)),
    ("E3", "a parameter is called a buffer", of_input(0, kind=InputKind.BUFFER, persistent=True), STATEFUL),
    ("E3", "a buffer is said not to persist", of_input(1, persistent=False), STATEFUL),
    ("E3", "a buffer is said to persist", of_input(2, persistent=True), STATEFUL),
    ("E3", "a parameter that the module does not hold", of_input(0, target="other"), STATEFUL),
    ("E3", "a constant that is not there", of_input(0, kind=InputKind.CONSTANT_TENSOR, target="c"), STATEFUL),
    ("E3", "an input of the user is lost", drop_input(1)),
    ("E3", "an output of the user is lost", drop_result),
    ("E3", "an output is called otherwise", of_output(0, arg=ONE_MORE)),
    ("E3", "a mutation that eager does not do", of_output(0, kind=OutputKind.BUFFER_MUTATION, target="scale"), STATEFUL),
    ("E3", "a mutation of an input is no output", drop_written_buffer, WRITTEN_INPUT, DECOMPOSED),
    ("E3", "mutations come last", reverse_outputs, STATEFUL, DECOMPOSED),
    ("E4", "a function of torch is called", call_of(torch.sin)),
    ("E4", "an op without its overload is called", call_of(torch.ops.aten.sin)),
    ("E4", "an op that writes, after the decomposition", call_of(SIN_), TWO_CALLS, DECOMPOSED),
    ("E4", "a written buffer is no output", drop_written_buffer, STATEFUL, DECOMPOSED),
    ("E5", "no val", without("val")),
    ("E5", "no stack trace", without("stack_trace")),
    ("E5", "no module stack", without("nn_module_stack")),
    ("E5", "no function of torch", without("torch_fn")),
    ("E5", "a placeholder without val", without("val", "placeholder")),
    ("E5", "a stack trace of no file", saying("stack_trace", "unknown")),
    ("E5", "a module that is not there", saying("nn_module_stack", {"L": ("other", "torch.nn.Module")}), MODULE_IN_MODULE),
    ("E5", "a module of another class", saying("nn_module_stack", {"L": ("layer", "torch.nn.Linear")}), MODULE_IN_MODULE),
    ("E6", "another dtype", of_val(lambda val: val.double())),
    ("E6", "another shape", of_val(lambda val: val.t())),
    ("E6", "another rank", of_val(lambda val: val[0])),
    ("E6", "other strides", of_val(lambda val: val.t().contiguous().t())),
    ("E6", "another device", of_val(lambda val: val.to("meta"))),
    ("E6", "a tensor is said to be none", of_val(lambda val: None)),
    ("E6", "a tensor is said to be a tuple", of_val(lambda val: (val,))),
    ("E6", "a tensor is said to be a number", of_val(lambda val: 2)),
    ("E6", "an input of another dtype", of_val(lambda val: val.double(), "placeholder")),
    ("E6", "fewer results than there are", of_val(lambda val: val[:-1]), SEVERAL_RESULTS),
    ("E6", "after the decomposition, another dtype", of_val(lambda val: val.double()), TWO_CALLS, DECOMPOSED),
    *(("E7", f"{name} may be set", settable(name)) for name in ("graph", "graph_module", "state_dict", "graph_signature")),
    ("E7", "range_constraints may be set", settable("range_constraints")),
    ("E7", "it is not valid", without("val")),
    ("E7", "another value of a parameter", other_value, STATEFUL),
    ("E7", "no value of a buffer", no_value, STATEFUL),
    ("E7", "a symbol without a range", unranged_symbol),
    ("E8", "another function", call_of(torch.ops.aten.cos.default)),
    ("E8", "another function after the decomposition", call_of(torch.ops.aten.cos.default), TWO_CALLS, DECOMPOSED),
    ("E8", "another function after a load", call_of(torch.ops.aten.cos.default), TWO_CALLS, LOADED),
    ("E8", "a write to a buffer is lost", lost_write, STATEFUL),
    ("E8", "a write to an input is lost", lost_write, WRITTEN_INPUT),
    ("E8", "another structure", other_structure),
    ("E8", "the export is refused", refuse),
    ("E8", "the decomposition is refused", refuse, TWO_CALLS, DECOMPOSED),
    ("E8", "the load is refused", refuse, TWO_CALLS, LOADED),
    ("E11", "no cond in the graph", no_control_flow, CONTROL),
    ("E11", "a cond without subgraphs", no_subgraphs, CONTROL),
)
WRONG_EXPORTS = tuple(WrongExport(*row) for row in _ROWS)
