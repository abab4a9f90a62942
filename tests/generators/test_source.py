"""The printed script is the program: the same bits, the same forward, an honest exit status."""

from __future__ import annotations

import contextlib
import io
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from hypothesis import HealthCheck, given, settings
from torch._functorch import aot_autograd

from conformance import scenarios
from conformance.observation import Facts
from generators import check_text
from generators.build import Scope, build
from generators.build import call as results_of
from generators.program import Const, Leaf, Node, Program, Ref, State, Statement
from generators.source import source
from generators.strategies import programs
from generators.variants import OTHER_SIZES, sizes_in
from generators.vocabulary import OPS, Op

GRAD = (Leaf("x0", (2, 3), requires_grad=True),)


def one(*body: Statement, outputs: tuple[str, ...] = ("v0",), leaves: tuple[Leaf, ...] = GRAD) -> Program:
    args = tuple(Ref(leaf.name) for leaf in leaves)
    return Program(leaves, args=args, body=body, outputs=Node("tuple", tuple(map(Ref, outputs))))


SIN = one(Statement("sin", ("a0",), (), ("v0",)))
#: Of two symbolic sizes; what the module holds keeps its own.
SIZED = Program(
    leaves=(
        Leaf("x0", (2, 3), stride=(1, 4), requires_grad=True),
        Leaf("x1", (3,), requires_grad=True, parameter=True),
        Leaf("x2", (3, 4), "int32"),
    ),
    state=(State("weight", "x1"),),
    args=(Ref("x0"), Ref("x2")),
    body=(Statement("sin", ("a0",), (), ("v0",)),),
    outputs=Ref("v0"),
    symbolic=(2, 3),
)
LAYOUTS = one(
    Statement("sin", ("a0",), (), ("v0",)),
    leaves=(
        Leaf("x0", (2, 3), stride=(1, 2)),
        Leaf("x1", (), "bfloat16", requires_grad=True),
        Leaf("x2", (4,), "int32"),
        Leaf("x3", (5,), "bool"),
        Leaf("x4", (3, 7), "complex64", requires_grad=True, parameter=True),
        Leaf("x5", (0, 3), "float64", parameter=True),
    ),
)
MODULE = Program(
    leaves=(Leaf("x0", (3,), requires_grad=True, parameter=True), Leaf("x1", (3,)), Leaf("x2", (2, 3), requires_grad=True)),
    setup=(Statement("contiguous", ("x0",), (), ("x3",)), Statement("unbind", ("x2",), (0,), ("x4", "x5"), "no_grad")),
    state=(State("weight", "x0"), State("block.inner.mean", "x1", persistent=False), State("block.twin", "x3")),
    args=(Node("dict", (Ref("x2"), Node("list", (Const(2), Ref("x4")))), ("first", "second")), Ref("x5")),
    kwargs=(("scale", Ref("x2")),),
    body=(
        Statement("mul", ("a0", "self.weight"), (), ("v0",)),
        Statement("mul_", ("self.block.inner.mean",), (2,), (), "no_grad"),
        Statement("add", ("a2", "a4"), (), ("v1",), "no_grad"),
        Statement("mul", ("v1", "a1"), (), ("v2",)),
    ),
    outputs=Node("dict", (Ref("v0"), Node("tuple", (Ref("v2"), Const(None)))), ("out", "rest")),
)


def executed(program: Program, **options: Any) -> dict[str, Any]:
    """The script's definitions, without its check."""
    scope: dict[str, Any] = {"__name__": "script"}
    exec(compile(source(program, **options), "script", "exec"), scope)
    return scope


