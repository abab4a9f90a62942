"""Known failures that stay honest: one small file each, under golden/findings/, about types alone under golden/boundary/.

A finding says which rule fails, with which signature, on programs with which features, and on which torch
versions. Its own program is replayed in every run: one that no longer fails is out of date, and red.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from packaging.version import InvalidVersion, Version

from conformance.requirements import REQUIREMENTS
from conformance.rule import EXPORTED_RULES
from conformance.signature import Signature
from generators.codec import ProgramError, brief, from_json, from_json_file
from generators.program import Program

KINDS = ("fault", "deviation")
_KEYS = {"title", "kind", "explanation", "signatures", "features", "seen", "not_seen", "link", "program"}
_KEYS_OF_TYPES = _KEYS - {"program"} | {"types"}
_SIGNATURE_KEYS = {"rule", "path", "expected", "found", "frame"}

#: What keeps a pattern from taking for ever: its length, how often it repeats without end, and no repeated group.
MAX_PATTERN = 300
MAX_REPEATS = 6
_ESCAPED = re.compile(r"\\[^1-9]")
_REPEAT = re.compile(r"[*+]|\{\d*,\d*\}")
_GROUP_AGAIN = re.compile(r"\)[*+{]|\(\?P=|\\[1-9]")


class FindingError(ValueError):
    """A finding file that can't be used; the message is one line with the file and the place."""


@dataclass(frozen=True)
class Pattern:
    """A signature to match: the rule's id, and regular expressions that must match the rest in full."""

    rule: str
    path: str
    expected: str = ".*"
    found: str = ".*"
    frame: str = ".*"

    def matches(self, signature: Signature) -> bool:
        """Whether ``signature`` is one of those meant."""
        return self.rule == signature.rule and all(
            _compiled(getattr(self, name)).fullmatch(getattr(signature, name)) for name in _SIGNATURE_KEYS - {"rule"}
        )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """One known fault or deviation; ``slug`` is its file's name.

    ``types`` are names of conformance/exported/pytrees.py, in the place of a program: it is empty then.

    ``features`` narrows it: each entry is a feature, or several with ``|`` between, and the program must
    have one of each entry; with ``!`` in front, none. ``seen`` and ``not_seen`` are torch versions.
    """

    slug: str
    title: str
    kind: str
    explanation: str
    patterns: tuple[Pattern, ...]
    features: tuple[str, ...]
    seen: tuple[str, ...]
    not_seen: tuple[str, ...]
    link: str
    program: Program
    types: tuple[str, ...] = ()

    def knows(self, signature: Signature, traits: frozenset[str]) -> bool:
        """Whether a violation with this signature, on a program with these features, is this finding."""
        return any(pattern.matches(signature) for pattern in self.patterns) and all(
            _has(entry, traits) for entry in self.features
        )

    @property
    def only(self) -> frozenset[str]:
        """The rules that its program is judged by: those over exported programs if it is about one, else none in particular."""
        rules = frozenset(pattern.rule for pattern in self.patterns)
        return frozenset(EXPORTED_RULES) if rules <= EXPORTED_RULES.keys() else frozenset()

    @property
    def applies_here(self) -> bool:
        """Whether the installed torch is a version where it was seen, or one that nobody looked at yet."""
        return _release(torch.__version__) not in self.not_seen


def _has(entry: str, traits: frozenset[str]) -> bool:
    if entry.startswith("!"):
        return not _has(entry[1:], traits)
    return any(name in traits for name in entry.split("|"))


def _release(version: str) -> str:
    """The release that a version belongs to, in three numbers: 2.13 and 2.13.0+cpu are 2.13.0."""
    return ".".join(map(str, (*Version(version).release, 0, 0)[:3]))


def finding_for(signature: Signature, traits: frozenset[str], findings: Iterable[Finding]) -> Finding | None:
    """The first finding that knows the signature on a program with these features."""
    return next((finding for finding in findings if finding.knows(signature, traits)), None)


