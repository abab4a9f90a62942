"""JSON in files: checked against the schema as it comes in, whole or not at all as it goes out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

MAX_BYTES = 1 << 30  # of a file that is read; a run of a million programs stays below


class RecordError(Exception):
    """A record or row cannot be what it claims; one line that names the file and the place."""


def one_line(text: str, width: int | None = None) -> str:
    """`text` fit for one line of a terminal: a file may hold newlines and escape sequences."""
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 3] + "..."


@cache
def _validator(of: Literal["record", "row"]) -> Any:
    text = resources.files("reports").joinpath("schema/run.schema.json").read_text("utf-8")
    schema = json.loads(text)

    def inlined(part: Any) -> Any:
        # jsonschema looks a reference up each time that it meets it; so a row takes half the time.
        if isinstance(part, list):
            return [inlined(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inlined(schema["$defs"][part["$ref"].removeprefix("#/$defs/")])
        return {key: inlined(value) for key, value in part.items() if key != "$defs"}

    return Draft202012Validator(inlined(schema if of == "record" else schema["$defs"]["row"]))


def validate(of: Literal["record", "row"], data: Any) -> None:
    """Raises ValueError with the place and the fault of the first thing that breaks the schema."""
    for error in _validator(of).iter_errors(data):
        place = error.json_path.removeprefix("$").removeprefix(".") or of
        raise ValueError(f"{place}: {error.message}")


def dump(value: object) -> str:
    """Dataclasses, mappings, tuples and enums as JSON; raises ValueError for NaN and infinity."""
    return json.dumps(value, default=_fields, allow_nan=False)


def _fields(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else vars(value)


def parse(content: bytes) -> Any:
    """The data in JSON text; raises ValueError with line and column, RecursionError if too deep."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    return json.loads(content.decode("utf-8"), parse_constant=refuse)


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Turns what `parse`, `validate` and `dump` raise into a RecordError about this file."""
    try:
        yield
    except RecursionError:
        raise RecordError(one_line(f"{path}: nested too deeply")) from None
    except ValueError as error:
        raise RecordError(f"{one_line(str(path))}: {one_line(str(error), 200)}") from None


def read_file(path: Path) -> bytes:
    """The whole file; raises RecordError where it is missing or larger than `MAX_BYTES`."""
    try:
        size = path.stat().st_size
        if size <= MAX_BYTES:
            return path.read_bytes()
    except OSError as error:
        raise RecordError(one_line(f"{path}: {error.strerror}")) from None
    raise RecordError(one_line(f"{path}: {size} bytes, more than the {MAX_BYTES} that are read"))


def replace_file(path: Path, text: str) -> None:
    """Writes beside the file, then renames, so that no reader ever meets half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
