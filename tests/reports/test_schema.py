"""The schema and the code have one vocabulary, and the schema leaves no door open."""

import json
from pathlib import Path
from typing import get_args

import jsonschema  # type: ignore[import-untyped]
import pytest

from reports import record
from reports.record import OUTCOMES, PHASES, SCHEMA_VERSION, Origin, Outcome
from reports.storage import one_line

SCHEMA = json.loads((Path(record.__file__).parent / "schema/run.schema.json").read_text())
ROW = SCHEMA["$defs"]["row"]["properties"]


@pytest.mark.parametrize(
    ("in_schema", "in_code"),
    [
        (SCHEMA["$defs"]["outcome"]["enum"], [outcome.value for outcome in Outcome]),
        (ROW["origin"]["enum"], list(get_args(Origin))),
        (ROW["seconds"]["propertyNames"]["enum"], list(PHASES)),
        (SCHEMA["properties"]["schema_version"]["const"], SCHEMA_VERSION),
    ],
    ids=["outcomes", "origins", "phases", "version"],
)
def test_schema_and_code_have_one_vocabulary(in_schema: object, in_code: object) -> None:
    assert in_schema == in_code


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_object_of_the_schema_is_closed() -> None:
    objects = [part for part in SCHEMA["$defs"].values() if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in [SCHEMA, *objects])


def test_every_outcome_has_a_meaning_and_an_owner() -> None:
    assert list(OUTCOMES) == list(Outcome)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\n\t b ", "a b"), ("\x1b[2Jx", "?[2Jx"), ("abcdefghij", "abcd...")],
)
def test_text_is_made_fit_for_one_line(text: str, expected: str) -> None:
    assert one_line(text, 7) == expected
