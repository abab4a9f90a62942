"""A snapshot tells a graph whatever its nodes are called, and stored ones are compared, written, and kept whole."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from torch import fx

import golden
from conformance.case import Case
from conformance.exporting import arguments_for, export
from conformance.named import load_case
from conformance.pytorch import PyTorch
from conformance.snapshot import snapshot, without_graph
from conformance.stored import Snapshots, baseline, damages, known_versions, told, why_no_update, write
from generators.build import build
from generators.program import Program
from reports.graph_changes import classify
from tests import programs


def exported(program: Program) -> Case:
    """A case with nothing but its joint graph."""
    built = build(program)
    case = Case(program, "cpu", PyTorch(), thorough=False, built=built)
    with ExitStack() as stack:
        case.joint = export(case.implementation, stack, built, arguments_for(built))
    return case


def calls(case: Case) -> list[fx.Node]:
    return list(case.joint.graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.cos.default))


def lines(program: Program) -> list[str]:
    return snapshot(exported(program)).splitlines()


TWO_SINES = programs.ALIASED_INPUTS


def test_two_exports_give_one_snapshot() -> None:
    assert snapshot(exported(programs.SUBCLASSES)) == snapshot(exported(programs.SUBCLASSES))


def test_names_do_not_show_but_in_the_header() -> None:
    case = exported(programs.ONE_OUTPUT)
    before = snapshot(case)
    calls(case)[0]._rename("something_else")
    assert classify(before, snapshot(case)).kind == "cosmetic"


def test_the_order_of_independent_nodes_does_not_show() -> None:
    case = exported(TWO_SINES)
    before = snapshot(case)
    next(node for node in case.joint.graph_module.graph.nodes if node.op == "call_function").prepend(calls(case)[0])
    assert classify(before, snapshot(case)).kind == "cosmetic"


def test_another_op_shows() -> None:
    case = exported(programs.ONE_OUTPUT)
    before = snapshot(case)
    calls(case)[0].target = torch.ops.aten.sin.default
    assert classify(before, snapshot(case)).kind == "graph"


def test_another_descriptor_shows() -> None:
    case = exported(programs.TWO_OUTPUTS)
    before = snapshot(case)
    case.joint.graph_module.graph.output_node().meta["desc"].reverse()
    assert classify(before, snapshot(case)).kind == "contract"


def test_an_input_is_told_with_dtype_shape_strides_and_descriptor() -> None:
    assert "i0: float32[2, 3][3, 1]  PlainAOTInput(idx=0)" in lines(programs.ONE_OUTPUT)


def test_an_output_is_told_with_its_descriptor() -> None:
    assert "return v0  PlainAOTOutput(idx=0)" in lines(programs.ONE_OUTPUT)


def test_a_call_says_whether_it_belongs_to_the_backward() -> None:
    assert "v1: float32[2, 3][3, 1] = aten.cos.default(i0)  # backward" in lines(programs.ONE_OUTPUT)


def test_symbols_are_numbered_by_first_use() -> None:
    assert "i2: s0  SubclassSizeAOTInput(base=PlainAOTInput(idx=0), idx=0)" in lines(programs.SYMBOLIC_SUBCLASS)


def test_random_numbers_keep_their_order() -> None:
    text = snapshot(exported(load_case(golden.CASES / "random_numbers.py").program))
    assert [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if "# in order" in line] == [
        "aten.rand_like.default",
        "aten.randn_like.default",
    ]


def test_called_graphs_stand_under_their_names() -> None:
    text = snapshot(exported(load_case(golden.CASES / "cond.py").program))
    assert [line for line in text.splitlines() if line.startswith("graph")] == ["graph0", "graph1", "graph2", "graph3"]


def test_nothing_exported_has_no_snapshot() -> None:
    assert snapshot(Case(programs.ONE_OUTPUT, "cpu", PyTorch(), thorough=False)) == ""


TEXT = "# case one\n# program 0123456789ab\n# torch 2.13.0\n\ni0: x  y\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Snapshots of two versions."""
    for version in ("2.9", "2.13"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "one.txt").write_text(TEXT.replace("2.13", version))
    return tmp_path


def test_versions_are_known_in_their_order(home: Path) -> None:
    assert known_versions(home) == ["2.9", "2.13"]


OWN_OR_OLDER = {"2.13.1+cpu": ("2.13", True), "2.16.0a0": ("2.13", False), "2.12.1": ("2.9", False)}


