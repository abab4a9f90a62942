"""A whole run must show every op, every descriptor kind, and what drawing showed; a part of it need not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import golden
from conformance import vacuity
from conformance.rules.vocabulary import KINDS
from conformance.vacuity import (
    WANTED,
    documented_kinds,
    looks_at_everything,
    not_expected,
    read_wanted,
    wanted,
    wanted_of,
    write_wanted,
)
from generators.codec import load
from generators.features import features
from generators.vocabulary import OPS
from tests.programs import INFERENCE, ONE_OUTPUT

CONFORMANCE = Path(vacuity.__file__).parent


def configuration(*args: str, **options: object) -> SimpleNamespace:
    """What of a pytest configuration tells how a run is restricted."""
    given = {"keyword": "", "profile": "gate", "programs": None, "minutes": None, **options}
    directory = SimpleNamespace(dir=CONFORMANCE.parent)
    return SimpleNamespace(option=SimpleNamespace(**given), args=list(args or ["conformance/"]), invocation_params=directory)


def test_kinds_come_in_the_order_of_the_reference() -> None:
    kinds = documented_kinds()
    assert (kinds[0], kinds[16], kinds[-1]) == ("PlainAOTInput", "PlainAOTOutput", "DummyAOTOutput")


def test_every_kind_that_is_not_expected_is_documented() -> None:
    reference = {kind.name for kind in KINDS}
    assert {*vacuity.NOT_ON_JOINT_GRAPHS, *vacuity.NEEDS_GPU} <= reference


@pytest.mark.parametrize(("devices", "expected"), [(("cpu",), True), (("cpu", "cuda"), False)])
def test_what_needs_a_gpu_is_expected_where_there_is_one(devices: tuple[str, ...], expected: bool) -> None:
    assert ("PhiloxBackwardSeedAOTInput" in not_expected(devices)) == expected


def test_every_op_and_every_expected_kind_is_demanded() -> None:
    kinds = set(documented_kinds()) - not_expected(("cpu",)).keys()
    assert {*(f"op:{op.name}" for op in OPS), *(f"descriptor:{kind}" for kind in kinds)} <= wanted(("cpu",)).keys()


def test_an_op_that_no_stored_program_was_to_show_is_demanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wanted({"op:sin": 1}, tmp_path / "shown.json")
    monkeypatch.setattr(golden, "SHOWN", tmp_path / "shown.json")
    demands = wanted(("cpu",))
    assert (demands["op:sin"], demands["op:cos"]) == (1, WANTED)


def test_no_kind_that_is_not_expected_is_demanded() -> None:
    assert not {f"descriptor:{kind}" for kind in not_expected(("cpu",))} & wanted(("cpu",)).keys()


def test_a_feature_is_wanted_no_more_often_than_it_was_drawn() -> None:
    demands = wanted_of([INFERENCE, ONE_OUTPUT, ONE_OUTPUT])
    assert (demands["op:sin"], demands["grad:leaf"]) == (2, 1)


def test_what_is_wanted_comes_back_from_its_file(tmp_path: Path) -> None:
    write_wanted({"op:sin": 2}, tmp_path / "shown.json")
    assert read_wanted(tmp_path / "shown.json") == {"op:sin": 2}


@pytest.mark.parametrize("content", [None, '{"op:sin": 2', "[]", '{"op:sin": 0}', '{"op:sin": true}', '{"op:sin": "2"}'])
def test_a_missing_or_damaged_file_says_how_it_is_written_anew(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "shown.json").write_text(content)
    with pytest.raises(ValueError, match=r"shown.json: .*`joint-conformance store` writes it anew"):
        read_wanted(tmp_path / "shown.json")


def test_the_stored_programs_are_a_part_of_what_is_demanded() -> None:
    shown = {trait for path in golden.files(golden.PROGRAMS) for trait in features(load(path))}
    assert shown <= read_wanted(golden.SHOWN).keys()


@pytest.mark.parametrize(
    "run",
    [
        configuration(),
        configuration(profile="quick"),
        configuration("."),
        configuration(str(CONFORMANCE)),
        configuration("conformance/test_drawn.py", "conformance/test_stored.py"),
    ],
)
def test_a_run_that_nothing_restricts_looks_at_everything(run: pytest.Config) -> None:
    assert looks_at_everything(run)


@pytest.mark.parametrize(
    "run",
    [
        configuration(keyword="J6"),
        configuration(profile="nightly"),
        configuration(programs=2250),
        configuration(minutes=1.0),
        configuration(maxfail=1),
        configuration(deselect=["conformance/test_stored.py"]),
        configuration("conformance/test_stored.py"),
        configuration("conformance/test_stored.py::test_stored_program", "conformance/test_drawn.py"),
        configuration("tests"),
    ],
)
def test_a_run_that_is_told_to_look_at_a_part_does_not(run: pytest.Config) -> None:
    assert not looks_at_everything(run)
