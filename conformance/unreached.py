"""What of some source files a run reached: lines and branches as two numbers, and the regions left out.

A branch is one way out of a line that has several; lines and branches are never mixed into one number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

#: What a line outside any function belongs to.
MODULE = "<module>"


@dataclass(frozen=True)
class File:
    """One source file: its statements by line, those that were not reached, and ways out of each branching line.

    ``branches`` has, by line: how many ways there are, how many were taken.
    """

    name: str
    source: str
    statements: frozenset[int]
    missing: frozenset[int]
    branches: Mapping[int, tuple[int, int]]

    @cached_property
    def owners(self) -> dict[int, tuple[str, str]]:
        """Line -> the outermost and the innermost function whose body it is in. Lines in no body are left out."""
        return dict(_owners(ast.parse(self.source), "", ""))


class Share(NamedTuple):
    """So many of so many were reached."""

    reached: int
    total: int

    @property
    def percent(self) -> float:
        """The share of a hundred; nothing of nothing is all of it."""
        return 100 * self.reached / self.total if self.total else 100.0


class Region(NamedTuple):
    """Consecutive statements of one function, none of which was reached."""

    file: str
    function: str
    lines: int
    first: int


def _owners(node: ast.AST, prefix: str, outermost: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """The lines of each function's body, those of an inner one after those of the outer one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = prefix + child.name
            body = range(child.body[0].lineno, (child.end_lineno or child.lineno) + 1)
            yield from ((line, (outermost or name, name)) for line in body)
            yield from _owners(child, f"{name}.", outermost or name)
        else:
            yield from _owners(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix, outermost)


def shares(files: Iterable[File]) -> dict[str, Share]:
    """Lines and branches, of whole files and of function bodies alone: a ``def`` itself is reached by an import."""
    files = list(files)
    return {
        "lines": _lines(files, bodies=False),
        "branches": _branches(files, bodies=False),
        "lines of function bodies": _lines(files, bodies=True),
        "branches of function bodies": _branches(files, bodies=True),
    }


def _lines(files: list[File], bodies: bool) -> Share:
    counted = [(line not in file.missing) for file in files for line in file.statements if not bodies or line in file.owners]
    return Share(sum(counted), len(counted))


def _branches(files: list[File], bodies: bool) -> Share:
    counted = [ways for file in files for line, ways in file.branches.items() if not bodies or line in file.owners]
    return Share(sum(taken for _, taken in counted), sum(ways for ways, _ in counted))


def regions(files: Iterable[File]) -> list[Region]:
    """The regions that were not reached, the largest first.

    A function inside a function belongs to the same region, which is named after the function that it begins in.
    """
    found = [region for file in files for region in _regions(file)]
    return sorted(found, key=lambda region: (-region.lines, region.file, region.first))


def _regions(file: File) -> Iterator[Region]:
    def whose(line: int) -> tuple[bool, str]:
        return line in file.missing, file.owners.get(line, (MODULE, MODULE))[0]

    for (is_missing, _), lines in groupby(sorted(file.statements), whose):
        if is_missing:
            first, *rest = lines
            yield Region(file.name, file.owners.get(first, (MODULE, MODULE))[1], 1 + len(rest), first)


def read(coverage: Any, paths: Iterable[Path], home: Path) -> list[File]:
    """What a ``coverage.Coverage`` with its data loaded knows of these files, named relative to ``home``."""
    return [_read(coverage, path, str(path.relative_to(home))) for path in paths]


def _read(coverage: Any, path: Path, name: str) -> File:
    _, statements, _, missing, _ = coverage.analysis2(str(path))
    branches = coverage.branch_stats(str(path))
    return File(name, path.read_text(), frozenset(statements), frozenset(missing), branches)
