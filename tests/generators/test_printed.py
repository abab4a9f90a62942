"""The printed module computes what the program says, and its source is there as long as it is needed."""

from __future__ import annotations

import importlib
import inspect
import linecache
from typing import Any

import pytest
import torch

from generators.build import build
from generators.printed import printed_file, printed_module
from generators.program import Program
from tests import programs

every_program = pytest.mark.parametrize("program", [programs.TWO_OUTPUTS, programs.NESTED_STRUCTURES, programs.BUFFERS_MUTATED])


def result(program: Program, printed: bool) -> Any:
    built = build(program)
    with printed_module(program, built.values) as module:
        return (module if printed else built.module)(*built.args, **built.kwargs)


@every_program
def test_the_printed_module_computes_what_the_built_one_does(program: Program) -> None:
    torch.testing.assert_close(result(program, printed=True), result(program, printed=False))


def test_the_printed_module_holds_the_tensors_of_the_caller() -> None:
    built = build(programs.TWO_OUTPUTS)
    with printed_module(programs.TWO_OUTPUTS, built.values) as module:
        assert module.weight is built.state("weight")


def test_the_source_can_be_read() -> None:
    with printed_module(programs.ONE_OUTPUT, build(programs.ONE_OUTPUT).values) as module:
        assert "torch.sin(a0)" in inspect.getsource(type(module).forward)


def test_the_module_can_be_imported_inside_the_block_alone() -> None:
    name = printed_file(programs.ONE_OUTPUT).removesuffix(".py")
    with printed_module(programs.ONE_OUTPUT, build(programs.ONE_OUTPUT).values):
        importlib.import_module(name)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


def test_nothing_is_left_of_the_source() -> None:
    with printed_module(programs.ONE_OUTPUT, build(programs.ONE_OUTPUT).values):
        pass
    assert printed_file(programs.ONE_OUTPUT) not in linecache.cache
