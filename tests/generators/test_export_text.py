"""Scripts about torch.export: they bring the module into the form that a violation is about, and look."""

from __future__ import annotations

from typing import Any

import pytest

from generators.export_text import FORMS
from generators.source import source
from tests.programs import BUFFERS_MUTATED, INFERENCE


def names_of(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "script"}
    exec(text, names)
    return names


@pytest.mark.parametrize("form", FORMS)
def test_a_script_of_a_right_export_says_ok(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    names_of(source(INFERENCE, title="E8: calls", path=f"{form}:outputs[0].value"))["main"]()
    assert capsys.readouterr().out.endswith("OK\n")


def test_a_script_of_a_module_with_state_says_ok(capsys: pytest.CaptureFixture[str]) -> None:
    names_of(source(BUFFERS_MUTATED, title="E8: calls", path="exported:outputs[0].value"))["main"]()
    assert capsys.readouterr().out.endswith("OK\n")


def test_a_script_of_what_is_on_the_graph_leaves_it_to_a_person() -> None:
    with pytest.raises(SystemExit, match="2"):
        names_of(source(INFERENCE, title="E5: metadata", path="exported:val of a placeholder"))["main"]()
