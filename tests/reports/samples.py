"""A header and rows of every outcome, for the tests of records and of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reports.record import Footer, Header, Outcome, Record, Row, ViolationRow, count_outcomes

HEADER = Header(
    suite_version="0.1.0",
    torch_version="2.13.0+cpu",
    torch_git="abcdef0123456789",
    python="3.11.7",
    platform="Linux x86_64",
    implementation="eager",
    profile="quick",
    seed=7,
    devices=("cpu",),
    corpus_hash="c" * 16,
    findings_hash="f" * 16,
    started="2026-01-02T03:04:05.678+00:00",
    requirements={"C1": "Outputs equal eager's.", "C10": "…", "C2": "…", "J2": "No two share one.", "J18": "…"},
    unchecked={"J18": "needs CUDA"},
    kinds=("PlainAOTInput", "ForwardTokenAOTInput", "DummyAOTInput", "PlainAOTOutput"),
    not_expected={"DummyAOTInput": "never on a graph"},
    vacuity={},
    consumers={"C1": ("autoparallel", "Inductor"), "J2": ("partitioners",)},
    findings={"strided-view": "A view has other strides"},
    replay="joint-conformance replay",
    selection="",
    shard="1/1",
)
NEW = ViolationRow(
    rule="C1",
    path="outputs[0].stride",
    expected="(3, 1)",
    found="(1, 3)",
    signature="C1 stride",
    finding=None,
    program="5b" * 8,
    replay="joint-conformance replay 5b5b",
)
ABSORBED = replace(NEW, finding="strided-view", program=None, replay="")
PASSED = Row(
    program="01" * 8,
    origin="drawn",
    shard="drawn-03",
    position=4,
    features=("mutation", "view"),
    outcome=Outcome.PASS,
    checked=("C1", "C2"),
    violations=(),
    seconds={"draw": 0.001, "export": 0.02},
    exported=True,
    descriptors={"PlainAOTInput": (2, 1), "PlainAOTOutput": (1, 0)},
)
FAILED = replace(PASSED, position=5, outcome=Outcome.FAIL, violations=(NEW,))
KNOWN = replace(PASSED, position=6, outcome=Outcome.KNOWN, violations=(ABSORBED,))
STALE = replace(PASSED, origin="finding", finding="strided-view", outcome=Outcome.OUT_OF_DATE)
_UNFINISHED = replace(PASSED, checked=(), seconds={}, exported=False, descriptors={})
UNOFFERED = replace(_UNFINISHED, outcome=Outcome.UNSUPPORTED)
CRASHED = replace(_UNFINISHED, program="dd" * 8, outcome=Outcome.CRASH, detail="SIGABRT: bad\nstride")
HUNG = replace(_UNFINISHED, program="ee" * 8, outcome=Outcome.TIMEOUT, detail="after 60 s")
BROKEN = replace(_UNFINISHED, program="bb" * 8, outcome=Outcome.ERROR, detail="KeyError: 'x'")


def whole(*rows: Row, header: Header = HEADER) -> Record:
    """The record of a run that came to its end."""
    footer = Footer(True, len(rows), count_outcomes(rows), header.started, 4.0, "")
    return Record(header, rows, footer)


def interrupted(*rows: Row) -> Record:
    """The record of a run that was cut off."""
    footer = Footer(False, len(rows), count_outcomes(rows), HEADER.started, 4.0, "interrupted")
    return Record(HEADER, rows, footer)


def demanding(vacuity: Mapping[str, int], *rows: Row) -> Record:
    """The record of a run that had to show these names so many times."""
    return whole(*rows, header=replace(HEADER, vacuity=vacuity))
