"""A violation's signature: what stays the same when the same fault shows in another program."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass

from conformance.observation import first_line
from conformance.rule import Violation


@dataclass(frozen=True)
class Signature:
    """Rule, place, and what was expected and found, without the numbers of one program.

    ``expected`` and ``found`` are empty where the values themselves differ: two faults aren't told apart by
    numbers. For an error ``found`` is its type and message, and ``frame`` the innermost function of torch.
    """

    rule: str
    path: str
    expected: str
    found: str
    frame: str = ""

    def __str__(self) -> str:
        change = f" {self.expected} -> {self.found}" if self.found else ""
        return f"{self.rule} {self.path}{change}{f' in {self.frame}' if self.frame else ''}"


def signature_of(violation: Violation) -> Signature:
    """The signature of ``violation``."""
    path = without_numbers(violation.path)
    if violation.path.endswith(".value"):
        return Signature(violation.rule, path, "", "")
    found = violation.found if violation.error is None else error_text(violation.error)
    # What eager said, where a message is judged, is another in each program.
    expected = "" if violation.path.endswith(":message") else without_numbers(violation.expected)[:120]
    return Signature(violation.rule, path, expected, without_numbers(found)[:200], frame_of(violation.error))


def without_numbers(text: str) -> str:
    """Digits as ``#``, and lists of them as one: what differs from program to program."""
    text = re.sub(r"0x[0-9a-f]+", "#", text)
    text = re.sub(r"(?<![A-Za-z_\d])-?\d+(\.\d+)?(e-?\d+)?", "#", text)
    text = re.sub(r"\b([axv]|alone)\d+(c?)\b", r"\1#\2", text)
    return re.sub(r"#(, (#|None))+,?", "#..", text)


def error_text(error: BaseException) -> str:
    """The error's type and the first line of its message."""
    return f"{type(error).__name__}: {first_line(error)}"


def frame_of(error: BaseException | None) -> str:
    """``file:function`` of the innermost frame inside torch's Python code; empty without one."""
    if error is None or error.__traceback__ is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/torch/" in frame.filename and "/torch/utils/_" not in frame.filename]
    return f"{inside[-1].filename.rsplit('/torch/', 1)[1]}:{inside[-1].name}" if inside else ""
