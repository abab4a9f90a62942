"""What a failure says: the requirement, what was expected and found, the program as a script, the replay."""

from __future__ import annotations

from conformance.judge import Judged, Verdict
from conformance.requirements import REQUIREMENTS
from conformance.scenarios import SCENARIOS
from generators.program import Program
from generators.source import source
from reports.record import OUTCOMES

#: The implementation that is judged where nobody names another.
DEFAULT = "conformance.pytorch:PyTorch"


def replay_on(implementation: str) -> str:
    """The command that a program's hash or a finding's name ends, for this implementation."""
    return "joint-conformance replay" + (f" --implementation {implementation}" if implementation != DEFAULT else "")


def replay_command(program: str, implementation: str = DEFAULT) -> str:
    """The command that replays a program of this checkout by its hash."""
    return f"{replay_on(implementation)} {program}"


def violation_text(item: Judged, program: Program, device: str) -> str:
    """One violation in full, with the program that shows it."""
    violation = item.violation
    requirement = REQUIREMENTS[violation.rule]
    return "\n".join(
        [
            f"{requirement.id} ({requirement.level}): {requirement.sentence}",
            *([f"  relied on by {', '.join(requirement.consumers)}"] if requirement.consumers else []),
            f"  at        {violation.path}",
            f"  expected  {violation.expected}",
            f"  found     {violation.found}",
            f"  signature {item.signature}",
            f"  replay    {replay_command(program.name)}",
            "",
            script(item, program, device),
        ]
    )


def script(item: Judged, program: Program, device: str) -> str:
    """The program as a stand-alone script that checks this violation."""
    violation = item.violation
    scenario, colon, _ = violation.path.partition(":")
    return source(
        program,
        title=f"{violation.rule}: {REQUIREMENTS[violation.rule].sentence}",
        device=device,
        scenario=scenario if colon and scenario in SCENARIOS else "train",
        path=violation.path,
        expected=violation.expected,
        found=violation.found,
    )


def script_of(verdict: Verdict) -> str:
    """The program as a script that checks its first new violation, or the first that is known; or all that a caller sees.

    It runs the setup in eager, which may raise anything.
    """
    shown = verdict.new or verdict.judged
    if shown:
        return script(shown[0], verdict.program, verdict.device)
    return source(verdict.program, device=verdict.device)


def outcome_text(verdict: Verdict) -> str:
    """A verdict without violations, as one line: a crash, a timeout, an error of the suite."""
    meaning = OUTCOMES[verdict.outcome]
    return (
        f"{verdict.program.name}: {verdict.outcome.value}: {meaning.text} ({verdict.detail}); "
        f"replay: {replay_command(verdict.program.name)}"
    )
