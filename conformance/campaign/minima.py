"""Minima in a file, one a line, so that what was shrunk is not shrunk again when a campaign goes on."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from conformance.campaign.shrinking import Minimum
from conformance.signature import Signature
from generators.codec import from_json, to_json

_PROGRAMS = ("program", "drawn")


def append(path: Path, minimum: Minimum) -> None:
    """Add a minimum to the file; a later one of the same group counts."""
    values: dict[str, Any] = {field.name: getattr(minimum, field.name) for field in fields(minimum)}
    values |= {name: to_json(values[name]) for name in _PROGRAMS}
    values["signature"] = minimum.signature and vars(minimum.signature)
    with path.open("ab", buffering=0) as file:
        file.write(json.dumps(values).encode() + b"\n")


def read(path: Path) -> dict[str, Minimum]:
    """The minima in the file by group; a line that was cut off, since its process died, counts for nothing."""
    found: dict[str, Minimum] = {}
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            minimum = _minimum(json.loads(line))
        except (ValueError, TypeError, KeyError):
            continue
        found[minimum.key] = minimum
    return found


def _minimum(values: dict[str, Any]) -> Minimum:
    values |= {name: from_json(values[name]) for name in _PROGRAMS}
    values["signature"] = values["signature"] and Signature(**values["signature"])
    return Minimum(**values)
