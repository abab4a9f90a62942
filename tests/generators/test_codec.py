"""Programs go to JSON and back without loss, and a file that is no program says so in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from generators.build import build
from generators.codec import MAX_DEPTH, MAX_ELEMENTS, MAX_FILE_BYTES, MAX_ITEMS, ProgramError, dump, from_json, load, to_json
from generators.program import Program
from generators.strategies import programs
from tests.generators.test_program import EVERYTHING

Data = dict[str, Any]
CODE = "__import__('os').system('touch /tmp/evaluated')"


@settings(max_examples=100, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_drawn_program_comes_back_equal(program: Program) -> None:
    back = from_json(json.loads(json.dumps(to_json(program))))
    assert (back, back.name) == (program, program.name)


def test_a_file_comes_back_equal(tmp_path: Path) -> None:
    dump(EVERYTHING, tmp_path / "p.json")
    assert load(tmp_path / "p.json") == EVERYTHING


def test_what_is_written_has_a_schema_version() -> None:
    assert to_json(EVERYTHING)["schema"] == 1


def place(*path: str | int) -> Callable[[Data, Any], None]:
    """A function that puts something at this place of a program's JSON."""

    def put(data: Data, new: Any) -> None:
        target: Any = data
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = new

    return put


def nested(kind: str, depth: int) -> Any:
    tree: Any = {"const": 1}
    for _ in range(depth):
        tree = {kind: [["k", tree]] if kind == "dict" else [tree]}
    return tree


