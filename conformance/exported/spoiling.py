"""Small things done to an exported program in place, each of which makes it wrong: what corruptions are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx, nn
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument, TokenArgument

from generators.preludes.symbolic import with_symbolic_sizes

#: Something done to an exported program, in place.
Spoil = Callable[[Any], None]


def calls(exported: Any) -> list[fx.Node]:
    """The graph's calls, in order."""
    return [node for node in exported.graph.nodes if node.op == "call_function"]


def inputs(exported: Any) -> list[fx.Node]:
    """The graph's placeholders, in order."""
    return [node for node in exported.graph.nodes if node.op == "placeholder"]


def results(exported: Any) -> list[Any]:
    """What the graph returns."""
    return list(exported.graph.output_node().args[0])


def return_of(exported: Any, returned: list[Any]) -> None:
    """Let the graph return these."""
    exported.graph.output_node().args = (tuple(returned),)


def branch_of(exported: Any) -> fx.GraphModule:
    """The first graph that the graph calls."""
    called = (module for module in exported.graph_module.modules() if isinstance(module, fx.GraphModule))
    return next(module for module in called if module is not exported.graph_module)


# What the graph is made of


def late_placeholder(exported: Any) -> None:
    calls(exported)[0].append(inputs(exported)[1])


def second_output(exported: Any) -> None:
    exported.graph.output((calls(exported)[0],))


def no_output(exported: Any) -> None:
    exported.graph.erase_node(exported.graph.output_node())


def output_first(exported: Any) -> None:
    calls(exported)[0].prepend(exported.graph.output_node())


def method_called(exported: Any) -> None:
    node = calls(exported)[0]
    node.op, node.target = "call_method", "sin"


def module_called(exported: Any) -> None:
    exported.graph_module.add_submodule("sine", nn.Identity())
    node = calls(exported)[0]
    node.op, node.target = "call_module", "sine"


def used_before_made(exported: Any) -> None:
    first, second = calls(exported)[:2]
    first.prepend(second)


def one_name_for_two(exported: Any) -> None:
    first, second = calls(exported)[:2]
    second.name = first.name


def returning(text: str) -> Spoil:
    """The graph's Python ends so."""

    class Other(fx.graph.CodeGen):
        def generate_output(self, output_args: Any, **options: Any) -> str:
            return f"return {text}"

    return lambda exported: exported.graph.set_codegen(Other())


def operands_that_do_not_fit(exported: Any) -> None:
    calls(exported)[1].target = torch.ops.aten.mm.default
    calls(exported)[1].args = (calls(exported)[0], calls(exported)[0])


def reading(value: Any) -> Spoil:
    """The first call takes what a get_attr reads."""

    def spoil(exported: Any) -> None:
        exported.graph_module.held = value
        with exported.graph.inserting_before(calls(exported)[0]):
            node = exported.graph.create_node("get_attr", "held")
        node.meta["val"] = inputs(exported)[0].meta["val"]
        calls(exported)[0].args = (node,)

    return spoil


def buffer_read(exported: Any) -> None:
    reading(nn.Buffer(torch.ones(2, 3)))(exported)


def nothing_read(exported: Any) -> None:
    with exported.graph.inserting_before(calls(exported)[0]):
        exported.graph.create_node("get_attr", "not_there")


def tensor_read_in_branch(exported: Any) -> None:
    branch = branch_of(exported)
    branch.held = nn.Parameter(torch.ones(3))
    with branch.graph.inserting_before(next(node for node in branch.graph.nodes if node.op == "call_function")):
        branch.graph.get_attr("held")


def call_of(target: Any) -> Spoil:
    """The first call calls ``target``."""

    def spoil(exported: Any) -> None:
        calls(exported)[0].target = target

    return spoil


def call_in_branch_of(target: Any) -> Spoil:
    """The first call of the first graph that the graph calls is one of ``target``."""

    def spoil(exported: Any) -> None:
        branch = branch_of(exported)
        next(node for node in branch.graph.nodes if node.op == "call_function").target = target
        branch.recompile()

    return spoil


