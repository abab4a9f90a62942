"""Programs to and from JSON, without loss and without trust.

A program file is data: ops are looked up in the vocabulary, names and numbers are checked against the
limits below, and nothing in a file is evaluated. A damaged or hostile file raises ProgramError with one
line that names the place.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from generators.dressings import LINES
from generators.options import OPTIONS
from generators.prelude import NAMES
from generators.program import CONTAINERS, MODES, Const, Leaf, Literal, Node, Program, Ref, State, Statement, Tree
from generators.subclasses import SUBCLASSES
from generators.vocabulary import DTYPES, VOCABULARY

SCHEMA_VERSION = 1

#: Limits that keep a hostile file from costing more than a program of the fuzzer costs.
MAX_FILE_BYTES = 1 << 20
MAX_ITEMS = 256
MAX_DEPTH = 8
MAX_INTEGER = 4096
MAX_ELEMENTS = 1 << 12

#: What the caller makes, what the body makes, and what a statement may be given: see generators/program.py.
#: A value of any other name could hide ``torch`` in the printed script.
_CALLER_NAME = re.compile(r"x[0-9]{1,3}")
_BODY_NAME = re.compile(r"v[0-9]{1,3}")
_ANY_NAME = re.compile(r"[axv][0-9]{1,3}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,31}")
_FQN = re.compile(r"[a-z][a-z0-9_]{0,31}(\.[a-z][a-z0-9_]{0,31}){0,5}")
#: An argument of forward may not hide what its body speaks of, nor a part of an FQN what a module is made of.
_NO_KEYWORD = re.compile(r"self|(a|x|v|arg)[0-9]+|" + "|".join([*keyword.kwlist, *NAMES]))
_NO_FQN_PART = frozenset(keyword.kwlist) | {"self", "program"} | frozenset(dir(nn.Module()))

#: What a program, and a leaf, without it need not mention.
_OPTIONAL = ("dressing", "options", "symbolic")
_OPTIONAL_OF_LEAF = ("subclass",)

T = TypeVar("T")


class ProgramError(ValueError):
    """A program file that can't be used; the message is one line: where, and what is wrong there."""


def to_json(program: Program) -> dict[str, Any]:
    """The program as JSON data with the schema version; ``from_json`` gives back an equal program."""
    return {
        "schema": SCHEMA_VERSION,
        "leaves": [_leaf_to_json(leaf) for leaf in program.leaves],
        "setup": [_statement_to_json(s) for s in program.setup],
        "state": [{"fqn": s.fqn, "value": s.value, "persistent": s.persistent} for s in program.state],
        "args": [_tree_to_json(tree) for tree in program.args],
        "kwargs": [[key, _tree_to_json(tree)] for key, tree in program.kwargs],
        "body": [_statement_to_json(s) for s in program.body],
        "outputs": _tree_to_json(program.outputs),
        **{key: list(getattr(program, key)) for key in _OPTIONAL if getattr(program, key)},
    }


def from_json(data: Any) -> Program:
    """The program that ``data`` describes.

    Raises ProgramError, naming the place, where the data is not a program of this schema version or
    exceeds the limits of this module.
    """
    top = _record(data, "program", {"schema", "leaves", "setup", "state", "args", "kwargs", "body", "outputs"}, _OPTIONAL)
    if type(top["schema"]) is not int or top["schema"] != SCHEMA_VERSION:
        raise ProgramError(f"schema: version {brief(top['schema'])}, this suite reads {SCHEMA_VERSION}")
    program = Program(
        leaves=_each(top["leaves"], "leaves", _leaf),
        setup=_each(top["setup"], "setup", lambda item, at: _statement(item, at, _CALLER_NAME)),
        state=_each(top["state"], "state", _state),
        args=_each(top["args"], "args", _tree),
        kwargs=_distinct(_each(top["kwargs"], "kwargs", _keyword), "kwargs"),
        body=_each(top["body"], "body", lambda item, at: _statement(item, at, _BODY_NAME)),
        outputs=_tree(top["outputs"], "outputs"),
        dressing=_each(top.get("dressing", []), "dressing", lambda item, at: _one_of(item, at, LINES)),
        options=_each(top.get("options", []), "options", lambda item, at: _one_of(item, at, OPTIONS)),
        symbolic=_each(top.get("symbolic", []), "symbolic", _size),
    )
    if max(len(program.flat_args), len(program.flat_outputs)) > MAX_ITEMS:
        raise ProgramError(f"args or outputs: over {MAX_ITEMS} leaves")
    check_names(program)
    return program