SHAPE, STRIDE = place("leaves", 0, "shape"), place("leaves", 0, "stride")
OP, OPERANDS, ARGUMENTS = place("body", 0, "op"), place("body", 0, "operands"), place("body", 0, "arguments")
RESULTS, MODE = place("body", 0, "results"), place("body", 0, "mode")
NAME, FQN, OUTPUTS = place("leaves", 0, "name"), place("state", 0, "fqn"), place("outputs")
KEYWORD, DTYPE, SCHEMA = place("kwargs", 0, 0), place("leaves", 0, "dtype"), place("schema")
LEAF: Data = to_json(EVERYTHING)["leaves"][0]
STATEMENT: Data = to_json(EVERYTHING)["body"][0]
#: What is put where, and the place that the message must begin with.
HOSTILE: dict[str, tuple[Callable[[Data, Any], None], Any, str]] = {
    "another schema version": (SCHEMA, 2, "schema"),
    "no number as schema version": (SCHEMA, "1", "schema"),
    "true as schema version": (SCHEMA, True, "schema"),
    "a list as schema version": (SCHEMA, [[]], "schema"),
    "NaN as schema version": (SCHEMA, float("nan"), "schema"),
    "a dimension over the limit": (SHAPE, [1 << 40], "leaves[0].shape[0]"),
    "a negative dimension": (SHAPE, [-1], "leaves[0].shape[0]"),
    "a dimension that is true": (SHAPE, [True], "leaves[0].shape[0]"),
    "a fractional dimension": (SHAPE, [1.5], "leaves[0].shape[0]"),
    "a shape that is a text": (SHAPE, "23", "leaves[0].shape"),
    "a shape in a shape": (SHAPE, [[2]], "leaves[0].shape[0]"),
    "too many elements": (SHAPE, [64, 2 * MAX_ELEMENTS // 64], "leaves[0].shape"),
    "no elements, but strides that overflow": (SHAPE, [0, 4096, 4096, 4096, 4096, 4096, 4096], "leaves[0].shape"),
    "too many dimensions": (SHAPE, [1] * (MAX_DEPTH + 1), "leaves[0].shape"),
    "strides of another rank": (STRIDE, [1], "leaves[0].stride"),
    "strides that span too much": (STRIDE, [4096, 4096], "leaves[0].stride"),
    "a stride over the limit": (STRIDE, [1 << 62, 1], "leaves[0].stride[0]"),
    "a negative stride": (STRIDE, [-3, 1], "leaves[0].stride[0]"),
    "a stride that repeats elements": (STRIDE, [0, 1], "leaves[0].stride"),
    "an unknown dtype": (DTYPE, "quint8", "leaves[0].dtype"),
    "a dtype that is an attribute of torch": (DTYPE, "load", "leaves[0].dtype"),
    "a dtype that is a list": (DTYPE, ["float32"], "leaves[0].dtype"),
    "a gradient of integers": (DTYPE, "int64", "leaves[0].requires_grad"),
    "requires_grad that is a number": (place("leaves", 0, "requires_grad"), 1, "leaves[0].requires_grad"),
    "a leaf that is null": (place("leaves", 0), None, "leaves[0]"),
    "a leaf with another key": (place("leaves", 0, "color"), 1, "leaves[0]"),
    "leaves that are an object": (place("leaves"), {}, "leaves"),
    "too many leaves": (place("leaves"), [LEAF] * (MAX_ITEMS + 1), "leaves"),
    "an unknown top key": (place("evil\n\x1b[2J"), 1, "program"),
    "a leaf name that is code": (NAME, CODE, "leaves[0].name"),
    "a leaf name that hides torch": (NAME, "torch", "leaves[0].name"),
    "a leaf name of the body's": (NAME, "v7", "leaves[0].name"),
    "a leaf name with a newline": (NAME, "x0\n", "leaves[0].name"),
    "a leaf name in digits of another script": (NAME, "x\u0663", "leaves[0].name"),
    "a leaf name that is half a surrogate": (NAME, "\ud800", "leaves[0].name"),
    "a leaf defined twice": (NAME, "x1", "leaves[1]"),
    "a setup result defined twice": (place("setup", 0, "results"), ["x1"], "setup[0].results"),
    "a setup result that hides torch": (place("setup", 0, "results"), ["torch"], "setup[0].results[0]"),
    "an unknown op": (OP, "system", "body[0].op"),
    "an op that is code": (OP, CODE, "body[0].op"),
    "an op that is an object": (OP, {"sin": 1}, "body[0].op"),
    "an op that is a number": (OP, 7, "body[0].op"),
    "too many operands": (OPERANDS, ["a0", "a0"], "body[0]"),
    "no operands": (OPERANDS, [], "body[0]"),
    "an operand that is not there": (OPERANDS, ["a99"], "body[0].operands"),
    "an operand made by the statement itself": (OPERANDS, ["v0"], "body[0].operands"),
    "an operand seen by the caller alone": (OPERANDS, ["x0"], "body[0].operands"),
    "an operand that is code": (OPERANDS, [CODE], "body[0].operands[0]"),
    "an operand behind a dunder": (OPERANDS, ["self.__class__"], "body[0].operands[0]"),
    "an operand that is no state": (OPERANDS, ["self.forward"], "body[0].operands"),
    "too few arguments": (ARGUMENTS, [], "body[0]"),
    "an argument that is code": (ARGUMENTS, [CODE], "body[0].arguments[0]"),
    "an argument that is NaN": (ARGUMENTS, [float("nan")], "body[0].arguments[0]"),
    "an argument that is infinite": (ARGUMENTS, [float("-inf")], "body[0].arguments[0]"),
    "a huge argument": (ARGUMENTS, [10**30], "body[0].arguments[0]"),
    "an argument with huge sizes": (ARGUMENTS, [[4096, 4096]], "body[0].arguments[0]"),
    "an argument with a text inside": (ARGUMENTS, [["float32"]], "body[0].arguments[0][0]"),
    "an argument with true inside": (ARGUMENTS, [[True]], "body[0].arguments[0][0]"),
    "an argument nested deeply": (ARGUMENTS, [[[[[[[[[[[[1]]]]]]]]]]]], "body[0].arguments[0][0]"),
    "an argument that is an object": (ARGUMENTS, [{}], "body[0].arguments[0]"),
    "a result that is code": (RESULTS, [CODE], "body[0].results[0]"),
    "a result that hides an argument": (RESULTS, ["a0"], "body[0].results[0]"),
    "a result that hides F": (RESULTS, ["f"], "body[0].results[0]"),
    "two results of an op that has one": (RESULTS, ["v0", "v1"], "body[0].results"),
    "an unknown mode": (MODE, "torch.no_grad()", "body[0].mode"),
    "a result defined twice": (place("body"), [STATEMENT, STATEMENT], "body[1].results"),
    "a cycle": (
        place("body"),
        [{**STATEMENT, "operands": ["v1"]}, {**STATEMENT, "operands": ["v0"], "results": ["v1"]}],
        "body[0].operands",
    ),
    "too many statements": (place("body"), [STATEMENT] * (MAX_ITEMS + 1), "body"),
    "an FQN with a keyword": (FQN, "layer.class", "state[0].fqn"),
    "an FQN with a dunder": (FQN, "__class__", "state[0].fqn"),
    "an FQN with a dunder inside": (FQN, "layer.__dict__", "state[0].fqn"),
    "an FQN that is code": (FQN, CODE, "state[0].fqn"),
    "an FQN that is a method of modules": (FQN, "forward", "state[0].fqn"),
    "an FQN through a method of modules": (FQN, "parameters.weight", "state[0].fqn"),
    "an FQN that is the program": (FQN, "program", "state[0].fqn"),
    "an FQN with an empty part": (FQN, "layer..weight", "state[0].fqn"),
    "an FQN that is too deep": (FQN, "a.b.c.d.e.f.g.h", "state[0].fqn"),
    "an FQN that is a list": (FQN, ["weight"], "state[0].fqn"),
    "an FQN twice": (FQN, "count", "state"),
    "an FQN inside another": (FQN, "count.weight", "state"),
    "state that is not there": (place("state", 0, "value"), "x99", "state[0].value"),
    "state that the body makes": (place("state", 0, "value"), "v0", "state[0].value"),
    "persistent that is a text": (place("state", 0, "persistent"), "yes", "state[0].persistent"),
    "a keyword of Python's": (KEYWORD, "lambda", "kwargs[0][0]"),
    "a keyword that is self": (KEYWORD, "self", "kwargs[0][0]"),
    "a keyword that hides torch": (KEYWORD, "torch", "kwargs[0][0]"),
    "a keyword that hides a value": (KEYWORD, "v0", "kwargs[0][0]"),
    "a keyword that is code": (KEYWORD, "x=1, **evil", "kwargs[0][0]"),
    "a keyword twice": (place("kwargs"), [["key", {"const": 1}], ["key", {"const": 2}]], "kwargs"),
    "a keyword without a tree": (place("kwargs", 0), ["scale"], "kwargs[0]"),
    "an argument of forward that is not there": (place("args", 0), {"ref": "x99"}, "args leaf 0"),
    "an output that is not there": (OUTPUTS, {"ref": "v99"}, "outputs leaf 0"),
    "an output that is NaN": (OUTPUTS, {"const": float("nan")}, "outputs"),
    "an output that is a text": (OUTPUTS, {"const": CODE}, "outputs"),
    "an output of two kinds": (OUTPUTS, {"ref": "v0", "const": 1}, "outputs"),
    "an unknown container": (OUTPUTS, {"set": []}, "outputs"),
    "outputs nested too deeply": (OUTPUTS, nested("tuple", MAX_DEPTH + 1), "outputs.tuple[0]"),
    "dicts nested too deeply": (OUTPUTS, nested("dict", MAX_DEPTH + 1), "outputs.dict[0]"),
    "a dict with one key twice": (OUTPUTS, {"dict": [["k", {"const": 1}], ["k", {"const": 2}]]}, "outputs.dict"),
    "a dict with a key that is code": (OUTPUTS, {"dict": [['"]; evil', {"const": 1}]]}, "outputs.dict[0]"),
    "a dict as an object": (OUTPUTS, {"dict": {"k": 1}}, "outputs.dict"),
    "too many outputs in all": (OUTPUTS, {"list": [{"list": [{"const": 1}] * 200}] * 200}, "args or outputs"),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_program_is_refused_with_its_place(hostile: str) -> None:
    put, new, where = HOSTILE[hostile]
    data = json.loads(json.dumps(to_json(EVERYTHING)))
    put(data, new)
    with pytest.raises(ProgramError) as error:
        from_json(data)
    message = str(error.value)
    assert message.startswith(where) and message.isprintable() and len(message) < 400


@pytest.mark.parametrize("key", list(to_json(EVERYTHING)))
def test_a_missing_key_is_named(key: str) -> None:
    data = to_json(EVERYTHING)
    del data[key]
    with pytest.raises(ProgramError, match=f"program: missing or unknown keys '{key}'"):
        from_json(data)


@pytest.mark.parametrize("data", [None, [], 7, "program", True])
def test_what_is_no_object_is_no_program(data: Any) -> None:
    with pytest.raises(ProgramError, match="program: an object is needed"):
        from_json(data)


DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "cut off": json.dumps(to_json(EVERYTHING)).encode()[:-20],
    "not UTF-8": b'{"schema": "\xff"}',
    "UTF-16": json.dumps(to_json(EVERYTHING)).encode("utf-16"),
    "nested without end": b"[" * 100_000,
    "nested without end, and closed": b"[" * 100_000 + b"]" * 100_000,
    "a number of 10,000 digits": b'{"schema": ' + b"9" * 10_000 + b"}",
    "too large": b" " * (MAX_FILE_BYTES + 1),
    "10 MB": b'{"schema": "' + b"x" * 10_000_000 + b'"}',
    "Python, not JSON": CODE.encode(),
    "a pickle": b"\x80\x04cos\nsystem\n(S'touch /tmp/evaluated'\ntR.",
    "something after the end": json.dumps(to_json(EVERYTHING)).encode() + b"{}",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_gets_one_line_that_names_it(damage: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(DAMAGED[damage])
    with pytest.raises(ProgramError) as error:
        load(tmp_path / "p.json")
    assert str(error.value).startswith(f"{tmp_path / 'p.json'}: ") and str(error.value).isprintable()


def test_a_damaged_place_in_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps({**to_json(EVERYTHING), "schema": 2}))
    with pytest.raises(ProgramError, match=r"p\.json: schema: version 2, this suite reads 1"):
        load(tmp_path / "p.json")


@pytest.mark.parametrize("name", ["missing.json", ""])
def test_a_missing_file_and_a_folder_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="cannot be read"):
        load(tmp_path / name)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ProgramError, match="larger than"):
        load(Path("/dev/zero"))


@pytest.mark.parametrize("percent", range(0, 100, 4))
def test_a_file_cut_off_anywhere_is_refused(percent: int, tmp_path: Path) -> None:
    text = json.dumps(to_json(EVERYTHING))
    (tmp_path / "p.json").write_text(text[: len(text) * percent // 100])
    with pytest.raises(ProgramError):
        load(tmp_path / "p.json")


def test_nothing_that_a_hostile_file_says_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr("os.system", ran.append)
    for put, _, _ in HOSTILE.values():
        data = json.loads(json.dumps(to_json(EVERYTHING)))
        put(data, CODE)
        with pytest.raises(ProgramError):
            from_json(data)
    assert ran == []


def test_the_program_of_these_tests_can_be_built() -> None:
    assert build(EVERYTHING).state("layer.weight").shape == (3,)
