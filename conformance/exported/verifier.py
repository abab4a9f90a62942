"""Who catches a corrupted export: our rules, or PyTorch's own Verifier (torch/_export/verifier.py)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from rich.table import Table

import conformance.exported.rules  # noqa: F401  (registers the rules)
from conformance.exported.corruptions import CORRUPTIONS, Corruption, corrupted_case
from conformance.rule import EXPORTED_RULES

#: How the one complaint ends that asks the Verifier itself (E7): it is not counted as ours.
ASKS_THE_VERIFIER = ":validate"


@dataclass(frozen=True)
class Caught:
    """A corruption, the rules that catch it, and the kind of error with which the Verifier does, "" if it does not."""

    corruption: Corruption
    rules: tuple[str, ...]
    verifier: str


def caught(corruption: Corruption) -> Caught:
    """Who catches the corruption. A rule that ends in an error has caught nothing: that error is raised."""
    case = corrupted_case(corruption)
    complaints = [violation for rule in EXPORTED_RULES.values() if rule.applies(case) for violation in rule.judge(case)]
    ours = {violation.rule for violation in complaints if not violation.path.endswith(ASKS_THE_VERIFIER)}
    try:
        case.forms[corruption.form].validate()
    except Exception as error:
        return Caught(corruption, tuple(sorted(ours)), type(error).__name__)
    return Caught(corruption, tuple(sorted(ours)), "")


def compared() -> list[Caught]:
    """Who catches each corruption of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(map(caught, CORRUPTIONS))


def as_table(rows: list[Caught]) -> Table:
    """One row a corruption; the shares at the foot."""
    ours, theirs = (share(rows, who) for who in ("rules", "verifier"))
    table = Table(show_footer=True, box=None, pad_edge=False)
    table.add_column("breaks")
    table.add_column(f"corruption of a good export ({len(rows)})", "caught")
    table.add_column("our rules", ours)
    table.add_column("the Verifier", theirs)
    for row in rows:
        table.add_row(row.corruption.requirement, row.corruption.title, " ".join(row.rules) or "-", row.verifier or "-")
    return table


def share(rows: list[Caught], who: str) -> str:
    """How many of the corruptions are caught by ``who``: the name of a field."""
    count = sum(bool(getattr(row, who)) for row in rows)
    return f"{count} of {len(rows)} ({count / len(rows):.0%})"
