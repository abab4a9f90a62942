"""From verdicts to the rows of the run record, and the record's header."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import torch

import golden
from conformance.findings import Finding, finding_for, titles_in
from conformance.judge import Judged, Verdict
from conformance.requirements import REQUIREMENTS
from conformance.rule import EVERY_KIND, Violation
from conformance.signature import signature_of
from conformance.telling import replay_command, replay_on, script_of
from conformance.vacuity import documented_kinds, not_expected
from reports.record import Header, Origin, Outcome, Row, ViolationRow, append_row, utc_now

#: Requirements that a run without a GPU can't check, and why.
NEEDS_GPU = {"C16": "needs CUDA"}
#: The origins of programs that every run has alike.
COMPARED = frozenset({"case", "exported", "finding", "stored"})


@dataclass
class Recorder:
    """Writes one process's rows to its journal as they come; nothing is kept back.

    ``script`` makes a script of a verdict's program.
    """

    journal: Path
    script: Callable[[Verdict], str] = script_of
    _positions: dict[str, int] = field(default_factory=dict)

    def add(self, verdict: Verdict, origin: Origin, shard: str, finding: str | None = None) -> Row:
        """Write down the verdict, and give back its row.

        It keeps script and graph where another version's run has the same program to compare, or something is new.
        """
        keeps = origin in COMPARED or bool(verdict.new)
        row = Row(
            program=verdict.program.name,
            origin=origin,
            shard=shard,
            position=self._next_position(shard),
            features=tuple(sorted(verdict.features)),
            outcome=verdict.outcome,
            checked=verdict.checked,
            violations=tuple(_violation_row(item, verdict.program.name) for item in _one_each(verdict.judged)),
            seconds=verdict.seconds,
            exported=verdict.exported,
            descriptors=verdict.descriptors,
            detail=verdict.detail,
            finding=finding,
            source=self.script(verdict) if keeps else "",
            graph=verdict.graph if keeps else "",
        )
        append_row(self.journal, row)
        return row

    def add_unreadable(self, error: Exception, origin: Origin, name: str) -> None:
        """Write down that a stored program or a finding could not be read: an error, with the one line that says why."""
        row = Row(
            program=_hash_of(name),
            origin=origin,
            shard=origin,
            position=self._next_position(origin),
            features=(),
            outcome=Outcome.ERROR,
            checked=(),
            violations=(),
            seconds={},
            detail=str(error),
            finding=name if origin == "finding" else None,
        )
        append_row(self.journal, row)

    def _next_position(self, shard: str) -> int:
        position = self._positions[shard] = self._positions.get(shard, -1) + 1
        return position

    def add_without_program(
        self,
        name: str,
        checked: tuple[str, ...],
        violations: Sequence[Violation],
        kinds: Mapping[str, tuple[int, int]] | None = None,
        findings: Sequence[Finding] = (),
    ) -> list[Judged]:
        """Write down what rules said of no program, but of classes, of types, or of one graph with these kinds.

        Gives back the violations that none of the findings knows.
        """
        signatures = [(violation, signature_of(violation)) for violation in violations]
        judged = [Judged(item, signature, finding_for(signature, frozenset(), findings)) for item, signature in signatures]
        new = [item for item in judged if item.finding is None]
        row = Row(
            program=_hash_of(name),
            origin="vocabulary",
            shard=name,
            position=0,
            features=(),
            outcome=Outcome.FAIL if new else Outcome.KNOWN if judged else Outcome.PASS,
            exported=bool(kinds),
            descriptors=kinds or {},
            checked=checked,
            violations=tuple(_violation_row(item, None) for item in judged),
            seconds={},
        )
        append_row(self.journal, row)
        return new

    def add_out_of_date(self, finding: Finding) -> None:
        """Write down that a finding about types no longer fails."""
        row = Row(
            program=_hash_of(finding.slug),
            origin="finding",
            shard="finding",
            position=self._next_position("finding"),
            features=(),
            outcome=Outcome.OUT_OF_DATE,
            checked=(),
            violations=(),
            seconds={},
            finding=finding.slug,
        )
        append_row(self.journal, row)


def _hash_of(name: str) -> str:
    """A stand-in for a program's hash, for a row that has no program."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def _one_each(judged: Sequence[Judged]) -> list[Judged]:
    """The first violation of each signature: one row says that it happened."""
    return list({str(item.signature): item for item in reversed(judged)}.values())[::-1]


def _violation_row(item: Judged, program: str | None) -> ViolationRow:
    violation = item.violation
    slug = item.finding.slug if item.finding else None
    replay = replay_command(program) if program and not slug else ""
    return ViolationRow(
        rule=violation.rule,
        path=violation.path,
        expected=violation.expected,
        found=violation.found,
        signature=str(item.signature),
        finding=slug,
        program=program,
        replay=replay,
    )


def header(
    implementation: str,
    profile: str,
    seed: int,
    devices: tuple[str, ...],
    vacuity: Mapping[str, int],
    selection: str = "",
    shard: str = "1/1",
) -> Header:
    """The header of a run that starts now; ``vacuity`` is what it must show, empty where nothing is demanded."""
    has_rule = [id for id in REQUIREMENTS if any(id in rules for rules in EVERY_KIND)]
    return Header(
        suite_version=version("joint-conformance"),
        torch_version=torch.__version__,
        torch_git=torch.version.git_version or "",
        python=platform.python_version(),
        platform=platform.platform(),
        implementation=implementation,
        profile=profile,
        seed=seed,
        devices=devices,
        corpus_hash=golden.content_hash([*golden.files(golden.PROGRAMS), *golden.cases()]),
        findings_hash=golden.content_hash([*golden.files(golden.FINDINGS), *golden.files(golden.BOUNDARY)]),
        started=utc_now(),
        requirements={id: REQUIREMENTS[id].sentence for id in has_rule},
        unchecked={} if "cuda" in devices else NEEDS_GPU,
        kinds=documented_kinds(),
        not_expected=not_expected(devices),
        vacuity=vacuity,
        consumers={id: REQUIREMENTS[id].consumers for id in has_rule if REQUIREMENTS[id].consumers},
        findings=titles_in(golden.FINDINGS) | titles_in(golden.BOUNDARY),
        replay=replay_on(implementation),
        selection=selection,
        shard=shard,
    )