def load(path: Path) -> Program:
    """The program in the file at ``path``. Raises ProgramError with the path in front."""
    return from_json_file(path, from_json)


def from_json_file(path: Path, decode: Callable[[Any], T]) -> T:
    """What ``decode`` makes of the JSON in ``path``. Raises ProgramError with the path in front."""
    try:
        return decode(_parsed(path))
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None


def _parsed(path: Path) -> Any:
    try:
        with path.open("rb") as file:  # never more than the limit, whatever the file system says of its size
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) <= MAX_FILE_BYTES:
            return json.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # json raises a plain ValueError for a number of 5,000 digits
        raise ProgramError(f"cannot be read: {' '.join(str(error).split())}") from None
    raise ProgramError(f"larger than {MAX_FILE_BYTES} bytes")


def dump(program: Program, path: Path) -> None:
    """Write the program to ``path``, one readable JSON document."""
    path.write_text(json.dumps(to_json(program), indent=1) + "\n", encoding="utf-8")


def check_names(program: Program) -> None:
    """Raise ProgramError unless every name is defined once, before it is used (static single assignment)."""
    known: set[str] = set()
    for index, leaf in enumerate(program.leaves):
        _define(leaf.name, known, f"leaves[{index}]")
    _check_statements(program.setup, known, "setup")
    for index, state in enumerate(program.state):
        _require(state.value, known, f"state[{index}].value")
    for index, argument in enumerate(program.flat_args):
        if isinstance(argument, Ref):
            _require(argument.name, known, f"args leaf {index}")
    fqns = [state.fqn for state in program.state]
    if any(a == b or b.startswith(a + ".") for i, a in enumerate(fqns) for j, b in enumerate(fqns) if i != j):
        raise ProgramError("state: one FQN twice, or one inside another")
    inside = {f"a{index}" for index in range(len(program.flat_args))} | {f"self.{fqn}" for fqn in fqns}
    _check_statements(program.body, inside, "body")
    for index, output in enumerate(program.flat_outputs):
        if isinstance(output, Ref):
            _require(output.name, inside, f"outputs leaf {index}")


def _check_statements(statements: tuple[Statement, ...], known: set[str], place: str) -> None:
    for index, statement in enumerate(statements):
        for operand in statement.operands:
            _require(operand, known, f"{place}[{index}].operands")
        for result in statement.results:
            _define(result, known, f"{place}[{index}].results")


def _require(name: str, known: set[str], place: str) -> None:
    if name not in known:
        raise ProgramError(f"{place}: {name!r} is not defined before it is used")


def _define(name: str, known: set[str], place: str) -> None:
    if name in known:
        raise ProgramError(f"{place}: {name!r} is defined twice")
    known.add(name)


def _leaf_to_json(leaf: Leaf) -> dict[str, Any]:
    stride = None if leaf.stride is None else list(leaf.stride)
    record = {**leaf.__dict__, "shape": list(leaf.shape), "stride": stride}
    return {key: value for key, value in record.items() if key not in _OPTIONAL_OF_LEAF or value}


def _statement_to_json(statement: Statement) -> dict[str, Any]:
    return {
        "op": statement.op,
        "operands": list(statement.operands),
        "arguments": [_literal_to_json(argument) for argument in statement.arguments],
        "results": list(statement.results),
        "mode": statement.mode,
    }


def _literal_to_json(literal: Literal) -> Any:
    return [_literal_to_json(item) for item in literal] if isinstance(literal, tuple) else literal


def _tree_to_json(tree: Tree) -> dict[str, Any]:
    if isinstance(tree, Ref):
        return {"ref": tree.name}
    if isinstance(tree, Const):
        return {"const": tree.value}
    children = [_tree_to_json(child) for child in tree.children]
    pairs = zip(tree.keys, children, strict=True) if tree.kind == "dict" else ()
    return {tree.kind: [[key, child] for key, child in pairs] if tree.kind == "dict" else children}


