"""How bad a fault is: one table, the first row that fits says it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.campaign.groups import Failure

#: The classes, the worst first.
CLASSES = (
    "silently wrong values or gradients",
    "lost or extra mutation or aliasing",
    "wrong metadata",
    "crash or hang of the process",
    "internal assertion",
    "unclear error",
    "deviation of documents",
)
_VALUES, _ALIASING, _METADATA, _CRASH, _ASSERTION, _ERROR, _DEVIATION = range(len(CLASSES))

#: How errors begin that speak of torch's own inside and not of the user's program.
_INTERNAL = r"(AssertionError|AttributeError|IndexError|KeyError|NameError|TypeError|UnboundLocalError|ZeroDivisionError)\b"


@dataclass(frozen=True)
class _Row:
    """Regular expressions for the rule, the path (somewhere in it) and what was found (at its beginning)."""

    severity: int
    rule: str = ""
    path: str = ""
    found: str = ""


_TABLE = (
    _Row(_ASSERTION, path=r":(error|message)$", found=rf"(\w+: )?.*?{_INTERNAL}|.*INTERNAL ASSERT"),
    _Row(_ERROR, path=r":(error|message)$"),  # also one that is missing: eager refuses, and the pipeline does not
    _Row(_ALIASING, rule="C4|C5|C14|S5|J15|J27"),
    _Row(_ALIASING, path=r"\.(written|version|shares|is|base|write)$|effects?\b"),
    _Row(_VALUES, path=r"\.(value|none)$|generated code"),
    _Row(_VALUES, rule="C8|C13|S[1-4]"),
    _Row(_METADATA, path=r"\.(shape|stride|dtype|type|pieces|autograd|offset|layout|device|requires_grad)$"),
    _Row(_METADATA, rule=r"C1|C2|C3|C7|P\d|J[1-8]|J11|J14|J19|J2\d|U\d"),
    _Row(_DEVIATION),
)


def severity_of(failure: Failure) -> int:
    """The number of the failure's class in CLASSES."""
    violation = failure.violation
    if violation is None:
        return _CRASH
    return next(
        row.severity
        for row in _TABLE
        if re.fullmatch(row.rule or ".*", violation.rule)
        and re.search(row.path, violation.path)
        and re.match(row.found, violation.found)
    )