def seen(module: Any, args: Any, kwargs: Any, held: dict[str, torch.Tensor]) -> Facts:
    """What one call gives and leaves behind, and the module's state, as comparable text."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        try:
            outputs = module(*args, **kwargs)
        except Exception as error:
            outputs = type(error).__name__
    given = pytree.tree_map(_fact, outputs), pytree.tree_map(_fact, (args, kwargs))
    names = {id(t): name for name, t in held.items()}
    hung = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    state = [(fqn, names[id(t)], fqn in module.state_dict()) for fqn, t in hung]
    return {"given": given, "held": {name: _fact(t) for name, t in held.items()}, "state": state}


def _fact(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    bits = value.detach().resolve_conj().clone(memory_format=torch.contiguous_format).flatten()
    bits = bits if bits.dtype == torch.bool or bits.numel() == 0 else bits.view(torch.uint8)
    return type(value), value.dtype, tuple(value.shape), value.stride(), value.requires_grad, bits.tolist()


def assert_same_program(program: Program, seed: int) -> None:
    built = build(program, variant=seed)
    expected = seen(built.module, built.args, built.kwargs, built.tensors)
    assert seen(*executed(program)["make"](seed)) == expected


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("program", [SIN, LAYOUTS, MODULE], ids=["sin", "layouts", "module"])
def test_a_script_makes_the_bits_and_the_module_that_build_makes(program: Program, seed: int) -> None:
    assert_same_program(program, seed)


@settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_drawn_program_and_its_script_do_the_same(program: Program) -> None:
    assert_same_program(program, 0)


def test_neighbours_of_one_grad_mode_share_a_block() -> None:
    quiet = [Statement("mul_", ("a0",), (2,), (), "no_grad"), Statement("add_", ("a0",), (1,), (), "no_grad")]
    program = one(*quiet, Statement("sin", ("a0",), (), ("v0",)))
    forward = "        with torch.no_grad():\n            a0.mul_(2)\n            a0.add_(1)\n        v0 = torch.sin(a0)\n"
    assert forward in source(program)


def test_the_first_of_several_results_is_taken_by_index() -> None:
    assert "v0 = a0.unbind(0)[0]\n" in source(one(Statement("unbind", ("a0",), (0,), ("v0",))))


def test_a_leaf_on_another_device_is_drawn_on_the_cpu() -> None:
    assert 'x0 = torch.randn(2, 3).to("cuda").requires_grad_()\n' in source(SIN, device="cuda")


def test_the_module_and_the_inputs_come_within_25_lines() -> None:
    assert "return Program()" in "\n".join(source(SIN, title="t", expected="e", found="f").splitlines()[:25])


def test_a_script_without_a_gradient_has_no_backward() -> None:
    assert "backward" not in source(one(Statement("sin", ("a0",), (), ("v0",)), leaves=(Leaf("x0", (2,)),)))


def test_a_difference_in_an_output_needs_no_backward() -> None:
    assert "backward" not in source(SIN, path="train:outputs[0].requires_grad")


def test_scenarios_are_those_of_the_conformance_run() -> None:
    assert set(check_text.WATCHES) == set(scenarios.SCENARIOS)


def test_a_scenario_has_the_values_of_the_conformance_run() -> None:
    assert {s: int(values) for s, values in check_text.INPUTS.items() if values.isdigit()} == scenarios.VARIANT


@pytest.mark.parametrize("scenario", list(OTHER_SIZES))
def test_a_scenario_of_other_sizes_makes_them_as_build_does(scenario: str) -> None:
    built = build(SIZED, sizes=sizes_in(scenario, SIZED))
    expected = seen(built.module, built.args, built.kwargs, built.tensors)
    assert seen(*executed(SIZED, scenario=scenario)["make"](**{scenario: True})) == expected


def test_an_implementation_that_is_wrong_at_other_sizes_alone_exits_1(tmp_path: Path) -> None:
    stuck = STAND_IN.replace("{corruption}", "return (out[:2],)")
    program = replace(SIN, symbolic=(2,))
    assert [run(source(program, scenario=scenario), tmp_path, stuck)[0] for scenario in ("train", "larger")] == [0, 1]


def test_quotes_and_backslashes_in_the_title_stay_text() -> None:
    assert executed(SIN, title='a """ and a \\ and a "')["__doc__"] == "a ''' and a \\ and a \"\n"


#: An implementation in place of torch's: the module itself, and then the corruption.
STAND_IN = """
import torch._functorch.aot_autograd as aot
from types import SimpleNamespace
aot.aot_export_joint_with_descriptors = lambda stack, module, args, kwargs: SimpleNamespace(
    params_spec=[], buffers_spec=[], module=module)
def compiled(joint):
    def call(*args):
        x, = args
        out, = joint.module(*args)
        {corruption}
    return call
aot.aot_compile_joint_with_descriptors = compiled
"""


@pytest.mark.parametrize("scenario", list(scenarios.SCENARIOS))
def test_a_faithful_implementation_exits_0_in_every_scenario(scenario: str, tmp_path: Path) -> None:
    faithful = STAND_IN.replace("{corruption}", "return (out,)")
    assert run(source(SIN, scenario=scenario), tmp_path, faithful) == (0, "OK")


@pytest.mark.parametrize(
    ("corruption", "scenario", "difference"),
    [
        ("return (out + 1,)", "train", "outputs[0].value"),
        ("return (out.detach(),)", "train", "outputs[0].requires_grad"),
        ("return (out.T.contiguous().T,)", "train", "outputs[0].stride"),
        ("return (out.double(),)", "train", "outputs[0].kind"),
        ("return [out]", "train", "structure"),
        ("torch.rand(()); return (out,)", "train", "rng"),
        ("return (x.view(2, 3),)", "train", "outputs[0].shares"),
        ("x.data.add_(1); return (out,)", "train", "x0.value"),
        ("return (out * 2 - out.detach(),)", "train", "x0.grad.value"),
        ("return (out * 2 - out.detach(),)", "again", "x0.grad.value"),
        ("return (out * 2 - out.detach(),)", "alone0", "x0.grad.value"),
        ("return (out * 2 - out.detach(),)", "one_by_one", "x0.grad.value"),
        ("return (out * 2 - out.detach(),)", "retained", "x0.grad.value"),
        ("return (out * 2 - out.detach(),)", "twice", "x0.grad.value"),
        ("return (out.requires_grad_(),)", "no_grad", "outputs[0].requires_grad"),
        ("return (out.detach(),)", "non_leaf", "outputs[0].requires_grad"),
        ("return (x.view(2, 3),)", "non_leaf", "outputs[0].base"),
        ("return (x,)", "written_no_grad", "x0.after"),
        ("y = out.data.clone(); out.register_hook(lambda g: g + out.data - y); return (out,)", "overwritten", "x0.grad.value"),
        ("return (torch.zeros(1).expand(2, 3),)", "written", "outputs[0].write"),
        ("raise ValueError", "train", "raises"),
    ],
)
def test_a_wrong_implementation_exits_1_and_is_told(corruption: str, scenario: str, difference: str, tmp_path: Path) -> None:
    status, printed = run(source(SIN, scenario=scenario), tmp_path, STAND_IN.replace("{corruption}", corruption))
    assert (status, f"{difference}:" in printed) == (1, True)


def test_a_lost_effect_is_told(tmp_path: Path) -> None:
    program = one(Statement("printed", ("a0",)), Statement("sin", ("a0",), (), ("v0",)))
    lost = STAND_IN.replace("out, = joint.module(*args)", "").replace("{corruption}", "return (x.sin(),)")
    assert run(source(program), tmp_path, lost) == (1, "effects: eager [('print', '6 elements')], compiled []\nDIFFERENT")


def test_a_lost_effect_of_a_branch_is_told(tmp_path: Path) -> None:
    program = one(Statement("cond_notes", ("a0",), (), ("v0",)))
    lost = STAND_IN.replace("out, = joint.module(*args)", "").replace("{corruption}", "return (x.sin(),)")
    assert "effects: eager [('note', " in run(source(program), tmp_path, lost)[1]


def test_a_script_whose_effects_are_kept_exits_0(tmp_path: Path) -> None:
    program = one(Statement("noted_both_ways", ("a0",), (), ("v0",)))
    assert run(source(program), tmp_path, STAND_IN.replace("{corruption}", "return (out,)")) == (0, "OK")


def test_an_effect_of_the_backward_needs_the_backward() -> None:
    program = one(Statement("noted_backward", ("a0",), (), ("v0",)))
    assert "backward(roots_of(" in source(program, path="train:effects.backward")


def test_an_error_that_eager_alone_raises_is_a_difference(tmp_path: Path) -> None:
    program = one(Statement("select", ("a0",), (0, 7), ("v0",)))
    broken = STAND_IN.replace("out, = joint.module(*args)", "").replace("{corruption}", "return (x,)")
    assert run(source(program), tmp_path, broken)[0] == 1


def test_an_error_of_another_type_is_a_difference_where_the_message_is_asked_for(tmp_path: Path) -> None:
    program = one(Statement("select", ("a0",), (0, 7), ("v0",)))
    broken = STAND_IN.replace("{corruption}", "").replace("out, = joint.module(*args)", "assert False")
    assert [run(source(program, path=path), tmp_path, broken)[0] for path in ("export:error", "export:message")] == [0, 1]


def test_an_error_on_both_sides_is_no_difference(tmp_path: Path) -> None:
    assert run(source(one(Statement("select", ("a0",), (0, 7), ("v0",)))), tmp_path)[0] == 0


def test_a_torch_without_the_export_exits_2(tmp_path: Path) -> None:
    missing = "import torch._functorch.aot_autograd as aot\ndel aot.aot_export_joint_with_descriptors\n"
    status, printed = run(source(SIN), tmp_path, missing)
    assert (status, printed[:6]) == (2, "ERROR:")


@pytest.mark.parametrize(
    ("path", "expected", "found", "status"),
    [
        ("inputs", "", "PlainAOTInput(idx=0)", 1),
        ("inputs", "", "PlainAOTInput(idx=9)", 0),
        ("inputs", "PlainAOTInput(idx=9), or a base of it", "nothing", 1),
        ("inputs", "PlainAOTInput(idx=0), or a base of it", "nothing", 0),
        ("outputs", "PlainAOTInput(idx=0)", "None", 0),
        ("output PlainAOTOutput", "once", "2 times: PlainAOTOutput(idx=0)", 0),
        ("cache_hash", "64 hex digits", "12", 2),
    ],
)
def test_a_graph_script_looks_for_what_was_found(path: str, expected: str, found: str, status: int, tmp_path: Path) -> None:
    assert run(source(SIN, path=path, expected=expected, found=found), tmp_path)[0] == status


def run(script: str, folder: Path, before: str = "") -> tuple[int, str]:
    """Exit status and output of the script, run as its own program after the lines ``before``."""
    file = folder / "script.py"
    file.write_text(before + script)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        for name in ("aot_export_joint_with_descriptors", "aot_compile_joint_with_descriptors"):
            patch.setattr(aot_autograd, name, getattr(aot_autograd, name))
        runpy.run_path(str(file), run_name="__main__")
    return int(ended.value.code or 0), printed.getvalue().strip()


#: But for flex_attention, which captures its function by itself, and must find it in a file for that.
CONTROL_FLOW = [op for op in OPS if op.kind.startswith("control") and not op.arguments and op.name != "flex_attention"]


@pytest.mark.parametrize("op", CONTROL_FLOW, ids=lambda op: op.name)
def test_a_script_carries_what_control_flow_calls(op: Op) -> None:
    leaves = tuple(Leaf(f"x{i}", (3, 2)) for i in range(op.operands))
    call = Statement(op.name, tuple(f"a{i}" for i in range(op.operands)))
    made = results_of(call, Scope({f"a{i}": torch.ones(3, 2) for i in range(op.operands)}))
    results = tuple(f"v{i}" for i in range(len(made)))
    assert_same_program(one(replace(call, results=results), outputs=("a0", *results), leaves=leaves), 0)


_CALL = Statement("flex_attention", ("a0",), (), ("v0",))
ATTENTION = Program((Leaf("x0", (1, 2, 4, 4)),), args=(Ref("x0"),), body=(_CALL,), outputs=Ref("v0"))


@pytest.mark.parametrize("program", [SIN, ATTENTION], ids=["sin", "flex_attention"])
def test_a_script_runs_by_itself(program: Program, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(source(program))
    done = subprocess.run([sys.executable, "-I", str(tmp_path / "script.py")], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "OK\n")


class Meshed:
    """Stands for a subclass with something in it that is no tensor."""

    mesh: Any = object()

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["mesh"], None


def test_of_what_is_no_tensor_in_a_subclass_the_class_is_told() -> None:
    scope: dict[str, Any] = {"torch": torch, "is_traceable_wrapper_subclass": lambda value: isinstance(value, Meshed)}
    exec(check_text.INSIDE, scope)
    assert scope["contents"](Meshed()) == {".mesh": "object"}


def test_a_ragged_size_is_told_without_its_name() -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec(check_text.INSIDE, scope)
    jagged = torch.nested.nested_tensor_from_jagged(torch.ones(3, 2), torch.tensor([0, 1, 3]))
    assert scope["told"](jagged.shape) == [2, "ragged", 2]
