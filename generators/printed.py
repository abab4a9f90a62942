"""A program's module as the script prints it: a class with a forward of its own, which Dynamo can trace."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from torch import nn

from generators.program import Program
from generators.source import source


def printed_file(program: Program) -> str:
    """The name of the file that stack traces through the printed module's forward give."""
    return f"program_{program.name}.py"


@contextmanager
def printed_module(program: Program, values: dict[str, Any]) -> Iterator[nn.Module]:
    """The printed module, holding those of the caller's ``values`` that the program hangs on it.

    Inside the block its source can be imported and read line by line, as Dynamo does. Raises what the
    printing raises.
    """
    file = printed_file(program)
    text = source(program)
    script = ModuleType(file.removesuffix(".py"))
    sys.modules[script.__name__] = script
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec"), vars(script))
        yield script.Program(*(values[name] for name in dict.fromkeys(state.value for state in program.state)))
    finally:
        del sys.modules[script.__name__], linecache.cache[file]
