"""Known failures that stay honest: one small file each, under golden/findings/.

A finding says which rule fails, with which signature, on programs with which features, and on which torch
versions. Its own program is replayed in every run: one that no longer fails is out of date, and red.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from packaging.version import Version

from conformance.requirements import REQUIREMENTS
from conformance.signature import Signature
from generators.codec import ProgramError, from_json, from_json_file
from generators.program import Program

KINDS = ("fault", "deviation")
_KEYS = {"title", "kind", "explanation", "signatures", "features", "seen", "not_seen", "link", "program"}
_SIGNATURE_KEYS = {"rule", "path", "expected", "found", "frame"}


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
            _compiled(getattr(self, name)).fullmatch(getattr(signature, name)) for name in ("path", "expected", "found", "frame")
        )


@lru_cache(maxsize=None)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """One known fault or deviation; ``slug`` is its file's name.

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

    def knows(self, signature: Signature, traits: frozenset[str]) -> bool:
        """Whether a violation with this signature, on a program with these features, is this finding."""
        return any(pattern.matches(signature) for pattern in self.patterns) and all(
            _has(entry, traits) for entry in self.features
        )

    @property
    def applies_here(self) -> bool:
        """Whether the installed torch is a version where it was seen, or one that nobody looked at yet."""
        return _release(torch.__version__) not in self.not_seen


def _has(entry: str, traits: frozenset[str]) -> bool:
    if entry.startswith("!"):
        return not _has(entry[1:], traits)
    return any(name in traits for name in entry.split("|"))


def _release(version: str) -> str:
    return Version(version).base_version


def finding_for(signature: Signature, traits: frozenset[str], findings: Iterable[Finding]) -> Finding | None:
    """The first finding that knows the signature on a program with these features."""
    return next((finding for finding in findings if finding.knows(signature, traits)), None)


def load_findings(folder: Path) -> list[Finding]:
    """Every finding under ``folder`` that applies to the installed torch, by slug. Raises FindingError."""
    return [finding for path in sorted(folder.glob("*.json")) if (finding := load_finding(path)).applies_here]


def load_finding(path: Path) -> Finding:
    """The finding in the file at ``path``. Raises FindingError: file, place, and what is wrong there."""
    try:
        return from_json_file(path, lambda data: _decode(path.stem, data))
    except ProgramError as error:
        raise FindingError(str(error)) from None


def _decode(slug: str, data: Any) -> Finding:
    if not isinstance(data, dict) or set(data) != _KEYS:
        raise ProgramError(f"finding: the keys must be {', '.join(sorted(_KEYS))}")
    if data["kind"] not in KINDS:
        raise ProgramError(f"kind: one of {', '.join(KINDS)}, not {data['kind']!r}")
    for key in ("title", "explanation", "link"):
        if not isinstance(data[key], str):
            raise ProgramError(f"{key}: text is needed")
    if not data["explanation"] or not data["seen"]:
        raise ProgramError("explanation and seen: a reason and a torch version are required")
    return Finding(
        slug=slug,
        title=data["title"],
        kind=data["kind"],
        explanation=data["explanation"],
        patterns=tuple(_decode_pattern(item, f"signatures[{i}]") for i, item in enumerate(_list(data, "signatures"))),
        features=_texts(data, "features"),
        seen=_texts(data, "seen"),
        not_seen=_texts(data, "not_seen"),
        link=data["link"],
        program=_program(data["program"]),
    )


def _program(data: Any) -> Program:
    try:
        return from_json(data)
    except ProgramError as error:
        raise ProgramError(f"program.{error}") from None


def _decode_pattern(data: Any, place: str) -> Pattern:
    if not isinstance(data, dict) or not {"rule", "path"} <= set(data) <= _SIGNATURE_KEYS:
        raise ProgramError(f"{place}: rule and path are needed, expected, found and frame may be given")
    if data["rule"] not in REQUIREMENTS:
        raise ProgramError(f"{place}.rule: {data['rule']!r} is no requirement")
    for key, text in data.items():
        try:
            re.compile(text)
        except (re.error, TypeError):
            raise ProgramError(f"{place}.{key}: {text!r} is no regular expression") from None
    return Pattern(**data)


def _list(data: dict[str, Any], key: str) -> Sequence[Any]:
    if not isinstance(data[key], list) or not (data[key] or key in ("not_seen", "features")):
        raise ProgramError(f"{key}: a list is needed")
    return data[key]


def _texts(data: dict[str, Any], key: str) -> tuple[str, ...]:
    items = _list(data, key)
    if not all(isinstance(item, str) for item in items):
        raise ProgramError(f"{key}: a list of texts is needed")
    return tuple(items)
