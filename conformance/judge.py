"""From a program to a verdict: walked, judged by every rule that applies, matched against the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import conformance.exported.rules
import conformance.rules  # noqa: F401  (registers the rules)
from conformance.case import Case, walk
from conformance.exported.case import Exported, export_walk
from conformance.exported.forms import EXPORTED, OTHERS
from conformance.exported.noted import metadata_features
from conformance.findings import Finding, finding_for
from conformance.graph import chain, kind_of, output_descriptors, placeholder_descriptors
from conformance.hygiene import left_behind
from conformance.implementation import Implementation, Joint
from conformance.named import Stated
from conformance.refusals import documented
from conformance.rule import EXPORTED_RULES, RULES, Rule, Violation
from conformance.signature import Signature, signature_of
from conformance.specification import checked_kinds
from conformance.tracing import Trace
from generators.features import features
from generators.program import Program
from reports.record import Outcome


@dataclass(frozen=True)
class Judged:
    """A violation with its signature and the finding that it is known by, if any."""

    violation: Violation
    signature: Signature
    finding: Finding | None


@dataclass(frozen=True)
class Verdict:
    """What the rules said of one program. ``checked`` holds the ids of the rules that applied.

    ``exported``, ``descriptors`` and ``graph`` are as in the run record's row. ``spoilt`` says that the process is not fit
    for another program: the export left something behind. ``trace`` is what a traced process saw.
    """

    program: Program
    outcome: Outcome
    features: frozenset[str]
    checked: tuple[str, ...] = ()
    judged: tuple[Judged, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    exported: bool = False
    descriptors: dict[str, tuple[int, int]] = field(default_factory=dict)
    graph: str = ""
    detail: str | None = None
    spoilt: bool = False
    device: str = "cpu"
    trace: Trace = field(default_factory=Trace)

    @property
    def new(self) -> list[Judged]:
        """The violations that no finding knows."""
        return [judged for judged in self.judged if judged.finding is None]


def judge(
    program: Program,
    implementation: Implementation,
    *,
    device: str = "cpu",
    findings: Sequence[Finding] = (),
    only: Collection[str] = (),
    thorough: bool | None = None,
    stated: Stated | None = None,
) -> Verdict:
    """The verdict on ``program``; ``only`` restricts the rules to these ids, and the walk to what they read.

    Where all of them are rules over exported programs, the program goes through torch.export, and not through the joint;
    without such a restriction, one whose case says so.

    An error of the suite itself, in a rule or in the walk, is the outcome ``error``, never a violation; so is
    global state that is other than it was, where it isn't the export that left it so (J27).
    """
    traits = features(program)
    is_of_export = EXPORTED_RULES.keys() >= set(only) if only else bool(stated and stated.form)
    case: Case | Exported
    try:
        if is_of_export:
            case = export_walk(program, implementation, device, OTHERS if thorough else (), stated=stated)
        else:
            case = walk(program, implementation, device, thorough, only, stated)
        if case.unsupported:
            return Verdict(program, Outcome.UNSUPPORTED, traits, detail=case.unsupported, device=device)
        with case.timed("rules"):
            checked, violations = _apply_rules(EXPORTED_RULES if is_of_export else RULES, case, only)
        verdict = _verdict(case, traits, checked, tuple(_judged(item, traits, findings) for item in violations))
    except Exception as error:
        return Verdict(program, Outcome.ERROR, traits, detail=f"{type(error).__name__}: {error}", device=device)
    if left_behind() and not case.left_behind:
        told = ", ".join(f"{name} {now}" for name, now in left_behind().items())
        return replace(verdict, outcome=Outcome.ERROR, judged=(), detail=f"left behind: {told}")
    return verdict


def _verdict(
    case: Case | Exported, traits: frozenset[str], checked: tuple[str, ...], judged: tuple[Judged, ...]
) -> Verdict:
    verdict = Verdict(
        case.program,
        _outcome(judged, _refused(case)),
        traits,
        checked,
        judged,
        seconds=case.seconds,
        detail=_refused(case),
        spoilt=bool(case.left_behind),
        device=case.device,
    )
    if isinstance(case, Exported):
        return replace(verdict, features=traits | metadata_features(case), exported=EXPORTED in case.forms, graph=case.graph)
    return replace(verdict, exported=case.joint is not None, descriptors=descriptors_of(case), graph=case.graph)


def descriptors_of(case: Case) -> dict[str, tuple[int, int]]:
    """Descriptor kind -> times on the joint graph, nested ones too, and times that its meaning was checked."""
    if case.joint is None:
        return {}
    seen, checked = seen_kinds(case.joint), checked_kinds(case.meaning)
    return {kind: (seen[kind], checked[kind]) for kind in sorted(seen)}


def seen_kinds(joint: Joint) -> Counter[str]:
    """How many descriptors of each kind are on the graph: those of placeholders and outputs, and what they wrap."""
    outermost = [*placeholder_descriptors(joint), *output_descriptors(joint)]
    return Counter(kind_of(descriptor) for top in outermost for descriptor in chain(top))


def _apply_rules(
    rules: Mapping[str, Rule], case: Case | Exported, only: Collection[str]
) -> tuple[tuple[str, ...], list[Violation]]:
    applied = [rule for rule in rules.values() if (not only or rule.id in only) and rule.applies(case)]
    found = [violation for rule in applied for violation in rule.judge(case)]
    return tuple(rule.id for rule in applied), found


def _judged(violation: Violation, traits: frozenset[str], findings: Sequence[Finding]) -> Judged:
    signature = signature_of(violation)
    return Judged(violation, signature, finding_for(signature, traits, findings))


def _outcome(judged: Sequence[Judged], refused: str | None) -> Outcome:
    if any(item.finding is None for item in judged):
        return Outcome.FAIL
    if judged:
        return Outcome.KNOWN
    return Outcome.REFUSED if refused else Outcome.PASS


def _refused(case: Case | Exported) -> str | None:
    """The documented refusal with which the export or compile ended, where eager went through."""
    if isinstance(case, Exported):
        return next((repr(raised) for raised in case.refusals.values() if documented(raised.error, raised.stage)), None)
    if case.refusal is None or case.eager["train"]["error"] or documented(case.refusal.error) is None:
        return None
    return repr(case.refusal)
