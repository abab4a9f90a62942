"""The stored programs are distilled from what is stored, campaigns and draws, and named ones stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import golden
from conformance.campaign.plan import Folder
from conformance.corpus import SHOWN, TEXTS, Sources, gather, measure, named_in, store, write
from conformance.distilling import Candidate, Choice
from conformance.sandbox import Job
from conformance.tracing import CoverageError
from conformance.vacuity import wanted_of
from generators.codec import dump
from generators.program import Leaf, Program
from tests.conformance.campaign.faked import campaign
from tests.programs import INFERENCE, ONE_OUTPUT, TWO_OUTPUTS

JOB = Job("conformance.pytorch:PyTorch")
NOTHING_ELSE = Sources((), 0, 0)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A folder of three programs, of which the second shows what the first does."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for program in (INFERENCE, ONE_OUTPUT, TWO_OUTPUTS):
        dump(program, folder / f"{program.name}.json")
    return folder


def candidate(program: Program) -> Candidate:
    """A candidate that shows nothing."""
    return Candidate(program, dict.fromkeys(SHOWN, frozenset()), 1.0)


def test_the_text_says_what_the_stored_programs_show(stored: Path) -> None:
    write(Choice((candidate(INFERENCE),), {}), stored)
    lines = store(NOTHING_ELSE, stored, 90.0, 1, JOB).splitlines()
    assert [line.split()[0] for line in lines] == ["stored", "replay", *["shown"] * len(SHOWN), "unfit"]


def test_what_is_measured_is_what_the_gate_judges() -> None:
    shows = measure((ONE_OUTPUT,), 1, replace(JOB, traced=True), lambda: None)[0].shows
    assert ("E1" in shows["requirements"], "C2" in shows["requirements"], len(shows["branches"]) > 100) == (True, True, True)


def test_a_program_that_kills_its_process_is_unfit() -> None:
    seven = replace(ONE_OUTPUT, leaves=(Leaf("x0", (7,), requires_grad=True),))
    assert measure((seven,), 1, Job("tests.conformance.misbehaving:Aborts", traced=True), lambda: None) == []


def test_without_the_coverage_package_nothing_is_stored(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.tracing.find_spec", lambda name: None)
    with pytest.raises(CoverageError, match="coverage"):
        store(NOTHING_ELSE, stored, 90.0, 1, JOB)


def test_what_was_not_chosen_is_taken_away(stored: Path) -> None:
    write(Choice((candidate(TWO_OUTPUTS),), {}), stored)
    assert [path.stem for path in golden.files(stored)] == [TWO_OUTPUTS.name]


def test_the_gate_must_show_what_the_stored_programs_show(stored: Path) -> None:
    write(Choice((candidate(TWO_OUTPUTS),), {}), stored)
    assert json.loads((stored.parent / "shown.json").read_text()) == wanted_of([TWO_OUTPUTS])


def test_the_failing_programs_of_a_campaign_are_candidates(tmp_path: Path) -> None:
    campaign(tmp_path / "campaign", shards=1).run()
    sources = Sources((Folder(tmp_path / "campaign"),), 0, 0)
    assert gather(sources, tmp_path / "programs", JOB).programs == (TWO_OUTPUTS,)


def test_what_a_campaign_kept_is_a_candidate(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "campaign")
    folder.keep(INFERENCE)
    assert gather(Sources((folder,), 0, 0), tmp_path / "programs", JOB).programs == (INFERENCE,)


def test_the_programs_that_the_readme_names_are_found() -> None:
    assert "01efdfa9cd28" in named_in(TEXTS)