@pytest.mark.parametrize("version", OWN_OR_OLDER)
def test_a_version_is_compared_with_its_own_or_the_newest_older_one(home: Path, version: str) -> None:
    found = baseline(version, home)
    assert found is not None and (found.version, found.is_own) == OWN_OR_OLDER[version]


def test_the_oldest_version_has_nothing_to_compare_with(home: Path) -> None:
    assert baseline("2.8.0", home) is None


def look(home: Path, version: str, text: str) -> tuple[str, bool]:
    looked_at = Snapshots(version, False, True, home).look_at("one", text)
    assert looked_at is not None
    return looked_at[0].kind, looked_at[1]


def test_the_same_graph_is_no_failure(home: Path) -> None:
    assert look(home, "2.13.0", TEXT) == ("same", False)


def test_another_graph_of_the_same_version_is_a_failure(home: Path) -> None:
    assert look(home, "2.13.0", TEXT.replace("i0: x", "i0: z")) == ("contract", True)


def test_another_graph_of_another_patch_is_told(home: Path) -> None:
    assert look(home, "2.13.1", TEXT.replace("i0: x", "i0: z").replace("2.13.0", "2.13.1")) == ("contract", False)


def test_another_graph_of_a_new_version_is_told(home: Path) -> None:
    assert look(home, "2.16.0", TEXT.replace("i0: x", "i0: z")) == ("contract", False)


def test_a_missing_snapshot_of_a_known_version_is_a_failure(home: Path) -> None:
    (home / "2.13" / "one.txt").unlink()
    assert look(home, "2.13.0", TEXT) == ("contract", True)


def test_another_implementation_is_not_compared(home: Path) -> None:
    assert Snapshots("2.13.0", False, False, home).look_at("one", "") is None


def test_whole_snapshots_are_not_damaged(home: Path) -> None:
    assert list(damages(home / "2.13", {"one"})) == []


DAMAGES = {
    "no case of that name": ({"one"}, "two", TEXT),
    "missing": ({"one", "two"}, "one", TEXT),
    "the header does not say": ({"one"}, "one", TEXT.replace("2.13.0", "2.14.0")),
}


@pytest.mark.parametrize("complaint", DAMAGES)
def test_damaged_snapshots_are_told(home: Path, complaint: str) -> None:
    cases, name, text = DAMAGES[complaint]
    (home / "2.13" / f"{name}.txt").write_text(text)
    assert [complaint in line for line in damages(home / "2.13", cases)] == [True]


def test_what_is_written_is_read_again(home: Path) -> None:
    write({"one": TEXT, "two": TEXT}, "2.13.0", home)
    assert look(home, "2.13.0", TEXT) == ("same", False)


def test_writing_tells_what_changed_and_removes_orphans(home: Path) -> None:
    assert (write({"two": TEXT}, "2.13.0", home), (home / "2.13" / "one.txt").exists()) == (["one", "two"], False)


REFUSALS = {
    "CI": ({"CI": "true"}, None, "conformance.pytorch:PyTorch", False),
    "one process": ({}, 2, "conformance.pytorch:PyTorch", False),
    "PyTorch's own": ({}, None, "other:One", False),
    "all cases": ({}, None, "conformance.pytorch:PyTorch", True),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_writing_is_refused(reason: str) -> None:
    assert reason in why_no_update(*REFUSALS[reason])


def test_writing_by_hand_is_allowed() -> None:
    assert why_no_update({"CI": "0"}, None, "conformance.pytorch:PyTorch", False) == ""


def test_a_new_version_is_told_as_one(home: Path) -> None:
    seen = [{"snapshot": "graph", "case": "one", "change": "- x; + y"}]
    assert told(Snapshots("2.16.0", False, True, home), seen) == [
        "new version, compared with the newest older one: torch 2.16.0, compared with 2.13: 1 graph",
        "graph: one: - x; + y",
    ]


@pytest.mark.parametrize("version", known_versions())
def test_the_stored_snapshots_are_whole(version: str) -> None:
    assert list(damages(golden.SNAPSHOTS / version, {path.stem for path in golden.cases()})) == []


def test_a_case_without_a_graph_says_why() -> None:
    assert without_graph(programs.ONE_OUTPUT, "one", "not offered").splitlines()[-1] == "no graph: not offered"
