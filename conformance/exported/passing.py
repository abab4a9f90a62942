"""A finding about types at the boundary of torch.export: judged again, and as a script with torch alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.exported import nodes
from conformance.exported.forms import LOADED
from conformance.exported.pytrees import TYPES, Type, passed
from conformance.findings import Finding
from conformance.requirements import REQUIREMENTS
from conformance.rule import PYTREE_RULES, Violation
from conformance.signature import signature_of
from conformance.templates import template


@dataclass(frozen=True)
class Refused:
    """A type that does not pass the boundary as it should, and the violation that says so."""

    type: Type
    violation: Violation

    @property
    def script(self) -> str:
        """The type, passed where it does not pass, as a stand-alone script: it prints what eager gives, then the export.

        The form and the place are read off the violation's path (conformance/exported/pytrees.py).
        """
        form, _, rest = self.violation.path.partition(":")
        text = template("passing.py.j2").render(
            requirement=REQUIREMENTS[self.violation.rule],
            violation=self.violation,
            type=self.type,
            place=re.split("[:.]", rest.rpartition(" as ")[2])[0],
            is_loaded=form == LOADED,
            nodes=_text_of_nodes() if _speaks_of_nodes(self.type) else "",
            ordered="OrderedDict" in self.type.made,
        )
        return f"{text}\n"


def refused(finding: Finding, implementation: Any) -> Iterator[Refused]:
    """What the finding knows of its types, as they are passed now."""
    for name in finding.types:
        for violation in PYTREE_RULES["E9"].judge(passed(TYPES[name], implementation)):
            if finding.knows(signature_of(violation), frozenset()):
                yield Refused(TYPES[name], violation)


def _speaks_of_nodes(type: Type) -> bool:
    """Whether the type's expressions name what conformance/exported/nodes.py defines."""
    names = {node.id for text in (type.made, type.used) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return any(getattr(vars(nodes).get(name), "__module__", "") == nodes.__name__ for name in names)


def _text_of_nodes() -> str:
    """The file of our own containers, without its docstring."""
    return Path(nodes.__file__).read_text(encoding="utf-8").partition('"""\n\n')[2]
