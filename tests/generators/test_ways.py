"""How a program is exported, what is done to its module, under which modes it runs, and at which sizes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch._functorch.config
from torch._functorch import aot_autograd

from conformance.shards import Shard, draw
from generators.build import build, resized
from generators.codec import from_json, to_json
from generators.dressings import DRESSINGS, fqns
from generators.options import OPTIONS, Option, of_stage
from generators.preludes.symbolic import with_symbolic_sizes
from generators.program import MODES, Leaf, Program, Ref, State, Statement
from generators.source import source
from tests import programs

STATEFUL = Program(
    leaves=(
        Leaf("x0", (3,), requires_grad=True),
        Leaf("x1", (3,), requires_grad=True, parameter=True),
        Leaf("x2", (3,), requires_grad=True, parameter=True),
    ),
    state=(State("weight", "x1"), State("layer.weight", "x2")),
    args=(Ref("x0"),),
    body=(Statement("mul", ("a0", "self.weight"), (), ("v0",)), Statement("add", ("v0", "self.layer.weight"), (), ("v1",))),
    outputs=programs.outputs("v1"),
)
KEYWORDS = {
    "export": inspect.signature(aot_autograd.aot_export_joint_with_descriptors).parameters,
    "compile": inspect.signature(aot_autograd.aot_compile_joint_with_descriptors).parameters,
    "config": torch._functorch.config.get_config_copy(),
}

every_option = pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
every_dressing = pytest.mark.parametrize("dressing", DRESSINGS)
every_mode = pytest.mark.parametrize("mode", MODES)


def made_by_script(program: Program) -> Any:
    scope: dict[str, Any] = {"__name__": "script"}
    exec(compile(source(program), "script", "exec"), scope)
    return scope["make"]()


def outputs_of(module: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.utils._pytree.tree_leaves(module(*args, **kwargs))[0].detach()]


@every_option
def test_an_option_has_a_keyword_that_some_torch_offers(option: Option) -> None:
    if option.keyword not in KEYWORDS[option.stage]:
        pytest.skip("this torch does not offer it")
    assert option.value is not None


@every_option
def test_a_script_exports_with_the_option(option: Option) -> None:
    assert f"{option.keyword}={option.text}" in source(replace(STATEFUL, options=(option.name,)))


def test_the_options_of_a_stage_are_its_keywords() -> None:
    assert of_stage(("keep_inference_input_mutations", "config.debug_assert"), "config") == {"debug_assert": True}


@every_dressing
def test_the_fqns_are_those_of_the_dressed_module(dressing: str) -> None:
    program = replace(STATEFUL, dressing=(dressing,))
    module = build(program).module
    assert fqns(program).keys() == {fqn for fqn, _ in module.named_parameters(remove_duplicate=False)}


@every_dressing
def test_a_script_dresses_its_module_alike(dressing: str) -> None:
    program = replace(STATEFUL, dressing=(dressing,))
    built = build(program)
    module, args, kwargs, _ = made_by_script(program)
    assert torch.equal(*outputs_of(built.module, built.args, built.kwargs), *outputs_of(module, args, kwargs))


@every_mode
def test_a_script_runs_a_statement_under_its_mode(mode: str) -> None:
    program = replace(STATEFUL, body=tuple(replace(statement, mode=mode) for statement in STATEFUL.body))
    module, args, kwargs, _ = made_by_script(program)
    assert MODES[mode] in source(program) and module(*args, **kwargs)


@pytest.mark.parametrize("change", [{"options": ("min_cut",)}, {"dressing": ("eval",)}, {"symbolic": (3,)}], ids=str)
def test_what_is_beside_the_program_survives_its_file(change: dict[str, Any]) -> None:
    assert from_json(to_json(replace(STATEFUL, **change))) == replace(STATEFUL, **change)


def test_a_program_without_them_is_named_as_before_there_were_any() -> None:
    assert not {"options", "dressing", "symbolic", "subclass"} & set(repr(STATEFUL).replace("=", " ").replace("(", " ").split())


def test_another_way_makes_another_program() -> None:
    assert replace(STATEFUL, options=("min_cut",)).name != STATEFUL.name


def test_other_sizes_are_those_of_what_is_passed() -> None:
    built = build(STATEFUL, sizes={3: 5})
    assert [tuple(built.values[name].shape) for name in ("x0", "x1")] == [(5,), (3,)]


def test_what_the_modules_state_is_made_of_keeps_its_size() -> None:
    setup = (Statement("sin", ("x0",), (), ("x1",)),)
    program = Program((Leaf("x0", (3,)),), setup, (State("running", "x1"),), symbolic=(3,))
    assert tuple(build(program, sizes={3: 5}).values["x1"].shape) == (3,)


def test_a_resized_leaf_keeps_the_order_of_its_dimensions() -> None:
    assert resized(Leaf("x0", (2, 3), stride=(1, 2)), {3: 5}).stride == (1, 2)
    assert resized(Leaf("x0", (2, 3), stride=(1, 2)), {2: 4}).stride == (1, 4)


def test_equal_sizes_are_one_symbol() -> None:
    a, b = with_symbolic_sizes((torch.ones(2, 3), torch.ones(3)), (3,))
    assert a.shape[1].node.expr == b.shape[0].node.expr and isinstance(a.shape[0], int)


@pytest.mark.parametrize("mix, field", [("ways", "options"), ("ways", "dressing"), ("symbolic", "symbolic")])
def test_a_mix_draws_other_ways(mix: str, field: str) -> None:
    assert any(getattr(program, field) for program in draw(Shard(mix, 0, 0, 60)))


@pytest.mark.parametrize("mix", ["everything", "aliasing", "layers"])
def test_other_mixes_draw_the_usual_way(mix: str) -> None:
    assert not any(p.options or p.dressing or p.symbolic for p in draw(Shard(mix, 0, 0, 30)))
