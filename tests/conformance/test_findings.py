"""Findings know what they are meant to know, nothing else, and a damaged one says so in one line."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import golden
from conformance.findings import (
    MAX_PATTERN,
    MAX_REPEATS,
    Finding,
    FindingError,
    Pattern,
    finding_for,
    load_finding,
    load_findings,
)
from conformance.signature import Signature
from generators.codec import to_json
from tests.programs import ONE_OUTPUT

SIGNATURE = Signature("C2", "train:outputs[#].stride", "(#..)", "(#..)", "a.py:f")
FINDING = Finding(
    slug="a-fault",
    title="A fault",
    kind="fault",
    explanation="It is wrong.",
    patterns=(Pattern("C2", r"train:outputs\[#\]\.stride"),),
    features=("output:view-of-input",),
    seen=("2.13.0",),
    not_seen=(),
    link="",
    program=ONE_OUTPUT,
)
DATA: dict[str, Any] = {
    "title": "A fault",
    "kind": "fault",
    "explanation": "It is wrong.",
    "signatures": [{"rule": "C2", "path": r"train:outputs\[#\]\.stride"}],
    "features": ["output:view-of-input"],
    "seen": ["2.13.0"],
    "not_seen": ["2.9.1"],
    "link": "",
    "program": to_json(ONE_OUTPUT),
}


def saved(folder: Path, data: Any, name: str = "a-fault") -> Path:
    path = folder / f"{name}.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_a_pattern_matches_the_signature_that_it_means() -> None:
    assert Pattern("C2", r"train:outputs\[#\]\.stride", r"\(#\.\.\)", ".*", r"a\.py:f").matches(SIGNATURE)


@pytest.mark.parametrize(
    "pattern",
    [
        Pattern("C3", r"train:outputs\[#\]\.stride"),
        Pattern("C2", r"train:outputs\[#\]"),
        Pattern("C2", r"outputs\[#\]\.stride"),
        Pattern("C2", ".*", expected="None"),
        Pattern("C2", ".*", found=""),
        Pattern("C2", ".*", frame="b.py:f"),
    ],
)
def test_a_pattern_matches_no_other(pattern: Pattern) -> None:
    assert not pattern.matches(SIGNATURE)


def test_a_pattern_goes_over_line_ends() -> None:
    assert Pattern("C2", ".*", found="a.*b").matches(replace(SIGNATURE, found="a\nb"))


@pytest.mark.parametrize(
    ("entries", "traits", "knows"),
    [
        ((), (), True),
        (("a",), ("a", "b"), True),
        (("a",), ("b",), False),
        (("a|b",), ("b",), True),
        (("a|b",), ("c",), False),
        (("a", "b"), ("a", "b"), True),
        (("a", "b"), ("a",), False),
        (("!a",), ("b",), True),
        (("!a",), ("a",), False),
        (("!a|b",), ("b",), False),
        (("!a|b",), ("c",), True),
        (("a|b", "!c"), ("b", "c"), False),
    ],
)
def test_features_narrow_a_finding(entries: tuple[str, ...], traits: tuple[str, ...], knows: bool) -> None:
    assert replace(FINDING, features=entries).knows(SIGNATURE, frozenset(traits)) is knows


def test_one_pattern_of_several_is_enough() -> None:
    several = replace(FINDING, features=(), patterns=(Pattern("C3", ".*"), Pattern("C2", ".*")))
    assert several.knows(SIGNATURE, frozenset())


def test_the_first_finding_that_knows_it_is_taken() -> None:
    findings = [replace(FINDING, slug="other", patterns=(Pattern("C3", ".*"),)), FINDING, replace(FINDING, slug="later")]
    assert finding_for(SIGNATURE, frozenset({"output:view-of-input"}), findings) is FINDING


def test_what_no_finding_knows_is_new() -> None:
    assert finding_for(SIGNATURE, frozenset(), [FINDING]) is None


@pytest.mark.parametrize(
    ("installed", "not_seen", "applies"),
    [
        ("2.13.0", (), True),
        ("2.13.0", ("2.13.0",), False),
        ("2.13.0+cpu", ("2.13.0",), False),
        ("2.13.0a0+git123", ("2.13.0",), False),
        ("2.13.1", ("2.13.0",), True),
        ("2.14.0", ("2.9.1", "2.13.0"), True),
    ],
)
def test_a_finding_applies_where_nobody_saw_it_gone(
    installed: str, not_seen: tuple[str, ...], applies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", installed)
    assert replace(FINDING, not_seen=not_seen).applies_here is applies


def test_a_file_is_read_as_it_was_meant(tmp_path: Path) -> None:
    assert load_finding(saved(tmp_path, DATA)) == replace(FINDING, not_seen=("2.9.1",))


@pytest.mark.parametrize(("written", "read"), [("2.13", "2.13.0"), ("2.13.0+cu130", "2.13.0"), ("v2.9.1", "2.9.1")])
def test_a_version_is_read_as_a_release(written: str, read: str, tmp_path: Path) -> None:
    assert load_finding(saved(tmp_path, {**DATA, "not_seen": [written]})).not_seen == (read,)


def pattern(**changed: Any) -> dict[str, Any]:
    return {**DATA, "signatures": [{**DATA["signatures"][0], **changed}]}


WITHOUT = {key: {k: v for k, v in DATA.items() if k != key} for key in DATA}
DAMAGED: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "cannot be read"),
    "a list": ([], "finding: the keys"),
    "null": (None, "finding: the keys"),
    "another key": ({**DATA, "color": 1}, "finding: the keys"),
    **{f"no {key}": (data, "finding: the keys") for key, data in WITHOUT.items()},
    "an unknown kind": ({**DATA, "kind": "feature"}, "kind: one of"),
    "a kind that is a list": ({**DATA, "kind": []}, "kind: one of"),
    "a title that is a number": ({**DATA, "title": 7}, "title: "),
    "a title that moves the cursor": ({**DATA, "title": "\x1b[2J"}, "title: "),
    "a title that can't be printed": ({**DATA, "title": "\ud800"}, "title: "),
    "a link that is null": ({**DATA, "link": None}, "link: "),
    "no explanation": ({**DATA, "explanation": ""}, "explanation and seen: "),
    "never seen": ({**DATA, "seen": []}, "explanation and seen: "),
    "seen that is a text": ({**DATA, "seen": "2.13.0"}, "seen: a list is needed"),
    "seen that holds numbers": ({**DATA, "seen": [2.13]}, "seen: a list of texts"),
    "seen in no version": ({**DATA, "seen": ["nightly"]}, "seen: a list of torch versions"),
    "not_seen that is an object": ({**DATA, "not_seen": {}}, "not_seen: a list is needed"),
    "features that are null": ({**DATA, "features": None}, "features: a list is needed"),
    "no signatures": ({**DATA, "signatures": []}, "signatures: a list is needed"),
    "a signature that is a text": ({**DATA, "signatures": ["C2"]}, "signatures[0]: rule and path"),
    "a signature without a path": ({**DATA, "signatures": [{"rule": "C2"}]}, "signatures[0]: rule and path"),
    "a signature with another key": (pattern(color="red"), "signatures[0]: rule and path"),
    "an unknown rule": (pattern(rule="Z9"), "signatures[0].rule: 'Z9' is no requirement"),
    "a rule that is a list": (pattern(rule=["C2"]), "signatures[0].rule: a text"),
    "no regular expression": (pattern(path="("), "signatures[0].path: '(' is no regular expression"),
    "a repeat beyond all numbers": (pattern(path="a{99999999999999}"), "signatures[0].path: "),
    "a pattern that is a number": (pattern(found=7), "signatures[0].found: a text"),
    "a pattern that is too long": (pattern(found="x" * (MAX_PATTERN + 1)), "signatures[0].found: a text of at most"),
    "a pattern that never ends": (pattern(found="(a+)+b"), "signatures[0].found: '(a+)+b' repeats a group"),
    "a pattern that never ends behind a backslash": (pattern(found=r"(a|a\\)*b"), "signatures[0].found: "),
    "a pattern that repeats too often": (pattern(found=".*" * (MAX_REPEATS + 1)), "signatures[0].found: "),
    "a pattern that refers back": (pattern(found=r"(.*)\1"), "signatures[0].found: "),
    "no program": ({**DATA, "program": None}, "program.program: "),
    "a program of another version": ({**DATA, "program": {**DATA["program"], "schema": 2}}, "program.schema: version 2"),
    "a program with an unknown op": (
        {**DATA, "program": {**DATA["program"], "body": [{**DATA["program"]["body"][0], "op": "evil"}]}},
        "program.body[0].op: 'evil'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_finding_gets_one_line_with_file_and_place(damage: str, tmp_path: Path) -> None:
    data, place = DAMAGED[damage]
    path = saved(tmp_path, data)
    with pytest.raises(FindingError) as error:
        load_finding(path)
    assert str(error.value).startswith(f"{path}: {place}") and str(error.value).isprintable()


@pytest.mark.parametrize("harmless", [r"a\)+", r"[a-z#]+: .*", r"(a|b)?", r"\(#\.\.\)", "a{2}"])
def test_a_harmless_pattern_is_taken(harmless: str, tmp_path: Path) -> None:
    assert load_finding(saved(tmp_path, pattern(found=harmless))).patterns[0].found == harmless


def test_a_damaged_finding_leaves_the_others_alone(tmp_path: Path) -> None:
    saved(tmp_path, DATA, "b-fault")
    saved(tmp_path, "{", "a-fault")
    assert [finding.slug for finding in load_findings(tmp_path)] == ["b-fault"]


def test_a_finding_that_is_gone_here_is_not_loaded(tmp_path: Path) -> None:
    saved(tmp_path, {**DATA, "not_seen": [torch.__version__]})
    assert load_findings(tmp_path) == []


def test_findings_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        saved(tmp_path, DATA, name)
    assert [finding.slug for finding in load_findings(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize("path", sorted(golden.FINDINGS.glob("*.json")), ids=lambda path: path.stem)
def test_a_finding_of_the_project_can_be_read(path: Path) -> None:
    assert load_finding(path).slug == path.stem


def test_the_hash_over_findings_counts_damaged_ones(tmp_path: Path) -> None:
    saved(tmp_path, DATA)
    before = golden.content_hash(golden.files(tmp_path))
    shutil.copy(tmp_path / "a-fault.json", tmp_path / "b-fault.json")
    (tmp_path / "b-fault.json").write_bytes(b"\xff")
    assert golden.content_hash(golden.files(tmp_path)) != before
