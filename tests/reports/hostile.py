"""Records from elsewhere: text that would be markup, or code, in every place where a record holds text."""

from __future__ import annotations

from dataclasses import replace

from reports.record import Outcome, Record, Row
from tests.reports.samples import FAILED, HEADER, NEW, whole

#: Each sets `hacked` where it runs.
HOSTILE = (
    "</script><script>hacked=1</script>",
    "<img src=x onerror=hacked=1>",
    "javascript:hacked=1",
    "\"' onfocus=hacked=1 autofocus x='",
    "<!--<script>hacked=1",
    "]]></svg><svg onload=hacked=1>",
    "{{ hacked }}${hacked=1}",
    "\u2028hacked=1\u2029\u202egnp\ud800\x00\x1b[31m",
    "</title></style><base href=//elsewhere>",
    "&lt;script&gt;hacked=1&#60;",
)


def record_of(text: str) -> Record:
    """A record of one failing, one crashed and one known program that holds this text wherever it may hold any."""
    name = text[:200]
    violation = replace(NEW, path=text, expected=text, found=text, signature=text, replay=text)
    known = replace(violation, finding="strided-view")
    failed = replace(
        FAILED,
        shard=name,
        features=(name, f"op:{name}", f"kind:{name}", f"kind:{name} again"),
        violations=(violation, known),
        descriptors={name: (1, 1), "PlainAOTInput": (2, 1)},
        detail=text,
        source=text,
        graph=f"p0: PlainAOTInput(idx={text})",
    )
    header = replace(
        HEADER,
        suite_version=name,
        torch_version=name,
        torch_git=text,
        python=name,
        platform=name,
        implementation=name,
        profile=name,
        devices=(name,),
        requirements={"C1": text, "C2": text},
        unchecked={"J18": text},
        kinds=(name, "PlainAOTInput"),
        not_expected={name: text},
        vacuity={},
        consumers={"C1": (name,)},
        findings={"strided-view": text},
        replay=name,
        selection=text,
    )
    return whole(failed, _crashed(failed), replace(failed, outcome=Outcome.KNOWN, violations=(known,)), header=header)


def _crashed(row: Row) -> Row:
    return replace(row, program="dd" * 8, outcome=Outcome.CRASH, violations=())