def no_control_flow(exported: Any) -> None:
    node = next(node for node in calls(exported) if "cond" in str(node.target))
    node.target = torch.ops.higher_order.map_impl


def no_subgraphs(exported: Any) -> None:
    node = next(node for node in calls(exported) if "cond" in str(node.target))
    node.args = (node.args[0], None, None, *node.args[3:])


def branches_swapped(exported: Any) -> None:
    node = next(node for node in calls(exported) if "cond" in str(node.target))
    node.args = (node.args[0], node.args[2], node.args[1], *node.args[3:])


# What the nodes say


def without(key: str, op: str = "call_function") -> Spoil:
    """No node of this op has the metadata."""

    def spoil(exported: Any) -> None:
        for node in exported.graph.nodes:
            if node.op == op:
                node.meta.pop(key, None)

    return spoil


def last_without(key: str) -> Spoil:
    """The last call lacks the metadata."""
    return lambda exported: calls(exported)[-1].meta.pop(key)


def saying(key: str, value: Any) -> Spoil:
    """The first call has this metadata."""

    def spoil(exported: Any) -> None:
        calls(exported)[0].meta[key] = value

    return spoil


def of_val(make: Callable[[Any], Any], op: str = "call_function") -> Spoil:
    """The first node of this op has another ``val``, made of the right one."""

    def spoil(exported: Any) -> None:
        node = (calls if op == "call_function" else inputs)(exported)[0]
        node.meta["val"] = make(node.meta["val"])

    return spoil


# The signature


def swap_inputs(one: int, other: int) -> Spoil:
    """Two rows of inputs change places; the placeholders stay."""

    def spoil(exported: Any) -> None:
        specs = exported.graph_signature.input_specs
        specs[one], specs[other] = specs[other], specs[one]

    return spoil


def swap_targets(one: int, other: int) -> Spoil:
    """Two rows of inputs stand for what the other stood for, persistence and all."""

    def spoil(exported: Any) -> None:
        specs = exported.graph_signature.input_specs
        for name in ("kind", "target", "persistent"):
            before = getattr(specs[one], name)
            setattr(specs[one], name, getattr(specs[other], name))
            setattr(specs[other], name, before)

    return spoil


def swap_outputs(exported: Any) -> None:
    exported.graph_signature.output_specs.reverse()


def of_input(place: int, **members: Any) -> Spoil:
    """A row of the inputs has other members."""

    def spoil(exported: Any) -> None:
        for name, value in members.items():
            setattr(exported.graph_signature.input_specs[place], name, value)

    return spoil


def of_output(place: int, **members: Any) -> Spoil:
    """A row of the outputs has other members."""

    def spoil(exported: Any) -> None:
        for name, value in members.items():
            setattr(exported.graph_signature.output_specs[place], name, value)

    return spoil


def no_row_for_input(exported: Any) -> None:
    exported.graph_signature.input_specs.pop()


def one_row_more(exported: Any) -> None:
    exported.graph_signature.input_specs.append(InputSpec(InputKind.USER_INPUT, TensorArgument("one_more"), None))


def input_twice(exported: Any) -> None:
    """A second placeholder for the last input, with a row of its own."""
    last, specs = inputs(exported)[-1], exported.graph_signature.input_specs
    with exported.graph.inserting_after(last):
        node = exported.graph.placeholder("again")
    node.meta = dict(last.meta)
    specs.append(InputSpec(specs[-1].kind, TensorArgument(node.name), specs[-1].target, specs[-1].persistent))


def state_twice(exported: Any) -> None:
    """A second placeholder for the first parameter or buffer, with a row of its own."""
    first, specs = inputs(exported)[0], exported.graph_signature.input_specs
    with exported.graph.inserting_after(first):
        node = exported.graph.placeholder("again")
    node.meta = dict(first.meta)
    specs.insert(1, InputSpec(specs[0].kind, TensorArgument(node.name), specs[0].target, specs[0].persistent))


def renamed_placeholder(exported: Any) -> None:
    inputs(exported)[0].name = "renamed"


