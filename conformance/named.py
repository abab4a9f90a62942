"""Named cases: a program written as a person would, and the descriptors or the signature that its graph must have.

A case is one file under golden/cases/ with Python's syntax, which is read and never run. Its docstring says what
holds and why; then, in this order::

    x = tensor(2, 3, requires_grad=True)         # what the caller makes: tensor, parameter, or a subclass by its name
    y = x.t()                                    # and does with it
    self.weight = w                              # what the module holds; `self.register_buffer` for a non-persistent one
    self.layer = lstm_cell                       # or a real module (generators/layers.py)
    dress("eval"); options("min_cut"); symbolic(2)
    call(x, [y], by=2)                           # how it is called, where that is not as forward's parameters are named

    def forward(x, y):                           # one name for each flat argument
        z = x * self.weight
        return z

    inputs(Param("weight"), Plain(0), Tangent(Plain(0)))
    outputs(Plain(0), Grad(Param("weight")), None)

A call is written as in the vocabulary (generators/vocabulary.py), one a line. A descriptor is written as its class
is called, without ``AOTInput`` and ``AOTOutput``: the side that it is on says which is meant.

A case with ``torch_export()`` goes through torch.export, one with ``torch_export("decomposed")``, ``"loaded"``, ``"strict"``
or ``"core"`` is brought into that form. Then inputs and outputs are the rows of the signature, as
conformance/exported/snapshot.py writes them::

    torch_export()
    inputs(Parameter("weight"), UserInput(0))
    outputs(BufferMutation("count"), UserOutput(0))
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import golden
from conformance.graph import kind_of
from generators.layers import LAYERS, make_layer
from generators.op import Op
from generators.program import MODES, Const, Leaf, Literal, Node, Program, Ref, State, Statement, Tree
from generators.subclasses import SUBCLASSES
from generators.vocabulary import VOCABULARY

#: The forms of an exported program that have a graph and a signature of their own to state.
FORMS = ("exported", "decomposed", "loaded", "strict", "core")


class CaseError(ValueError):
    """A case that can't be read; the message is one line: file, line, and what is wrong there."""


