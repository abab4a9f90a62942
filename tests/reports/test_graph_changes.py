"""Two snapshots of a graph differ in nothing, in names, in the graph, or in the contract."""

from __future__ import annotations

import pytest

from reports.graph_changes import MOST_LINES, classify

BEFORE = """\
# case example
# program 0123456789ab
# torch 2.13.0
# nodes 00000000

params weight
buffers count

i0: float32[2, 3][3, 1]  ParamAOTInput(target='weight')
i1: float32[2, 3][3, 1]  PlainAOTInput(idx=0)
i2: float32[2, 3][3, 1]  TangentAOTInput(output=PlainAOTOutput(idx=0))
v0: float32[2, 3][3, 1] = aten.mul.Tensor(i1, i0)
v1: float32[2, 3][3, 1] = cond(v0, graph0)
v2: float32[2, 3][3, 1] = aten.cos.default(i1)
v3: float32[2, 3][3, 1] = aten.mul.Tensor(i2, v2)  # backward
return v1  PlainAOTOutput(idx=0)
return v3  GradAOTOutput(grad_of=ParamAOTInput(target='weight'))
return None  None

graph0
  i0: float32[2, 3][3, 1]
  v0: float32[2, 3][3, 1] = aten.sin.default(i0)
  return v0
"""
TANGENT = "i2: float32[2, 3][3, 1]  TangentAOTInput(output=PlainAOTOutput(idx=0))"
COS = "v2: float32[2, 3][3, 1] = aten.cos.default(i1)\n"
MUL = "v0: float32[2, 3][3, 1] = aten.mul.Tensor(i1, i0)\n"


def changed(*pairs: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


#: A title, what is another, and the kind of that change.
CHANGES = {
    "nothing": ("same", changed()),
    "the header": ("same", changed(("2.13.0", "2.14.1"), ("0123456789ab", "ba9876543210"), ("example", "other"))),
    "names of nodes": ("cosmetic", changed(("nodes 00000000", "nodes 11111111"))),
    "names of values": ("cosmetic", changed(("v2", "v9"))),
    "order of independent nodes": ("cosmetic", changed((COS, ""), (MUL, COS + MUL))),
    "an op": ("graph", changed(("aten.cos.default", "aten.sin.default"))),
    "an op more": ("graph", changed(("v3: float32", "v4: float32[2, 3][3, 1] = aten.neg.default(i1)\nv3: float32"))),
    "operands": ("graph", changed(("aten.mul.Tensor(i1, i0)", "aten.mul.Tensor(i0, i1)"))),
    "the dtype between": ("graph", changed(("v2: float32", "v2: float64"))),
    "the strides between": ("graph", changed(("v2: float32[2, 3][3, 1]", "v2: float32[2, 3][1, 2]"))),
    "whether it belongs to the backward": ("graph", changed(("  # backward", ""))),
    "a called graph": ("graph", changed(("aten.sin.default(i0)", "aten.tan.default(i0)"))),
    "a descriptor": ("contract", changed(("  PlainAOTInput(idx=0)", "  PlainAOTInput(idx=1)"))),
    "the order of descriptors": ("contract", changed((TANGENT, "i2: x"), ("i0: ", f"{TANGENT}\ni0: "), ("i2: x\n", ""))),
    "an input less": ("contract", changed((TANGENT + "\n", ""))),
    "an output more": ("contract", changed(("return None  None", "return None  None\nreturn None  None"))),
    "the strides of an input": ("contract", changed((TANGENT, TANGENT.replace("[3, 1]", "[1, 2]")))),
    "what an output is": ("contract", changed(("return v1", "return i1"))),
    "whether outputs alias": ("contract", changed(("return v3", "return v1"))),
    "what is written": ("contract", changed(("aten.cos.default(i1)", "aten.cos_.default(i1)"))),
    "the names of parameters": ("contract", changed(("params weight", "params weight, bias"))),
    "that there is none": ("contract", "# torch 2.9.1\n\nno graph: the option is not offered"),
    "that there is no text": ("contract", ""),
}


@pytest.mark.parametrize("title", CHANGES)
def test_a_change_is_of_its_kind(title: str) -> None:
    kind, after = CHANGES[title]
    assert classify(BEFORE, after).kind == kind


@pytest.mark.parametrize("title", CHANGES)
def test_a_change_back_is_of_the_same_kind(title: str) -> None:
    kind, after = CHANGES[title]
    assert classify(after, BEFORE).kind == kind


@pytest.mark.parametrize("title", [title for title, (kind, _) in CHANGES.items() if kind != "same"])
def test_a_change_is_told(title: str) -> None:
    assert classify(BEFORE, CHANGES[title][1]).lines


def test_an_op_is_told_with_what_took_its_place() -> None:
    lines = classify(BEFORE, CHANGES["an op"][1]).lines
    assert lines == ("- float32[2, 3][3, 1] = aten.cos.default(i1)", "+ float32[2, 3][3, 1] = aten.sin.default(i1)")


def test_a_contract_change_is_told_by_descriptor() -> None:
    lines = classify(BEFORE, CHANGES["a descriptor"][1]).lines
    assert lines == ("- takes PlainAOTInput(idx=0): float32[2, 3][3, 1]", "+ takes PlainAOTInput(idx=1): float32[2, 3][3, 1]")


def test_why_there_is_no_graph_is_told() -> None:
    assert classify(BEFORE, CHANGES["that there is none"][1]).lines == ("a graph, then no graph: the option is not offered",)


def test_two_texts_without_a_graph_are_the_same() -> None:
    assert classify("", "no graph: another reason").kind == "same"


def test_a_large_change_is_told_in_few_lines() -> None:
    more = "".join(f"v{n}: float32[2, 3][3, 1] = aten.neg.default(i1, {n})\n" for n in range(10, 99))
    assert len(classify(BEFORE, changed(("v3: float32", f"{more}v3: float32"))).lines) == MOST_LINES + 1


def test_graphs_that_call_one_another_end() -> None:
    text = changed(("aten.sin.default(i0)", "call(graph0, graph1)")) + "\ngraph1\n  v0: x = call(graph0)\n"
    assert classify(text, text).kind == "same"


@pytest.mark.parametrize("text", ["x", "return", "i0: \nv0 = \n", "graph0\n  \x00", "<script>alert(1)</script>"])
def test_any_text_can_be_compared(text: str) -> None:
    assert classify(BEFORE, text).kind == "contract"
