"""What a campaign leaves for people: each group as a finding draft and a script, and a page that lists them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from packaging.version import Version

from conformance.campaign.groups import Group
from conformance.campaign.severity import CLASSES, severity_of
from conformance.campaign.shrinking import NOTHING_SHOWN, Minimum
from conformance.findings import MAX_PATTERN
from conformance.requirements import REQUIREMENTS
from conformance.signature import Signature
from conformance.templates import template
from generators.codec import dump, to_json
from generators.features import features
from reports.storage import one_line, replace_file

#: Families of features that narrow a draft: what a program does, not how large or deep it is.
TELLING = ("op:", "call:", "writes:", "changes-metadata-of:", "subclass:", "option:", "module:", "mode:", "size:symbolic")
#: Characters of a title.
TITLE = 110


@dataclass(frozen=True)
class Fault:
    """A group with its minimum, where there is one yet."""

    group: Group
    minimum: Minimum | None

    @property
    def severity(self) -> int:
        """Number of the class in ``severity.CLASSES``."""
        return severity_of(self.group.smallest)

    @property
    def title(self) -> str:
        """One line that says what is wrong."""
        if self.minimum is None:
            return one_line(self.group.key, TITLE)
        path, expected, found = self.minimum.path, self.minimum.expected, self.minimum.found
        if self.group.smallest.violation is None:
            return one_line(f"The process ends in a {found}", TITLE)
        if path.endswith(":error") and found != "None":
            return one_line(f"{found}, where eager goes through", TITLE)
        return one_line(f"{path}: {found}, where {expected} is expected", TITLE)

    @property
    def slug(self) -> str:
        """The name of its files."""
        violation = self.group.smallest.violation
        about = f"{violation.rule} {violation.path}" if violation else self.group.key
        program = self.minimum.program if self.minimum else self.group.smallest.program
        return f"{re.sub(r'[^a-z0-9]+', '-', about.lower()).strip('-')[:60]}-{program.name[:6]}"

    @property
    def is_told(self) -> bool:
        """Whether there is something to show: it was seen again, and shrunk."""
        return self.minimum is not None and self.minimum.ended not in NOTHING_SHOWN


def by_severity(faults: Iterable[Fault]) -> list[Fault]:
    """The worst first; of one class, what most programs met."""
    return sorted(faults, key=lambda fault: (fault.severity, -fault.group.programs, fault.group.key))


def finding_draft(fault: Fault) -> dict[str, Any]:
    """The fault as golden/findings/ holds one: it knows the minimum, and programs that have in common what all of these had."""
    minimum, violation = fault.minimum, fault.group.smallest.violation
    assert minimum is not None and minimum.signature is not None and violation is not None
    requirement = REQUIREMENTS[violation.rule]
    deviates = CLASSES[fault.severity] == CLASSES[-1]
    return {
        "title": fault.title,
        "kind": "deviation" if deviates else "fault",
        "explanation": one_line(f"{requirement.id}: {requirement.sentence}. At {minimum.path}: expected {minimum.expected}, "
                                f"found {minimum.found}."),
        "signatures": [pattern_of(minimum.signature)],
        "features": common_features(fault),
        "seen": [Version(torch.__version__).base_version],
        "not_seen": [],
        "link": "",
        "program": to_json(minimum.program),
    }


def common_features(fault: Fault) -> list[str]:
    """The telling features of the minimum that each program of the group has, too."""
    assert fault.minimum is not None
    return sorted(name for name in features(fault.minimum.program) & fault.group.features if name.startswith(TELLING))


def pattern_of(signature: Signature) -> dict[str, str]:
    """The pattern that matches this signature alone; what is too long for a pattern is matched by its beginning."""
    texts = {name: getattr(signature, name) for name in ("path", "expected", "found", "frame")}
    told = {name: _escaped(text) for name, text in texts.items() if text}
    return {"rule": signature.rule, **told}


def _escaped(text: str) -> str:
    whole = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)
    while len(whole) > MAX_PATTERN - 2:
        text = text[:-10]
        whole = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text) + ".*"
    return whole


def write(faults: list[Fault], folder: Path, about: dict[str, Any]) -> None:
    """Write ``drafts/`` (a finding draft and a script a fault) and ``faults.md`` into the campaign's folder."""
    drafts = folder / "drafts"
    drafts.mkdir(exist_ok=True)
    for old in drafts.iterdir():  # a draft whose program has become smaller has another name
        old.unlink()
    for fault in faults:
        if fault.is_told:
            _write_one(fault, drafts)
    page = template("faults.md.j2").render(faults=by_severity(faults), classes=CLASSES, requirements=REQUIREMENTS, **about)
    replace_file(folder / "faults.md", page)


def _write_one(fault: Fault, drafts: Path) -> None:
    minimum = fault.minimum
    assert minimum is not None
    if minimum.signature is not None:
        replace_file(drafts / f"{fault.slug}.json", json.dumps(finding_draft(fault), indent=1) + "\n")
    else:  # findings know violations alone
        dump(minimum.program, drafts / f"{fault.slug}.program.json")
    if minimum.script:
        replace_file(drafts / f"{fault.slug}.py", minimum.script)