@dataclass(frozen=True)
class Stated:
    """The descriptors that a case says its joint graph must have, as ``short`` writes them.

    Where a ``form`` is named, they are the rows of the signature of the program as torch.export gives it in that form.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    form: str = ""


@dataclass(frozen=True)
class Named:
    """A case: what it says holds, its program, and its descriptors."""

    why: str
    program: Program
    stated: Stated


def short(descriptor: Any) -> str:
    """A descriptor as a case writes it: ``Grad(Param('weight'))``."""
    if not dataclasses.is_dataclass(descriptor):
        return repr(descriptor)
    values = [short(getattr(descriptor, item.name)) for item in dataclasses.fields(descriptor)]
    return f"{kind_of(descriptor).removesuffix('AOTInput').removesuffix('AOTOutput')}({', '.join(values)})"


def unlike_stated(where: str, stated: tuple[str, ...], found: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """The first of these that is another than a case says it must be: the place, what is stated, what is found."""
    pairs = zip_longest(stated, found, fillvalue="nothing")
    unlike = ((f"{where} {place}", wanted, row) for place, (wanted, row) in enumerate(pairs) if wanted != row)
    yield from islice(unlike, 1)


def load_case(path: Path) -> Named:
    """The case in the file. Raises CaseError."""
    return read_case(path.read_text(encoding="utf-8"), path.stem)


def stated_of(program: Program) -> Stated | None:
    """What the case says whose program this is; None where it is none's, or the case can't be read."""
    for path in golden.cases():
        with suppress(CaseError):
            case = load_case(path)
            if case.program == program:
                return case.stated
    return None


def read_case(text: str, name: str) -> Named:
    """The case of that name in this text. Raises CaseError."""
    reader, line = Reader(), 1
    try:
        tree = ast.parse(text)
        for statement in tree.body:
            line = statement.lineno
            reader.read(statement)
        why = ast.get_docstring(tree)
        if not why or reader.program is None or not reader.stated.keys() >= {"inputs", "outputs"}:
            raise ValueError("a docstring, a forward, inputs and outputs are needed")
        return Named(why, reader.program, Stated(name, reader.stated["inputs"], reader.stated["outputs"], reader.form))
    except (ValueError, KeyError, SyntaxError, TypeError, AttributeError) as error:
        raise CaseError(f"{name}: line {line}: {error}") from error


@dataclass
class Reader:
    """Reads a case statement by statement; ``names`` are those of the caller's values in the program."""

    leaves: list[Leaf] = field(default_factory=list)
    setup: list[Statement] = field(default_factory=list)
    state: list[State] = field(default_factory=list)
    marks: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    called: ast.Call | None = None
    form: str = ""
    names: dict[str, str] = field(default_factory=dict)
    stated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    program: Program | None = None

    def read(self, statement: ast.stmt) -> None:
        """Read one statement at the top of a case. Raises ValueError, KeyError."""
        if isinstance(statement, ast.FunctionDef):
            self.program = self._program(statement)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            self._hang(ast.unparse(statement.targets[0]).removeprefix("self."), ast.unparse(statement.value))
        elif (call := _call_in(statement)) is not None and self._is_told(call):
            pass
        elif isinstance(statement, ast.Assign) and (call := _call_in(statement)) and _word(call.func) in _MAKERS:
            self.leaves.append(self._leaf(ast.unparse(statement.targets[0]), call))
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            self.setup += statements_of(statement, self.names, self._next_value)

    def _is_told(self, call: ast.Call) -> bool:
        """Read what is told by a call for no value, if it is one."""
        word = ast.unparse(call.func)
        if word in ("inputs", "outputs"):
            self.stated[word] = tuple(map(ast.unparse, call.args))
        elif word in ("dress", "options", "symbolic"):
            self.marks[word] = (*self.marks.get(word, ()), *map(ast.literal_eval, call.args))
        elif word == "call":
            self.called = call
        elif word == "torch_export":
            self.form = _form_in(call)
        elif word == "self.register_buffer":
            self.state.append(State(ast.literal_eval(call.args[0]), self.names[ast.unparse(call.args[1])], persistent=False))
        else:
            return False
        return True

    def _next_value(self, name: str) -> str:
        """A new name of the program for a value of the caller's."""
        taken = len(self.leaves) + sum(len(statement.results) for statement in self.setup)
        self.names[name] = f"x{taken}"
        return self.names[name]

    def _leaf(self, name: str, call: ast.Call) -> Leaf:
        maker = ast.unparse(call.func)
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        if maker == "parameter":
            options = {"requires_grad": True, "parameter": True} | options
        elif maker != "tensor":
            options["subclass"] = maker
        return Leaf(self._next_value(name), tuple(map(ast.literal_eval, call.args)), **options)

    def _hang(self, fqn: str, value: str) -> None:
        if value not in LAYERS:
            self.state.append(State(fqn, self.names[value]))
            return
        self.marks["dress"] = (f"layer_{value}", *self.marks.get("dress", ()))
        layer = make_layer(value)
        tensors = [*layer.named_parameters(remove_duplicate=False), *layer.named_buffers(remove_duplicate=False)]
        for name, tensor in tensors:
            if str(id(tensor)) not in self.names:
                of_parameter = {"requires_grad": tensor.requires_grad, "parameter": name in dict(tensors[: _count(layer)])}
                dtype = str(tensor.dtype).removeprefix("torch.")
                self.leaves.append(Leaf(self._next_value(str(id(tensor))), tuple(tensor.shape), dtype, **of_parameter))
            self.state.append(State(f"{fqn}.{name}", self.names[str(id(tensor))]))

    def _program(self, forward: ast.FunctionDef) -> Program:
        parameters = [argument.arg for argument in forward.args.args]
        args, kwargs = self._arguments(parameters)
        names = {name: f"a{index}" for index, name in enumerate(parameters)}
        body: list[Statement] = []

        def next_value(name: str) -> str:
            names[name] = f"v{sum(len(statement.results) for statement in body) + fresh.pop()}"
            return names[name]

        for statement in forward.body[:-1]:
            fresh = list(range(16))[::-1]
            body += statements_of(statement, names, next_value)
        returned = forward.body[-1]
        if not isinstance(returned, ast.Return) or returned.value is None:
            raise ValueError("forward ends with a return")
        marks = {"dressing": self.marks.get("dress", ()), "options": self.marks.get("options", ())}
        return Program(
            tuple(self.leaves),
            tuple(self.setup),
            tuple(self.state),
            args,
            kwargs,
            tuple(body),
            tree_of(returned.value, names),
            symbolic=self.marks.get("symbolic", ()),
            **marks,
        )

    def _arguments(self, parameters: list[str]) -> tuple[tuple[Tree, ...], tuple[tuple[str, Tree], ...]]:
        if self.called is None:
            return tuple(Ref(self.names[name]) for name in parameters), ()
        keywords = tuple((str(keyword.arg), tree_of(keyword.value, self.names)) for keyword in self.called.keywords)
        return tuple(tree_of(argument, self.names) for argument in self.called.args), keywords


_MAKERS = frozenset({"tensor", "parameter", *SUBCLASSES})


def _count(layer: Any) -> int:
    return len(list(layer.named_parameters(remove_duplicate=False)))