def drop_input(place: int) -> Spoil:
    """A placeholder that nothing needs, and its row, are gone."""

    def spoil(exported: Any) -> None:
        node = inputs(exported)[place]
        node.replace_all_uses_with(inputs(exported)[place - 1])
        exported.graph.erase_node(node)
        del exported.graph_signature.input_specs[place]

    return spoil


def drop_result(exported: Any, place: int = -1) -> None:
    returned = results(exported)
    del returned[place], exported.graph_signature.output_specs[place]
    return_of(exported, returned)


def extra_result(exported: Any) -> None:
    return_of(exported, [*results(exported), calls(exported)[0]])


def extra_result_with_row(exported: Any) -> None:
    extra_result(exported)
    argument = TensorArgument(calls(exported)[0].name)
    exported.graph_signature.output_specs.append(OutputSpec(OutputKind.USER_OUTPUT, argument, None))


def no_row_for_output(exported: Any) -> None:
    exported.graph_signature.output_specs.pop()


def reverse_outputs(exported: Any) -> None:
    exported.graph_signature.output_specs.reverse()
    return_of(exported, results(exported)[::-1])


def write_is_no_output(exported: Any) -> None:
    """The row of the first mutation says that it is the user's; nothing else changes."""
    specs = exported.graph_signature.output_specs
    specs[0] = OutputSpec(OutputKind.USER_OUTPUT, specs[0].arg, None)


def token_more(exported: Any) -> None:
    """The first input is taken for a token, and given back as one."""
    first, signature = inputs(exported)[0], exported.graph_signature
    signature.input_specs[0] = InputSpec(InputKind.TOKEN, TokenArgument(first.name), None)
    signature.output_specs.insert(0, OutputSpec(OutputKind.TOKEN, TokenArgument(first.name), None))
    return_of(exported, [first, *results(exported)])


# The other members


def other_value(exported: Any) -> None:
    exported.state_dict["weight"] = nn.Parameter(exported.state_dict["weight"].detach() + 1)


def parameter_as_plain_tensor(exported: Any) -> None:
    exported.state_dict["weight"] = exported.state_dict["weight"].detach()


def no_value(name: str) -> Spoil:
    """The parameter or buffer of this name is not in the state_dict."""
    return lambda exported: exported.state_dict.pop(name)


def value_of_what_does_not_persist(exported: Any) -> None:
    exported.state_dict["scale"] = exported.constants["scale"]


def no_constant(exported: Any) -> None:
    exported.constants.pop("lifted_tensor_0")


def other_constant(exported: Any) -> None:
    exported.constants["lifted_tensor_0"] = exported.constants["lifted_tensor_0"] + 1


def unranged_symbol(exported: Any) -> None:
    inputs(exported)[0].meta["val"] = with_symbolic_sizes(((torch.ones(2, 3),), {}), (2,))[0][0]


def unknown_in_call_graph(exported: Any) -> None:
    exported.module_call_graph[0].signature.inputs[0] = TensorArgument("not_there")


# What it does


def lost_write(exported: Any) -> None:
    for node in calls(exported):
        if node.target in (torch.ops.aten.add_.Tensor, torch.ops.aten.mul_.Tensor) and not node.users:
            exported.graph.erase_node(node)


def operands_swapped(exported: Any) -> None:
    difference = next(node for node in calls(exported) if node.target is torch.ops.aten.sub.Tensor)
    difference.args = difference.args[::-1]


def number_changed(exported: Any) -> None:
    node = next(node for node in calls(exported) if isinstance(node.args[-1], (int, float)))
    node.args = (*node.args[:-1], 77)


def other_structure(exported: Any) -> None:
    exported.module_call_graph[0].signature.out_spec = pytree.tree_structure([0, 0])


def nothing_written_back(exported: Any) -> None:
    """What a mutation is said to give is what the buffer was before."""
    place = next(i for i, s in enumerate(exported.graph_signature.output_specs) if s.kind is OutputKind.BUFFER_MUTATION)
    spec = exported.graph_signature.output_specs[place]
    before = next(s.arg.name for s in exported.graph_signature.input_specs if s.target == spec.target)
    returned = results(exported)
    returned[place] = next(node for node in inputs(exported) if node.name == before)
    return_of(exported, returned)
    spec.arg = TensorArgument(before)
