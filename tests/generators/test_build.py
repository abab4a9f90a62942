"""Building gives the same bits in new tensors each time, laid out and hung as the program says."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from generators.build import MAX_RESULT_ELEMENTS, Built, TooLarge, build
from generators.program import Leaf, Node, Program, Ref, State, Statement
from generators.strategies import programs
from tests.programs import (
    ALIASED_INPUTS,
    BUFFERS_MUTATED,
    NESTED_STRUCTURES,
    ONE_OUTPUT,
    SAME_INPUT_TWICE,
    TIED_PARAMETERS,
    let,
    outputs,
)


def bits(built: Built) -> list[torch.Tensor]:
    """What the caller holds, as numbers that NaN cannot hide in."""
    return [torch.nan_to_num(tensor.detach().clone()) for tensor in built.tensors.values()]


def call(program: Program) -> object:
    built = build(program)
    return built.module(*built.args, **built.kwargs)


@settings(max_examples=50, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_each_build_gives_the_same_bits(program: Program) -> None:
    assert all(map(torch.equal, bits(build(program)), bits(build(program))))


def test_the_generator_of_torch_has_no_say() -> None:
    torch.manual_seed(1)
    first = bits(build(ONE_OUTPUT))
    torch.manual_seed(2)
    assert torch.equal(first[0], bits(build(ONE_OUTPUT))[0])


def test_the_generator_of_torch_is_left_alone() -> None:
    before = torch.get_rng_state()
    build(ONE_OUTPUT)
    assert torch.equal(before, torch.get_rng_state())


def test_each_build_makes_new_tensors() -> None:
    first, second = build(ONE_OUTPUT), build(ONE_OUTPUT)
    assert first.values["x0"].data_ptr() != second.values["x0"].data_ptr()


def test_another_variant_has_other_values() -> None:
    assert not torch.equal(build(ONE_OUTPUT).values["x0"], build(ONE_OUTPUT, variant=1).values["x0"])


def test_another_variant_has_the_same_shapes() -> None:
    assert build(ONE_OUTPUT).values["x0"].shape == build(ONE_OUTPUT, variant=1).values["x0"].shape


def test_tied_parameters_are_one_object() -> None:
    built = build(TIED_PARAMETERS)
    assert built.state("weight") is built.state("head.weight")


def test_a_tensor_that_is_passed_twice_is_one_object() -> None:
    args = build(SAME_INPUT_TWICE).args
    assert args[0] is args[1]


def test_views_of_one_base_share_its_storage() -> None:
    args = build(ALIASED_INPUTS).args
    assert args[0].untyped_storage()._cdata == args[1].untyped_storage()._cdata


def test_state_is_hung_under_its_names() -> None:
    module = build(BUFFERS_MUTATED).module
    assert (list(dict(module.named_parameters())), list(dict(module.named_buffers()))) == (["weight"], ["count", "scale"])


def test_only_persistent_buffers_are_saved() -> None:
    assert list(build(BUFFERS_MUTATED).module.state_dict()) == ["weight", "count"]


def test_arguments_have_their_structure() -> None:
    built = build(NESTED_STRUCTURES)
    assert (type(built.args[0]), list(built.kwargs), list(built.kwargs["scale"])) == (list, ["scale"], ["by"])


def test_outputs_have_their_structure() -> None:
    result = call(NESTED_STRUCTURES)
    assert isinstance(result, dict) and list(result) == ["first", "rest"] and isinstance(result["rest"], list)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "float16"])
def test_a_leaf_has_its_dtype_and_requires_grad(dtype: str) -> None:
    leaf = build(Program((Leaf("x0", (2,), dtype, requires_grad=True),))).values["x0"]
    assert (str(leaf.dtype), leaf.requires_grad, leaf.is_leaf) == (f"torch.{dtype}", True, True)


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "uint8"])
def test_an_integer_leaf_can_be_an_index(dtype: str) -> None:
    assert set(build(Program((Leaf("x0", (50,), dtype),))).values["x0"].int().tolist()) == {0, 1}


def test_a_leaf_has_its_stride() -> None:
    assert build(Program((Leaf("x0", (2, 3), stride=(1, 2), requires_grad=True),))).values["x0"].stride() == (1, 2)


def test_a_stride_changes_no_value() -> None:
    plain, strided = (build(Program((Leaf("x0", (2, 3), stride=stride),))).values["x0"] for stride in (None, (1, 2)))
    assert torch.equal(plain, strided)


def test_a_parameter_leaf_is_a_parameter() -> None:
    frozen = build(Program((Leaf("x0", (2,), parameter=True),))).values["x0"]
    assert isinstance(frozen, torch.nn.Parameter) and not frozen.requires_grad


def test_a_setup_statement_has_its_own_grad_mode() -> None:
    setup = (Statement("sin", ("x0",), (), ("x1",), "no_grad"), let("x2", "sin", "x0"))
    values = build(Program((Leaf("x0", (2,), requires_grad=True),), setup)).values
    assert (values["x1"].requires_grad, values["x2"].requires_grad) == (False, True)


def test_a_body_statement_has_its_own_grad_mode() -> None:
    body = (Statement("sin", ("a0",), (), ("v0",), "enable_grad"), let("v1", "sin", "a0"))
    program = Program((Leaf("x0", (2,), requires_grad=True),), args=(Ref("x0"),), body=body, outputs=outputs("v0", "v1"))
    with torch.no_grad():
        first, second = call(program)  # type: ignore[misc]
    assert (first.requires_grad, second.requires_grad) == (True, False)


def test_what_eager_raises_in_the_setup_comes_out() -> None:
    with pytest.raises(RuntimeError):
        build(Program((Leaf("x0", (3,)),), (let("x1", "view_as_complex", "x0"),)))


def test_a_statement_that_makes_too_much_is_an_error() -> None:
    side = int(MAX_RESULT_ELEMENTS**0.5) + 1
    body = (Statement("outer", ("a0", "a0"), (), ("v0",)),)
    with pytest.raises(TooLarge):
        call(Program((Leaf("x0", (side,)),), args=(Ref("x0"),), body=body, outputs=outputs("v0")))


def test_a_submodule_may_hold_state_beside_another() -> None:
    leaves = (Leaf("x0", (2,), parameter=True), Leaf("x1", (3,)))
    built = build(Program(leaves, state=(State("block.inner.weight", "x0"), State("block.mean", "x1"))))
    assert (built.state("block.inner.weight").shape, built.state("block.mean").shape) == ((2,), (3,))


def test_a_program_without_anything_returns_an_empty_tuple() -> None:
    assert call(Program(outputs=Node("tuple", ()))) == ()