def _record(data: Any, place: str, keys: set[str], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The data, if it has all of the keys, and of the ``optional`` ones those that it likes."""
    if not isinstance(data, dict):
        raise ProgramError(f"{place}: an object is needed, not {brief(data)}")
    if wrong := set(data) - set(optional) ^ keys:
        raise ProgramError(f"{place}: missing or unknown keys {', '.join(map(brief, sorted(wrong)[:4]))}")
    return data


def _each(data: Any, place: str, decode: Callable[[Any, str], T]) -> tuple[T, ...]:
    if not isinstance(data, list):
        raise ProgramError(f"{place}: a list is needed, not {brief(data)}")
    if len(data) > MAX_ITEMS:
        raise ProgramError(f"{place}: {len(data)} items, the limit is {MAX_ITEMS}")
    return tuple(decode(item, f"{place}[{index}]") for index, item in enumerate(data))


def _leaf(data: Any, place: str) -> Leaf:
    keys = {"name", "shape", "dtype", "stride", "requires_grad", "parameter"}
    record = _record(data, place, keys, _OPTIONAL_OF_LEAF)
    shape = _each(record["shape"], f"{place}.shape", _size)
    if _too_large(shape):
        raise ProgramError(f"{place}.shape: over {MAX_DEPTH} dimensions or {MAX_ELEMENTS} elements")
    stride = None if record["stride"] is None else _stride(record["stride"], f"{place}.stride", shape)
    dtype = _one_of(record["dtype"], f"{place}.dtype", DTYPES)
    requires_grad, parameter = (_boolean(record[key], f"{place}.{key}") for key in ("requires_grad", "parameter"))
    if requires_grad and not (DTYPES[dtype].is_floating_point or DTYPES[dtype].is_complex):
        raise ProgramError(f"{place}.requires_grad: {dtype} has no gradient")
    subclass = _one_of(record.get("subclass", ""), f"{place}.subclass", ("", *SUBCLASSES))
    name = _name(record["name"], f"{place}.name", _CALLER_NAME)
    return Leaf(name, shape, dtype, stride, requires_grad, parameter, subclass)


def _stride(data: Any, place: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    stride = _each(data, place, _size)
    if len(stride) != len(shape):
        raise ProgramError(f"{place}: {len(stride)} strides for {len(shape)} dimensions")
    pairs = list(zip(shape, stride, strict=True))
    if sum((n - 1) * s for n, s in pairs if n) > MAX_ELEMENTS:
        raise ProgramError(f"{place}: spans over {MAX_ELEMENTS} elements")
    if math.prod(shape) and any(n > 1 and s == 0 for n, s in pairs):
        raise ProgramError(f"{place}: stride 0 repeats elements; expand one in the setup")
    return stride


def _statement(data: Any, place: str, results_are: re.Pattern[str]) -> Statement:
    record = _record(data, place, {"op", "operands", "arguments", "results", "mode"})
    op = VOCABULARY[_one_of(record["op"], f"{place}.op", VOCABULARY)]
    operands = _each(record["operands"], f"{place}.operands", _value)
    arguments = _each(record["arguments"], f"{place}.arguments", _literal)
    if len(operands) != op.operands or len(arguments) != len(op.arguments):
        raise ProgramError(f"{place}: {op.name} takes {op.operands} operands and {len(op.arguments)} arguments")
    results = _each(record["results"], f"{place}.results", lambda item, at: _name(item, at, results_are))
    if len(results) > (0 if not op.has_result else MAX_ITEMS if op.many else 1):
        raise ProgramError(f"{place}.results: {op.name} has {'one result' if op.has_result else 'no result'}")
    return Statement(op.name, operands, arguments, results, _one_of(record["mode"], f"{place}.mode", MODES))


def _state(data: Any, place: str) -> State:
    record = _record(data, place, {"fqn", "value", "persistent"})
    fqn = record["fqn"]
    if not isinstance(fqn, str) or not _FQN.fullmatch(fqn) or set(fqn.split(".")) & _NO_FQN_PART:
        raise ProgramError(f"{place}.fqn: {brief(fqn)} is no FQN")
    value = _name(record["value"], f"{place}.value", _CALLER_NAME)
    return State(fqn, value, _boolean(record["persistent"], f"{place}.persistent"))


def _keyword(data: Any, place: str) -> tuple[str, Tree]:
    if not isinstance(data, list) or len(data) != 2:
        raise ProgramError(f"{place}: a pair [name, tree] is needed, not {brief(data)}")
    if isinstance(data[0], str) and _NO_KEYWORD.fullmatch(data[0]):
        raise ProgramError(f"{place}[0]: {brief(data[0])} can't name an argument")
    return _name(data[0], f"{place}[0]", _WORD), _tree(data[1], f"{place}[1]")


def _tree(data: Any, place: str, depth: int = 0) -> Tree:
    if depth > MAX_DEPTH:
        raise ProgramError(f"{place}: nested deeper than {MAX_DEPTH}")
    if not isinstance(data, dict) or len(data) != 1:
        raise ProgramError(f"{place}: one of ref, const, {', '.join(CONTAINERS)} is needed, not {brief(data)}")
    ((kind, content),) = data.items()
    if kind == "ref":
        return Ref(_value(content, place))
    if kind == "const":
        return Const(_number(content, place))
    kind = _one_of(kind, place, CONTAINERS)
    if kind != "dict":
        return Node(kind, _each(content, f"{place}.{kind}", lambda item, at: _tree(item, at, depth + 1)))
    pairs = _distinct(_each(content, f"{place}.dict", lambda item, at: _pair(item, at, depth)), f"{place}.dict")
    return Node(kind, tuple(tree for _, tree in pairs), tuple(key for key, _ in pairs))


def _pair(data: Any, place: str, depth: int) -> tuple[str, Tree]:
    if not isinstance(data, list) or len(data) != 2:
        raise ProgramError(f"{place}: a pair [key, tree] is needed, not {brief(data)}")
    return _name(data[0], place, _WORD), _tree(data[1], place, depth + 1)


def _distinct(pairs: tuple[tuple[str, Tree], ...], place: str) -> tuple[tuple[str, Tree], ...]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ProgramError(f"{place}: one key twice")
    return pairs


def _literal(data: Any, place: str) -> Literal:
    if isinstance(data, str):
        return _one_of(data, place, DTYPES)
    if not isinstance(data, list):
        return _number(data, place)
    items = _each(data, place, _integer)
    if _too_large(items):
        raise ProgramError(f"{place}: over {MAX_DEPTH} dimensions or {MAX_ELEMENTS} elements")
    return items


def _too_large(sizes: tuple[int, ...]) -> bool:
    """Whether a tensor of these sizes is; one that is empty has strides that count the others all the same."""
    return len(sizes) > MAX_DEPTH or math.prod(max(abs(size), 1) for size in sizes) > MAX_ELEMENTS


def _integer(data: Any, place: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or abs(data) > MAX_INTEGER:
        raise ProgramError(f"{place}: an integer up to {MAX_INTEGER} is needed, not {brief(data)}")
    return data


def _number(data: Any, place: str) -> bool | int | float | None:
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, int) and abs(data) <= MAX_INTEGER:
        return data
    if isinstance(data, float) and math.isfinite(data):
        return data
    raise ProgramError(f"{place}: None, a bool, a finite float or an int up to {MAX_INTEGER}, not {brief(data)}")


def _size(data: Any, place: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data <= MAX_INTEGER:
        raise ProgramError(f"{place}: a size from 0 to {MAX_INTEGER} is needed, not {brief(data)}")
    return data


def _boolean(data: Any, place: str) -> bool:
    if not isinstance(data, bool):
        raise ProgramError(f"{place}: true or false is needed, not {brief(data)}")
    return data


def _name(data: Any, place: str, pattern: re.Pattern[str]) -> str:
    if not isinstance(data, str) or not pattern.fullmatch(data):
        raise ProgramError(f"{place}: {brief(data)} is no name here ({pattern.pattern})")
    return data


def _value(data: Any, place: str) -> str:
    """A name in sight of a statement: a plain name, or self. and an FQN."""
    if isinstance(data, str) and data.startswith("self.") and _FQN.fullmatch(data[5:]):
        return data
    return _name(data, place, _ANY_NAME)


def _one_of(data: Any, place: str, allowed: Any) -> str:
    if not isinstance(data, str) or data not in allowed:
        raise ProgramError(f"{place}: {brief(data)} is not in the vocabulary")
    return data


def brief(data: Any) -> str:
    """Data of a file as a few words of one line: a text or number as Python writes it, else what it is."""
    if isinstance(data, (list, dict)):
        return "a list" if isinstance(data, list) else "an object"
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."
