"""The house rules hold: which room may import which, how long files and functions are, what the README says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import golden
from conformance.profiles import PROFILES
from conformance.requirements import REQUIREMENTS
from conformance.shards import SHARD_SIZE, shards_for
from generators.strategies import MIXES

HOME = Path(__file__).parent.parent
ROOMS = ("reports", "conformance", "generators", "golden")
#: What each room may import of the project.
MAY_IMPORT = {
    "reports": {"reports"},
    "generators": {"generators"},
    "golden": {"golden"},
    "conformance": set(ROOMS),
}
SOURCES = sorted(path for room in (*ROOMS, "tests") for path in (HOME / room).rglob("*.py"))
README = (HOME / "README.md").read_text()


def imported_rooms(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_run_one_way(room: str) -> None:
    imported = {name for path in (HOME / room).rglob("*.py") for name in imported_rooms(path)}
    assert imported & {*ROOMS, "tests"} <= MAY_IMPORT[room]


def test_reports_know_no_torch() -> None:
    assert not any("torch" in imported_rooms(path) for path in (HOME / "reports").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(HOME)))
def test_no_file_is_over_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(HOME)))
def test_no_function_is_over_40_lines(path: Path) -> None:
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if f.end_lineno is not None and f.end_lineno - f.lineno >= 40] == []


def test_the_readme_names_every_profile_with_its_number_of_programs() -> None:
    told = {name: profile.programs for name, profile in PROFILES.items() if f"`{name}`" in README}
    numbers = [f"{n:,} " in README for n in told.values() if n]
    assert (set(told), all(numbers)) == (set(PROFILES), True)


def test_the_readme_counts_the_stored_programs() -> None:
    assert f"the {len(golden.files(golden.PROGRAMS))} stored programs" in README


def test_the_readme_names_paths_that_exist() -> None:
    named = set(re.findall(r"`((?:generators|conformance|golden|reports|tests)/[\w./]*)`", README))
    assert [path for path in named if not (HOME / path).exists()] == []


def test_the_readme_replays_what_exists() -> None:
    named = re.findall(r"joint-conformance (?:replay|bisect) ([\w-]+) ", README)
    known = {path.stem for folder in (golden.FINDINGS, golden.PROGRAMS) for path in golden.files(folder)}
    assert set(named) <= known


def test_the_readme_uses_a_mix_that_exists() -> None:
    assert set(re.findall(r'MIXES\["(\w+)"\]', README)) <= set(MIXES)


def test_quick_draws_at_least_2000_programs() -> None:
    assert len(shards_for(PROFILES["quick"].programs, 0)) * SHARD_SIZE >= 2000


def test_requirement_ids_are_unique_and_well_formed() -> None:
    assert all(re.fullmatch(r"[A-Z][1-9]\d*", id) and id == row.id for id, row in REQUIREMENTS.items())
