"""Scripts about torch.export: they bring the module into the form that a violation is about, and look."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import pytest

from generators.export_text import FORMS
from generators.program import Leaf, Node, Program, Ref
from generators.source import source
from tests.programs import BUFFERS_MUTATED, INFERENCE, ONE_OUTPUT, TWO_OUTPUTS, let

#: Reads a script, and gives its main function.
MainOf: TypeAlias = "Callable[[str], Callable[[], None]]"

#: A keyword argument with a dynamic size.
DYNAMIC_KEYWORD = Program(
    (Leaf("x0", (3, 4)),),
    kwargs=(("k", Ref("x0")),),
    body=(let("v0", "sin", "a0"),),
    outputs=Node("tuple", (Ref("v0"),)),
    symbolic=(3,),
)


@pytest.fixture
def main_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainOf:
    """The main function of a script, which is in a file and can be imported: Dynamo looks it up."""

    def read(text: str) -> Callable[[], None]:
        path, script = tmp_path / "script.py", ModuleType("script")
        path.write_text(text, encoding="utf-8")
        monkeypatch.setitem(sys.modules, "script", script)
        exec(compile(text, str(path), "exec"), vars(script))
        return script.main  # type: ignore[no-any-return]

    return read


@pytest.mark.parametrize("form", FORMS)
def test_a_script_of_a_right_export_says_ok(form: str, main_of: MainOf, capsys: pytest.CaptureFixture[str]) -> None:
    main_of(source(INFERENCE, title="E8: calls", path=f"{form}:outputs[0].value"))()
    assert capsys.readouterr().out.endswith("OK\n")


@pytest.mark.parametrize("place", ["grads.x0.value", "differentiable.plain"])
def test_a_script_of_right_gradients_says_ok(place: str, main_of: MainOf, capsys: pytest.CaptureFixture[str]) -> None:
    main_of(source(TWO_OUTPUTS, title="E8: calls", path=f"exported:{place}"))()
    assert capsys.readouterr().out.endswith("OK\n")


def test_a_script_of_wrong_gradients_fails(main_of: MainOf) -> None:
    function = replace(ONE_OUTPUT, body=(let("v0", "fresh_in_place", "a0"),))
    with pytest.raises(SystemExit, match="1"):
        main_of(source(function, title="E8: calls", path="exported:grads.x0.value"))()


def test_a_script_of_a_module_with_state_says_ok(main_of: MainOf, capsys: pytest.CaptureFixture[str]) -> None:
    main_of(source(BUFFERS_MUTATED, title="E8: calls", path="exported:outputs[0].value"))()
    assert capsys.readouterr().out.endswith("OK\n")


def test_a_script_of_what_is_on_the_graph_leaves_it_to_a_person(main_of: MainOf) -> None:
    with pytest.raises(SystemExit, match="2"):
        main_of(source(INFERENCE, title="E5: metadata", path="exported:val of a placeholder"))()


@pytest.mark.parametrize(("form", "taken"), [("exported", "*args, **kwargs"), ("strict", "k")])
def test_a_script_about_sizes_of_keywords_takes_them_as_what_was_exported_does(form: str, taken: str) -> None:
    assert f"def forward(self, {taken}):" in source(DYNAMIC_KEYWORD, title="E8: calls", path=f"{form}:error")