def load_findings(folder: Path) -> list[Finding]:
    """Every finding under ``folder`` that applies to the installed torch, by slug.

    A damaged file is left out, since the run goes on: what it knew is new again, and its own test names it.
    """
    return [finding for path in sorted(folder.glob("*.json")) for finding in _readable(path) if finding.applies_here]


def titles_in(folder: Path) -> dict[str, str]:
    """The title of every finding under ``folder`` that can be read, by slug, whatever torch is installed."""
    return {finding.slug: finding.title for path in sorted(folder.glob("*.json")) for finding in _readable(path)}


def _readable(path: Path) -> list[Finding]:
    try:
        return [load_finding(path)]
    except FindingError:
        return []


def load_finding(path: Path) -> Finding:
    """The finding in the file at ``path``. Raises FindingError: file, place, and what is wrong there."""
    try:
        return from_json_file(path, lambda data: _decode(path.stem, data))
    except ProgramError as error:
        raise FindingError(str(error)) from None


def _decode(slug: str, data: Any) -> Finding:
    if not isinstance(data, dict) or set(data) not in (_KEYS, _KEYS_OF_TYPES):
        raise ProgramError(f"finding: the keys must be {', '.join(sorted(_KEYS))}")
    if data["kind"] not in KINDS:
        raise ProgramError(f"kind: one of {', '.join(KINDS)}, not {brief(data['kind'])}")
    for key in ("title", "explanation", "link"):
        if not isinstance(data[key], str) or not all(line.isprintable() for line in data[key].split("\n")):
            raise ProgramError(f"{key}: printable text is needed")
    if not data["explanation"] or not data["seen"]:
        raise ProgramError("explanation and seen: a reason and a torch version are required")
    return Finding(
        slug=slug,
        title=data["title"],
        kind=data["kind"],
        explanation=data["explanation"],
        patterns=tuple(_decode_pattern(item, f"signatures[{i}]") for i, item in enumerate(_list(data, "signatures"))),
        features=_texts(data, "features"),
        seen=_releases(data, "seen"),
        not_seen=_releases(data, "not_seen"),
        link=data["link"],
        program=_program(data["program"]) if "program" in data else Program(),
        types=_texts(data, "types") if "types" in data else (),
    )


def _program(data: Any) -> Program:
    try:
        return from_json(data)
    except ProgramError as error:
        raise ProgramError(f"program.{error}") from None


def _decode_pattern(data: Any, place: str) -> Pattern:
    if not isinstance(data, dict) or not {"rule", "path"} <= set(data) <= _SIGNATURE_KEYS:
        raise ProgramError(f"{place}: rule and path are needed, expected, found and frame may be given")
    for key, text in data.items():
        _check_pattern(text, f"{place}.{key}")
    if data["rule"] not in REQUIREMENTS:
        raise ProgramError(f"{place}.rule: {brief(data['rule'])} is no requirement")
    return Pattern(**data)


def _check_pattern(text: Any, place: str) -> None:
    if not isinstance(text, str) or len(text) > MAX_PATTERN:
        raise ProgramError(f"{place}: a text of at most {MAX_PATTERN} characters is needed, not {brief(text)}")
    bare = _ESCAPED.sub("_", text)
    if _GROUP_AGAIN.search(bare) or len(_REPEAT.findall(bare)) > MAX_REPEATS:
        raise ProgramError(f"{place}: {brief(text)} repeats a group, or repeats over {MAX_REPEATS} times: it might never end")
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        raise ProgramError(f"{place}: {brief(text)} is no regular expression") from None


def _list(data: dict[str, Any], key: str) -> list[Any]:
    items = data[key]
    if not isinstance(items, list) or not (items or key in ("not_seen", "features")):
        raise ProgramError(f"{key}: a list is needed")
    return items


def _texts(data: dict[str, Any], key: str) -> tuple[str, ...]:
    items = _list(data, key)
    if not all(isinstance(item, str) for item in items):
        raise ProgramError(f"{key}: a list of texts is needed")
    return tuple(items)


def _releases(data: dict[str, Any], key: str) -> tuple[str, ...]:
    try:
        return tuple(map(_release, _texts(data, key)))
    except InvalidVersion:
        raise ProgramError(f"{key}: a list of torch versions is needed") from None
