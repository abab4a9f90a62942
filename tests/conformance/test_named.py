"""Named cases are read as they are written, and those that are there can all be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch._functorch._aot_autograd.descriptors as d

import golden
from conformance.exported.case import Exported, export_walk
from conformance.exported.held import HELD
from conformance.judge import judge
from conformance.named import CaseError, load_case, read_case, short, stated_of
from conformance.pytorch import PyTorch
from conformance.rule import EXPORTED_RULES
from generators.build import build
from generators.codec import from_json, to_json
from generators.layers import LINES as LINES_OF_LAYERS
from generators.options import OPTIONS
from generators.program import Const, Leaf, Node, Program, Ref, State, Statement
from generators.source import source
from reports.graph_changes import classify
from tests import programs
from tests.wrong.cases import CASE, WRONG

TEXT = '''"""Why."""
x = tensor(2, 3)
w = parameter(2, 3)
self.weight = w
self.head.weight = w

def forward(x):
    y = x * self.weight
    z = y * self.head.weight
    return (z,)

inputs(Param("weight"), Plain(0))
outputs(Plain(0), None)
'''
every_case = pytest.mark.parametrize("path", golden.cases(), ids=lambda path: path.stem)


def body_of(line: str, *before: str) -> tuple[Statement, ...]:
    """The statements that one line of a forward of x and y becomes."""
    text = "\n".join(["x = tensor(2, 3)", "y = tensor(2, 3)", *before, "def forward(x, y):", f"    {line}", "    return x"])
    return read_case(f'"""Why."""\n{text}\ninputs()\noutputs()\n', "case").program.body


def with_line(line: str) -> Program:
    """The program of a case with one more line before its forward."""
    return read_case(TEXT.replace("\ndef forward", f"\n{line}\ndef forward"), "case").program


def test_a_case_is_its_program() -> None:
    assert read_case(TEXT, "case").program == programs.TIED_PARAMETERS


def test_a_case_says_why() -> None:
    assert read_case(TEXT, "case").why == "Why."


def test_a_case_states_its_descriptors() -> None:
    stated = read_case(TEXT, "case").stated
    assert (stated.inputs, stated.outputs) == (("Param('weight')", "Plain(0)"), ("Plain(0)", "None"))


def test_a_descriptor_is_written_as_its_class_is_called() -> None:
    descriptor = d.SubclassGetAttrAOTOutput(base=d.GradAOTOutput(grad_of=d.ParamAOTInput(target="w")), attr="a")
    assert short(descriptor) == "SubclassGetAttr(Grad(Param('w')), 'a')"


def test_no_descriptor_is_none() -> None:
    assert short(None) == "None"


LINES = {
    "z = x * 2": Statement("scale", ("a0",), (2,), ("v0",)),
    "z = x * y": Statement("mul", ("a0", "a1"), (), ("v0",)),
    "z = x.to(torch.int64)": Statement("to", ("a0",), ("int64",), ("v0",)),
    "z, u = x.chunk(2, 0)": Statement("chunk", ("a0",), (0,), ("v0", "v1")),
    "x[0] = 1": Statement("set_row", ("a0",), (0, 1)),
    "x.t_()": Statement("t_", ("a0",)),
    "note(x)": Statement("note", ("a0",)),
    "z = torch.roll(x, -1, 0)": Statement("roll", ("a0",), (-1, 0), ("v0",)),
    "z = F.layer_norm(x, (3,))": Statement("layer_norm", ("a0",), ((3,),), ("v0",)),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_the_call_that_it_writes(line: str) -> None:
    assert body_of(line) == (LINES[line],)


def test_a_block_gives_its_lines_their_mode() -> None:
    assert body_of("with torch.no_grad(): z = torch.sin(x)") == (Statement("sin", ("a0",), (), ("v0",), "no_grad"),)


def test_a_call_says_how_arguments_are_nested() -> None:
    program = with_line("call([x], 2, by={'z': x})")
    told = (Node("list", (Ref("x0"),)), Const(2)), (("by", Node("dict", (Ref("x0"),), ("z",))),)
    assert (program.args, program.kwargs) == told


def test_a_leaf_is_of_the_subclass_that_makes_it() -> None:
    assert with_line("p = pair(4, requires_grad=True)").leaves[-1] == Leaf("x2", (4,), requires_grad=True, subclass="pair")


def test_what_the_caller_computes_is_its_setup() -> None:
    assert with_line("h = x.t()").setup == (Statement("t", ("x0",), (), ("x2",)),)


def test_a_buffer_may_be_no_part_of_the_state() -> None:
    assert with_line('self.register_buffer("b", x, persistent=False)').state[-1] == State("b", "x0", persistent=False)


def test_marks_are_those_of_the_program() -> None:
    program = with_line('dress("eval"); options("min_cut"); symbolic(2)')
    assert (program.dressing, program.options, program.symbolic) == (("eval",), ("min_cut",), (2,))


def test_a_layer_brings_its_state() -> None:
    assert [state.fqn for state in with_line("self.layer = linear").state[-2:]] == ["layer.weight", "layer.bias"]


DAMAGES = {
    "z = x ** self": "no op of the vocabulary",
    "z = torch.sin(q)": "'q'",
    "with torch.nothing(): z = torch.sin(x)": "no mode",
    "z = __import__('os')": "no op of the vocabulary",
}


@pytest.mark.parametrize("line", DAMAGES)
def test_a_line_that_is_no_call_is_named(line: str) -> None:
    with pytest.raises(CaseError, match=DAMAGES[line]):
        body_of(line)


NO_CASES = ("", "x = (", "def forward(x): pass", TEXT.replace("outputs", "given"), TEXT.replace('"""', "# "))


