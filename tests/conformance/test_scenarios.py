"""The scenarios see in eager what eager does, and nothing where eager is compared to itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from conformance.difference import differences, unstable_paths
from conformance.observation import Facts
from conformance.scenarios import NEEDS_GRADIENT, NEEDS_SEVERAL_ROOTS, NEEDS_SUBCLASSES, SCENARIOS, VARIANT, call_module, run
from generators.build import Built
from generators.program import Leaf, Program, Ref, Statement
from generators.strategies import programs
from tests import programs as by_hand
from tests.programs import change, let, outputs

Call = Callable[[Built], Any]

#: Two outputs that share no part of the graph: a backward from one leaves the other's alone.
APART = replace(by_hand.TWO_INPUTS, body=(let("v0", "sin", "a0"), let("v1", "sin", "a1")), outputs=outputs("v0", "v1"))


#: The same, and an output of a subclass.
APART_SUBCLASS = replace(APART, leaves=(replace(APART.leaves[0], subclass="pair"), APART.leaves[1]))


def eager(program: Program, scenario: str = "train") -> Facts:
    return run(scenario, call_module, program, "cpu")


@settings(max_examples=100, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_eager_does_not_differ_from_itself(program: Program) -> None:
    for scenario in ("train", "retained", "twice", "written"):
        first, unjudged = eager(program, scenario), unstable_paths(eager(program, scenario), eager(program, scenario))
        assert differences(first, eager(program, scenario), unjudged) == []


@settings(max_examples=50, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_nothing_in_eager_is_unstable(program: Program) -> None:
    assert unstable_paths(eager(program), eager(program)) == frozenset()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_goes_through_without_an_error(scenario: str) -> None:
    assert eager(APART, scenario)["error"] is None


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_notices_wrong_values(scenario: str) -> None:
    def wrong(built: Built) -> Any:
        return tuple(output * 1.5 for output in call_module(built))

    program = APART_SUBCLASS if scenario in NEEDS_SUBCLASSES else APART
    assert differences(eager(program, scenario), run(scenario, wrong, program, "cpu"))


def noted(scenario: str) -> Facts:
    return eager(replace(by_hand.ONE_OUTPUT, body=(let("v0", "noted_both_ways", "a0"),)), scenario)


def test_effects_of_the_forward_and_of_the_backward_are_told_apart() -> None:
    facts = noted("train")
    assert (facts["effects.forward"], facts["effects.backward"]) == (("noted_both_ways",), ("noted",))


def test_effects_of_two_calls_are_told_in_order() -> None:
    assert noted("twice")["effects.forward"] == ("noted_both_ways", "noted_both_ways")


def test_an_effect_is_told_with_what_it_was_called_with() -> None:
    assert "effects.backward[0].noted" in noted("train")


def test_a_print_is_an_effect() -> None:
    printing = replace(by_hand.ONE_OUTPUT, body=(change("printed", "a0"), let("v0", "sin", "a0")))
    assert eager(printing)["effects.forward[0].print"] == "6 elements"


def test_the_sets_of_scenarios_name_scenarios() -> None:
    assert NEEDS_GRADIENT | NEEDS_SEVERAL_ROOTS | set(VARIANT) <= set(SCENARIOS)


def detached(built: Built) -> Any:
    return tuple(output.detach() for output in call_module(built))


def doubled_gradient(built: Built) -> Any:
    return tuple(output * 2 - output.detach() for output in call_module(built))


def copied(built: Built) -> Any:
    return tuple(output.clone() for output in call_module(built))


def as_list(built: Built) -> Any:
    return list(call_module(built))


def noisy(built: Built) -> Any:
    torch.rand(())
    return call_module(built)


def writes_the_input(built: Built) -> Any:
    built.args[0].data.add_(1)
    return call_module(built)


def touches_the_input(built: Built) -> Any:
    torch._C._autograd._unsafe_set_version_counter((built.args[0],), (built.args[0]._version + 1,))
    return call_module(built)


def turns_the_input(built: Built) -> Any:
    result = call_module(built)
    built.args[0].data = built.args[0].data.t()
    return result


def fails(built: Built) -> Any:
    raise ValueError("no")


WRONG: list[tuple[Call, Program, str, str]] = [
    (detached, by_hand.ONE_OUTPUT, "train", "outputs[0].autograd"),
    (doubled_gradient, by_hand.ONE_OUTPUT, "train", "grads.x0.value"),
    (doubled_gradient, by_hand.ONE_OUTPUT, "again", "grads.x0.value"),
    (doubled_gradient, by_hand.ONE_OUTPUT, "retained", "grads.x0.value"),
    (doubled_gradient, by_hand.TWO_OUTPUTS, "alone1", "grads.x1.value"),
    (doubled_gradient, APART, "one_by_one", "grads.x1.value"),
    (doubled_gradient, by_hand.ONE_OUTPUT, "twice", "grads.x0.value"),
    (copied, by_hand.OUTPUT_ALIASES_INPUT, "train", "outputs[0].is"),
    (copied, by_hand.OUTPUT_ALIASES_INPUT, "train", "outputs[1].shares"),
    (copied, by_hand.OUTPUT_VIEWS_OF_INTERMEDIATE, "train", "outputs[1].shares"),
    (copied, by_hand.OUTPUT_ALIASES_INPUT, "written_no_grad", "caller.x0.after.value"),
    (as_list, by_hand.ONE_OUTPUT, "train", "outputs.structure"),
    (noisy, by_hand.ONE_OUTPUT, "train", "rng.value"),
    (writes_the_input, by_hand.ONE_OUTPUT, "train", "caller.x0.value"),
    (touches_the_input, by_hand.INFERENCE, "train", "caller.x0.written"),
    (turns_the_input, by_hand.INFERENCE, "train", "caller.x0.shape"),
    (fails, by_hand.ONE_OUTPUT, "train", "error"),
]


@pytest.mark.parametrize(("wrong", "program", "scenario", "path"), WRONG, ids=[f"{w[0].__name__}-{w[2]}-{w[3]}" for w in WRONG])
def test_what_is_wrong_shows_at_its_path(wrong: Call, program: Program, scenario: str, path: str) -> None:
    assert path in {d.path for d in differences(eager(program, scenario), run(scenario, wrong, program, "cpu"))}


def test_a_mutation_shows_as_written() -> None:
    facts = eager(by_hand.MUTATED_INPUT)
    assert (facts["caller.x0.written"], facts["caller.x1.written"]) == (True, False)


def test_an_unused_leaf_has_no_gradient() -> None:
    leaves = (Leaf("x0", (2,), requires_grad=True), Leaf("x1", (2,), requires_grad=True))
    program = Program(leaves, args=(Ref("x0"), Ref("x1")), body=(let("v0", "sin", "a0"),), outputs=outputs("v0"))
    facts = eager(program)
    assert (facts["grads.x0.none"], facts["grads.x1.none"]) == (False, True)


def test_an_error_of_the_setup_is_told_as_such() -> None:
    program = replace(by_hand.ONE_OUTPUT, setup=(let("x1", "view_as_complex", "x0"),))
    assert repr(eager(program)["error"]).startswith("RuntimeError in setup:")


def test_an_error_of_the_forward_is_told_as_such() -> None:
    program = replace(by_hand.ONE_OUTPUT, body=(let("v0", "select", "a0", 0, 9),))
    assert repr(eager(program)["error"]).startswith("IndexError in forward:")


def test_an_error_of_the_backward_is_told_as_such() -> None:
    spoilt = (let("v0", "exp", "a0"), Statement("detach", ("v0",), (), ("v1",)), change("zero_", "v1"))
    program = replace(by_hand.ONE_OUTPUT, body=spoilt, outputs=outputs("v0"))
    assert repr(eager(program)["error"]).startswith("RuntimeError in backward:")


def test_other_values_are_used_again() -> None:
    values = [eager(by_hand.ONE_OUTPUT, scenario)["outputs[0].value"] for scenario in ("train", "again")]
    assert not torch.equal(*values)


def test_gradients_are_accumulated_again() -> None:
    first, again = eager(by_hand.ONE_OUTPUT), eager(by_hand.ONE_OUTPUT, "again")
    assert not torch.equal(first["grads.x0.value"], again["grads.x0.value"])


def test_a_call_under_no_grad_has_no_gradient() -> None:
    assert eager(by_hand.ONE_OUTPUT, "no_grad")["outputs[0].autograd"] == "no grad"


def test_a_scenario_leaves_the_grad_mode_alone() -> None:
    eager(by_hand.ONE_OUTPUT, "no_grad")
    assert torch.is_grad_enabled()