def _form_in(call: ast.Call) -> str:
    """The form that an exported case is in: as the export gave it, or the one that is named."""
    form = ast.literal_eval(call.args[0]) if call.args else FORMS[0]
    if form not in FORMS:
        raise ValueError(f"no form of an exported program: {form}")
    return str(form)


def _word(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""


def _call_in(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    return value if isinstance(value, ast.Call) else None


def tree_of(expression: ast.expr, names: dict[str, str]) -> Tree:
    """A structure of values and constants. Raises KeyError for a name of no value."""
    if isinstance(expression, (ast.Tuple, ast.List)):
        children = tuple(tree_of(child, names) for child in expression.elts)
        return Node("tuple" if isinstance(expression, ast.Tuple) else "list", children)
    if isinstance(expression, ast.Dict):
        keys = tuple(ast.literal_eval(key) for key in expression.keys if key is not None)
        return Node("dict", tuple(tree_of(child, names) for child in expression.values), keys)
    if isinstance(expression, ast.Constant):
        return Const(expression.value)  # type: ignore[arg-type]
    return Ref(_value_named(ast.unparse(expression), names))


def _value_named(name: str, names: dict[str, str]) -> str:
    return name if name.startswith("self.") else names[name]


def statements_of(line: ast.stmt, names: dict[str, str], name_result: Callable[[str], str]) -> Iterator[Statement]:
    """The calls that a line of a case makes: one, or those of a block under a mode. Raises ValueError, KeyError."""
    if isinstance(line, ast.With):
        written = ast.unparse(line.items[0].context_expr)
        mode = next((mode for mode, text in MODES.items() if text and ast.unparse(ast.parse(text)) == written), None)
        if mode is None:
            raise ValueError(f"no mode is written {written}")
        for inner in line.body:
            yield from (dataclasses.replace(s, mode=mode) for s in statements_of(inner, names, name_result))
        return
    op, given = _op_of(line)
    operands = tuple(_value_named(ast.unparse(given[letter]), names) for letter in "xyz" if letter in given)
    arguments = tuple(literal_of(given[letter]) for letter in "pqr" if letter in given)
    targets: list[ast.expr] = []
    if op.has_result:
        assert isinstance(line, ast.Assign)
        target = line.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
    yield Statement(op.name, operands, arguments, tuple(name_result(ast.unparse(target)) for target in targets))


def literal_of(expression: ast.expr) -> Literal:
    """An argument as a program has it: ``torch.int64`` is the only one that is no Python literal."""
    text = ast.unparse(expression)
    return text.removeprefix("torch.") if text.startswith("torch.") else ast.literal_eval(expression)


def _op_of(line: ast.stmt) -> tuple[Op, dict[str, ast.expr]]:
    """The op whose template the line fills, and what with. Raises ValueError where there is none."""
    for op in VOCABULARY.values():
        given: dict[str, ast.expr] = {}
        if op.has_result is isinstance(line, ast.Assign) or not op.has_result:
            filled: ast.AST = line.value if op.has_result and isinstance(line, ast.Assign) else line
            if _fits(_template(op), filled, given):
                return op, given
    raise ValueError(f"no op of the vocabulary is written {ast.unparse(line)}")


@cache
def _template(op: Op) -> ast.AST:
    """The op's template with names in the places of operands and arguments."""
    text = op.template
    for letter in "mxyzpqr":
        text = text.replace("{" + letter + "}", f"_{letter}_")
    statement = ast.parse(text).body[0]
    return statement.value if op.has_result and isinstance(statement, ast.Expr) else statement


def _fits(template: Any, found: Any, given: dict[str, ast.expr]) -> bool:
    """Whether ``found`` is the template with its places filled, each always with the same; they are then ``given``."""
    if isinstance(template, ast.Name) and len(template.id) == 3 and template.id[0] == template.id[2] == "_":
        letter = template.id[1]
        is_value = isinstance(found, ast.Name) or ast.unparse(found).startswith("self.") if letter in "xyz" else True
        is_literal = _is_literal(found) if letter in "pqr" else True
        same = letter not in given or ast.unparse(given[letter]) == ast.unparse(found)
        given.setdefault(letter, found)
        return is_value and is_literal and same
    if isinstance(template, ast.AST):
        pairs = ((getattr(template, name, None), getattr(found, name, None)) for name in template._fields if name != "ctx")
        return type(template) is type(found) and all(_fits(mine, theirs, given) for mine, theirs in pairs)
    if isinstance(template, list):
        return len(template) == len(found) and all(_fits(mine, theirs, given) for mine, theirs in zip(template, found))
    return bool(template == found)


def _is_literal(expression: ast.expr) -> bool:
    if ast.unparse(expression).startswith("torch."):
        return True
    try:
        ast.literal_eval(expression)
    except ValueError:
        return False
    return True