@pytest.mark.parametrize("text", NO_CASES)
def test_a_damaged_case_is_told_by_name(text: str) -> None:
    with pytest.raises(CaseError, match=r"^case: line "):
        read_case(text, "case")


@every_case
def test_every_case_says_what_holds_in_one_sentence(path: Path) -> None:
    assert load_case(path).why.endswith((".", ")."))


@every_case
def test_every_case_is_a_program_that_can_be_stored(path: Path) -> None:
    program = load_case(path).program
    assert from_json(to_json(program)) == program


@every_case
def test_a_case_that_goes_through_torch_export_is_called_so(path: Path) -> None:
    assert bool(load_case(path).stated.form) is (path in golden.exported_cases())


def test_no_form_of_an_export_but_those_that_have_a_signature() -> None:
    with pytest.raises(CaseError, match="no form of an exported program: unflattened"):
        with_line('torch_export("unflattened")')


BUFFER = load_case(golden.CASES / "export_written_buffer.py")
OTHER_ROWS = {
    "another kind": replace(BUFFER.stated, outputs=("UserInputMutation(0)", "UserOutput(0)")),
    "another target": replace(BUFFER.stated, inputs=("Buffer('sum')", "UserInput(0)")),
    "other persistence": replace(BUFFER.stated, inputs=("Buffer('count', persistent=False)", "UserInput(0)")),
    "one more": replace(BUFFER.stated, outputs=(*BUFFER.stated.outputs, "UserOutput(1)")),
}


@pytest.fixture(scope="module")
def exported() -> Exported:
    return export_walk(BUFFER.program, PyTorch(), stated=BUFFER.stated)


@pytest.mark.parametrize("other", OTHER_ROWS)
def test_a_signature_that_is_other_than_a_case_states_is_a_violation(other: str, exported: Exported) -> None:
    found = EXPORTED_RULES["E3"].judge(replace(exported, stated=OTHER_ROWS[other]))
    assert [violation.path.partition(": ")[0] for violation in found] == ["case export_written_buffer"]


def test_the_signature_of_pytorch_is_the_one_stated(exported: Exported) -> None:
    assert list(EXPORTED_RULES["E3"].judge(exported)) == []


def test_a_signature_is_part_of_the_snapshot(exported: Exported) -> None:
    assert "return v0  BufferMutation('count')" in exported.graph.splitlines()


def test_another_row_of_a_signature_is_a_change_of_the_contract(exported: Exported) -> None:
    assert classify(exported.graph, exported.graph.replace("Buffer('count')", "Parameter('count')")).kind == "contract"


def test_another_range_of_a_symbol_is_a_change_of_the_contract() -> None:
    case = load_case(golden.CASES / "export_dynamic_size.py")
    graph = export_walk(case.program, PyTorch(), stated=case.stated).graph
    assert classify(graph, graph.replace("s0 from 3 ", "s0 from 4 ")).kind == "contract"


def test_a_case_that_goes_through_torch_export_is_judged_by_its_chapter() -> None:
    checked = judge(BUFFER.program, PyTorch(), stated=BUFFER.stated).checked
    assert set(checked) <= EXPORTED_RULES.keys() and "E3" in checked


def test_no_two_cases_are_one_program() -> None:
    names = [load_case(path).program.name for path in golden.cases()]
    assert len(set(names)) == len(names) >= 80


def test_every_layer_has_a_case() -> None:
    cases = [*map(load_case, golden.cases()), *(read_case(text, name) for name, text in HELD.items())]
    assert set(LINES_OF_LAYERS) <= {name for case in cases for name in case.program.dressing}


def test_every_option_of_the_export_has_a_case() -> None:
    shown = {name for path in golden.cases() for name in load_case(path).program.options}
    assert {name for name, option in OPTIONS.items() if option.stage == "export"} <= shown


@pytest.mark.parametrize("name", ["conv_batch_norm", "lstm_cell", "tied_embeddings"])
def test_a_layer_holds_the_tensors_of_its_program(name: str) -> None:
    built = build(load_case(golden.CASES / f"{name}.py").program)
    assert all(built.state(state.fqn) is built.values[state.value] for state in built.program.state)


def test_the_script_of_a_layer_defines_it() -> None:
    assert "class ConvBatchNorm(nn.Module)" in source(load_case(golden.CASES / "conv_batch_norm.py").program)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.title)
def test_a_wrong_descriptor_of_a_case_is_a_new_violation(wrong: object) -> None:
    implementation = wrong.implementation()  # type: ignore[attr-defined]
    verdict = judge(CASE.program, implementation, only=("J3", "J4"), thorough=False, stated=CASE.stated)
    assert any(item.violation.path.startswith("case plain_input_and_output: ") for item in verdict.new)


def test_a_case_without_its_statement_is_judged_as_any_program() -> None:
    assert judge(CASE.program, WRONG[0].implementation(), only=("J3",), thorough=False).new == []  # type: ignore[misc]


def test_pytorch_keeps_the_case() -> None:
    assert judge(CASE.program, PyTorch(), only=("J3", "J4"), thorough=False, stated=CASE.stated).new == []


def test_the_statement_of_a_case_is_found_by_its_program() -> None:
    assert (stated_of(CASE.program), stated_of(Program())) == (CASE.stated, None)
