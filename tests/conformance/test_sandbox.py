"""A program that kills, hangs or soils its process is a verdict, and the next one is judged as ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.overrides import BaseTorchFunctionMode

from conformance import hygiene
from conformance.judge import Verdict, judge
from conformance.pytorch import PyTorch
from conformance.sandbox import Job, Sandbox
from conformance.shards import Shard, draw
from conformance.smoke import broken_adapter
from conformance.telling import DEFAULT
from generators.program import Leaf, Program, Ref
from reports.record import Outcome
from tests.conformance.misbehaving import TakesMemoryBitByBit
from tests.programs import INFERENCE, ONE_OUTPUT, let

#: The program on which the implementations misbehave.
SEVEN = replace(ONE_OUTPUT, leaves=(Leaf("x0", (7,), requires_grad=True),))
HERE = "tests.conformance.misbehaving"


def sandbox_for(name: str, timeout: float = 60.0) -> Sandbox:
    return Sandbox(Job(f"{HERE}:{name}", timeout=timeout))


@pytest.mark.parametrize(
    ("name", "outcome", "detail"),
    [
        ("Aborts", Outcome.CRASH, "SIGABRT"),
        ("Segfaults", Outcome.CRASH, "SIGSEGV"),
        ("Exits", Outcome.CRASH, "exit status 3"),
        ("ExitsQuietly", Outcome.CRASH, "exit status 0"),
        ("Interrupts", Outcome.CRASH, "exit status 1"),
        ("LeavesDtypeBehind", Outcome.ERROR, "left behind: default dtype torch.float64"),
    ],
)
def test_what_it_does_to_the_process_is_the_verdict_and_the_next_program_is_judged(
    name: str, outcome: Outcome, detail: str
) -> None:
    with sandbox_for(name) as sandbox:
        bad, good = sandbox.judge(SEVEN), sandbox.judge(INFERENCE)
    assert detail in str(bad.detail)
    assert (bad.outcome, bad.program, good.outcome) == (outcome, SEVEN, Outcome.PASS)


def test_a_death_that_a_fresh_process_does_not_die_was_another_programs_doing() -> None:
    with sandbox_for("DiesOfTheProgramBefore") as sandbox:
        sandbox.judge(SEVEN, thorough=False)
        assert sandbox.confirmed(INFERENCE, thorough=False).outcome is Outcome.PASS


def test_a_death_that_a_fresh_process_dies_too_is_the_verdict() -> None:
    with sandbox_for("Aborts") as sandbox:
        sandbox.judge(INFERENCE)
        assert sandbox.confirmed(SEVEN).outcome is Outcome.CRASH


def test_a_death_that_eager_dies_too_says_nothing_of_the_implementation() -> None:
    # The zero gradient of sgn over the values of a jagged tensor, accumulated into a gradient that is there.
    leaves = (Leaf("x0", (1,), requires_grad=True, subclass="jagged"),)
    body = (let("v0", "jagged_values", "a0"), let("v1", "sgn", "v0"))
    program = replace(ONE_OUTPUT, leaves=leaves, body=body, outputs=Ref("v1"))
    with Sandbox(Job(DEFAULT)) as sandbox:
        verdict = sandbox.confirmed(program, thorough=True)
    assert (verdict.outcome, str(verdict.detail)) == (Outcome.UNSUPPORTED, "eager dies of it too: SIGSEGV")


@pytest.mark.parametrize(
    ("name", "rules"),
    [("LeavesModeBehind", {"J27"}), ("LeavesGradModeBehind", {"J27"}), ("LeavesDtypeWhereItFails", {"J27", "C6"})],
)
def test_what_the_export_leaves_behind_is_a_violation_and_the_next_program_is_judged(name: str, rules: set[str]) -> None:
    with sandbox_for(name) as sandbox:
        bad, good = sandbox.judge(SEVEN), sandbox.judge(INFERENCE)
    assert ({item.violation.rule for item in bad.new}, good.outcome) == (rules, Outcome.PASS)


def test_what_the_export_leaves_behind_hides_no_other_violation() -> None:
    with sandbox_for("LeavesModeAndAttributeBehind") as sandbox:
        assert {item.violation.rule for item in sandbox.judge(SEVEN).new} == {"J15", "J27"}


def test_a_program_that_hangs_is_a_timeout_and_the_next_one_is_judged() -> None:
    with sandbox_for("Hangs", timeout=5.0) as sandbox:
        bad, good = sandbox.judge(SEVEN), sandbox.judge(INFERENCE)
    assert (bad.outcome, bad.detail, good.outcome) == (Outcome.TIMEOUT, "no answer within 5 s", Outcome.PASS)


def test_a_verdict_on_a_dead_child_has_the_features_of_the_program() -> None:
    with sandbox_for("Aborts") as sandbox:
        assert "op:sin" in sandbox.judge(SEVEN).features


@pytest.mark.parametrize("name", ["TakesAllMemory", TakesMemoryBitByBit.__name__])
def test_more_memory_than_a_program_may_have_is_an_error_of_torch(name: str) -> None:
    with sandbox_for(name) as sandbox:
        verdict = sandbox.judge(SEVEN)
    assert (verdict.outcome, "allocate memory" in str(verdict.judged)) == (Outcome.FAIL, True)


def test_an_exception_that_cannot_be_sent_is_told_as_text() -> None:
    with sandbox_for("RaisesWhatCannotBeSent") as sandbox:
        assert "a local class" in str(sandbox.judge(SEVEN).judged)


@pytest.fixture(scope="module")
def pytorch() -> Iterator[Sandbox]:
    with Sandbox(Job("conformance.pytorch:PyTorch")) as sandbox:
        yield sandbox


def test_a_program_that_eager_refuses_is_judged(pytorch: Sandbox) -> None:
    assert pytorch.judge(replace(ONE_OUTPUT, body=(let("v0", "select", "a0", 0, 9),))).outcome is Outcome.PASS


def test_a_program_whose_setup_eager_refuses_is_judged(pytorch: Sandbox) -> None:
    assert pytorch.judge(replace(SEVEN, setup=(let("x1", "view_as_complex", "x0"),))).outcome is Outcome.PASS


def test_drawing_in_a_child_is_the_drawing_of_the_shard(pytorch: Sandbox) -> None:
    shard = Shard("metadata", 1, 5, 20)
    assert pytorch.draw(shard) == draw(shard)


def test_only_the_rules_asked_for_are_checked() -> None:
    with Sandbox(Job("conformance.pytorch:PyTorch", only=("C2",))) as sandbox:
        assert sandbox.judge(ONE_OUTPUT).checked == ("C2",)


def test_an_implementation_that_cannot_start_is_no_verdict() -> None:
    with sandbox_for("CannotStart") as sandbox, pytest.raises(RuntimeError, match="the child process did not start"):
        sandbox.judge(ONE_OUTPUT)


def test_a_sandbox_that_was_closed_twice_starts_again(pytorch: Sandbox) -> None:
    sandbox = Sandbox(pytorch.job)
    sandbox.judge(INFERENCE)
    sandbox.close()
    sandbox.close()
    assert sandbox.judge(INFERENCE).outcome is Outcome.PASS
    sandbox.close()


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("conformance.pytorch", "write it as module:attribute"),
        ("no.such.module:It", "ModuleNotFoundError"),
        ("conformance.pytorch:It", "AttributeError"),
        (f"{HERE}:CannotStart", "RuntimeError: no licence"),
        (f"{HERE}:ExportIsMissing", "no export, export_options, compile, compile_options"),
        (f"{HERE}:ExportsNothing", "not implemented yet"),
        (f"{HERE}:CompilesNothing", "no compiler yet"),
        (f"{HERE}:DiesAtOnce", "ended in crash: SIGABRT"),
    ],
)
def test_a_broken_adapter_is_told_in_one_line(where: str, reason: str) -> None:
    told = broken_adapter(Job(where))
    assert reason in told and where in told and "\n" not in told


def test_pytorch_is_no_broken_adapter() -> None:
    assert broken_adapter(Job("conformance.pytorch:PyTorch")) == ""


def test_an_implementation_may_be_given_as_an_instance() -> None:
    assert broken_adapter(Job("tests.conformance.test_sandbox:INSTANCE")) == ""


INSTANCE = PyTorch()


def test_a_clean_process_is_clean() -> None:
    assert hygiene.left_behind() == {}


def test_every_state_that_is_left_otherwise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    other = dict.fromkeys(hygiene.STATES, object)
    monkeypatch.setattr(hygiene, "STATES", other)
    assert hygiene.left_behind().keys() == other.keys()


def test_a_number_that_torch_was_asked_to_specialize_is_asked_for_again() -> None:
    leaves = (Leaf("x0", (2,)), Leaf("x1", (), "float64"))
    body = (let("v0", "sin", "a0"),)
    program = Program(leaves, args=(Ref("x0"), Ref("x1")), body=body, outputs=Ref("v0"), symbolic=(2,))
    first, second = ([str(new.signature) for new in judge(program, PyTorch(), only=("C6",)).judged] for _ in range(2))
    assert first and first == second


@pytest.mark.parametrize("enter", [FakeTensorMode().__enter__, BaseTorchFunctionMode().__enter__])
def test_a_mode_that_is_left_on_is_put_back(enter: Callable[[], object]) -> None:
    enter()
    hygiene.put_back()
    assert hygiene.left_behind() == {}


def test_the_grad_mode_is_put_back() -> None:
    torch.set_grad_enabled(False)
    hygiene.put_back()
    assert torch.is_grad_enabled()


def test_a_vmap_that_is_left_open_is_put_back() -> None:
    torch._C._functorch._vmap_increment_nesting(2, "error")
    hygiene.put_back()
    assert hygiene.left_behind() == {}


def test_a_script_is_made_in_the_child() -> None:
    with Sandbox(Job("conformance.pytorch:PyTorch")) as sandbox:
        assert "class Program(nn.Module):" in sandbox.script(sandbox.judge(ONE_OUTPUT))


def test_a_program_that_this_torch_can_not_run_has_no_script() -> None:
    unknown = replace(SEVEN, body=(let("v0", "no_such_op", "a0"),))
    with Sandbox(Job("conformance.pytorch:PyTorch")) as sandbox:
        assert sandbox.script(Verdict(unknown, Outcome.FAIL, frozenset())) == ""
