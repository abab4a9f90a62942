"""A failure is shrunk under its own signature, in a child process, whether it is a violation or a death."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.campaign import plan as planning
from conformance.campaign import shrinking
from conformance.campaign.plan import CampaignError, Plan
from conformance.campaign.running import run_script
from conformance.campaign.shrinking import CUT_OFF, GONE, HANGS, HUNG, MINIMAL, shrink
from conformance.campaign.work import judge_shard
from conformance.judge import Verdict
from conformance.sandbox import Job, Sandbox
from conformance.shards import Shard
from conformance.telling import DEFAULT
from generators.program import Leaf, Program
from reports.record import Outcome
from tests.conformance.campaign.faked import VIOLATION, failure
from tests.programs import ONE_OUTPUT, let, outputs

HERE = "tests.conformance.misbehaving"
#: A view among four statements, on seven elements.
LONG = replace(
    ONE_OUTPUT,
    leaves=(Leaf("x0", (7,), requires_grad=True),),
    body=(let("v0", "unsqueeze", "a0", 0), let("v1", "sin", "v0")),
    outputs=outputs("v1"),
)
RAISED = replace(
    VIOLATION,
    rule="C6",
    path="export:error",
    signature="C6 export:error no error, as in eager -> Local: a local class",
)


@pytest.fixture(autouse=True)
def _no_script_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking, "run_script", lambda text: run_script("raise SystemExit(1)"))


def statements(program: Program) -> list[str]:
    return [statement.op for statement in program.body]


def test_a_crash_is_shrunk_to_the_statement_that_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking, "VERDICTS", 4)
    found = shrink("key", failure(None, LONG), Job(f"{HERE}:DiesOnViews"), seconds=600.0)
    assert (statements(found.program), found.signature) == (["unsqueeze"], None)


def test_shrinking_ends_where_nothing_smaller_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    died = Verdict(LONG, Outcome.CRASH, frozenset(), detail="SIGABRT")
    monkeypatch.setattr(Sandbox, "judge", lambda *_, **__: died)
    found = shrink("key", failure(None, LONG), Job(HERE))
    assert (found.program, found.ended) == (Program(), MINIMAL)


def test_a_violation_is_shrunk_under_its_signature() -> None:
    found = shrink("key", failure(RAISED, LONG), Job(f"{HERE}:RaisesWhatCannotBeSent"), seconds=600.0)
    assert (len(found.program.body), found.program.leaves[0].shape, str(found.signature)) == (0, (7,), RAISED.signature)


def test_shrinking_ends_when_its_time_is_up() -> None:
    assert shrink("key", failure(None, LONG), Job(f"{HERE}:DiesOnViews"), seconds=0.0).ended == CUT_OFF


def test_what_is_not_seen_again_is_left_as_it_is() -> None:
    found = shrink("key", failure(None), Job(f"{HERE}:DiesOnViews"))
    assert (found.program, found.ended) == (ONE_OUTPUT, GONE)


def test_a_violation_that_no_verdict_in_time_confirms_is_not_said_to_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "judge", lambda self, program, **_: Verdict(program, Outcome.TIMEOUT, frozenset()))
    assert shrink("key", failure(VIOLATION), Job(HERE)).ended == HUNG


def test_what_hangs_for_a_moment_only_is_not_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = failure(None)
    hung = replace(hangs, row=replace(hangs.row, outcome=Outcome.TIMEOUT))
    monkeypatch.setattr(Sandbox, "judge", lambda self, program, **_: Verdict(program, Outcome.PASS, frozenset()))
    assert shrink("key", hung, Job(HERE)).ended == GONE


def test_a_program_that_hangs_in_haste_alone_is_no_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = failure(None, LONG)
    hung = replace(hangs, row=replace(hangs.row, outcome=Outcome.TIMEOUT))
    monkeypatch.setattr(Sandbox, "judge", _hangs_if_hasty_or_long)
    assert shrink("key", hung, Job(HERE)).program == LONG


def _hangs_if_hasty_or_long(sandbox: Sandbox, program: Program, **_: object) -> Verdict:
    hangs = program == LONG or sandbox.job.timeout == HANGS
    return Verdict(program, Outcome.TIMEOUT if hangs else Outcome.PASS, frozenset())


def test_a_shard_is_drawn_and_judged_and_the_deaths_are_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "numbered_shard", lambda number, seed, mixes: Shard("aliasing", number, seed, 2))
    seen = judge_shard(Plan(0, ("aliasing",), f"{HERE}:DiesAtOnce"), 0)
    assert (seen.journal.count('"outcome": "crash"'), len(seen.failing)) == (2, 2)


def test_a_campaign_of_exports_judges_what_torch_export_takes_by_chapter_e(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "numbered_shard", lambda number, seed, mixes: Shard("arithmetic", number, seed, 6))
    journal = judge_shard(Plan(0, ("arithmetic",), DEFAULT, exported=True), 0).journal
    rows = [json.loads(line) for line in journal.splitlines()]
    assert rows and {rule[0] for row in rows for rule in row["checked"]} == {"E"}


def test_a_worker_with_another_torch_refuses() -> None:
    with pytest.raises(CampaignError, match=r"the campaign is one of 1\.0"):
        judge_shard(Plan(0, ("aliasing",), HERE, torch="1.0"), 0)


def test_a_script_that_does_not_end_is_ended() -> None:
    assert run_script("print(1, flush=True)\nwhile True: pass", timeout=1.0).status is None


def test_what_a_script_prints_is_told_with_its_status() -> None:
    ran = run_script("print('wrong')\nraise SystemExit(1)")
    assert (ran.status, ran.output) == (1, "wrong\n")
