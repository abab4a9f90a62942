"""A program as the stand-alone script that a person would write: torch code, the export, the check.

The script needs nothing but torch. It exits 0 and says OK when eager and the compiled joint graph show
the same; 1 after printing each difference; 2 with ``ERROR: ...`` where it can't run on this torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from torch import nn

from generators import check_text, export_text
from generators.build import build, leaves_at
from generators.dressings import LINES
from generators.dynamic import dimensions_text, way_of
from generators.options import OPTIONS
from generators.prelude import text_for
from generators.program import MODES, Const, Leaf, Node, Program, Ref, Statement, Tree, leaves_of
from generators.subclasses import SUBCLASSES
from generators.variants import cloned_leaves, sizes_in
from generators.vocabulary import DTYPES, VOCABULARY

#: What a rule says it found where a descriptor is absent: then the script looks for the expected one.
ABSENT = ("", "None", "nothing", "missing", "absent")
#: A descriptor as it prints, with at most one other inside.
_DESCRIPTOR = re.compile(r"\w+AOT(?:Input|Output)\([^()]*(?:\([^()]*\))?[^()]*\)")
#: What a path on the graph begins with, and the lines that it speaks of.
_SIDES = {"output": "output", "input": "input", "placeholder": "input"}

#: Where an error can end the way before, or at, the call (conformance/rules/compiled.py, C6).
STAGES = ("export", "compile", "forward", "backward")

_IMPORTS = {
    "import io": r"\bio\.",
    "import sys": r"\bsys\.",
    "from contextlib import ExitStack, suppress": r"\bsuppress\(",
    "from contextlib import ExitStack": r"\bExitStack\(",
    "from operator import attrgetter": r"\battrgetter\(",
    "from typing import Any": r"\bAny\b",
    "": "",
    "import torch": "",
    "import torch._decomp": r"torch\._decomp\.",
    "import torch._functorch.config": r"torch\._functorch\.config\.",
    "import torch._functorch.partitioners": r"torch\._functorch\.partitioners\.",
    "import torch.nn.functional as F": r"\bF\.",
    "import torch.utils._pytree as pytree": r"\bpytree\.",
    "from torch import nn": "",
    "from torch.testing._internal.two_tensor import TwoTensor": r"\bTwoTensor\(",
    "from torch.utils._python_dispatch import is_traceable_wrapper_subclass": r"\bis_traceable_wrapper_subclass\(",
}


def source(
    program: Program,
    *,
    title: str = "",
    device: str = "cpu",
    scenario: str = "train",
    path: str = "",
    expected: str = "",
    found: str = "",
) -> str:
    """The program as a script whose check goes through ``scenario`` (names as in conformance/scenarios.py).

    ``path`` is where a violation is: "" or ``<scenario>:...`` for what a caller can notice,
    ``<stage>:error`` or ``<stage>:message`` for an error of the export, the compile or the call, anything else
    for a place on the joint graph. A graph script looks for the descriptor that ``found`` names (that
    ``expected`` begins with, where ``found`` says that it is absent); where they name none it prints the
    graph and exits 2, undecided.
    Raises KeyError for an unknown scenario, and whatever eager raises in a setup statement.
    """
    where = path.partition(":")[0]
    on_graph = where not in ("", *STAGES, *check_text.WATCHES)
    check = tuple(_graph_check(program, path, expected, found) if on_graph else _check(program, scenario, path))
    if where in export_text.FORMS:
        dimensions = dimensions_text(program, way_of(program)) if program.symbolic else ""
        check = export_text.export_check(path, title.startswith("E8"), dimensions)
    if not on_graph and has_subclasses(program):
        check = (check_text.INSIDE, *_reworded(check, check_text.LOOKED_INSIDE))
    if not on_graph and has_effects(program):
        check = tuple(_reworded(check, check_text.WITH_EFFECTS))
    made = _make(program, device, "train" if on_graph else scenario)
    gathers = where in export_text.FORMS and where != "strict" and bool(program.symbolic and program.kwargs)
    own = [part.strip("\n") for part in (_module(program, gathers), made, *check)]
    code = "\n\n\n".join([*text_for("\n\n".join(own)), *own])
    header = _docstring(title or f"Program {program.name}", expected, found) + _imports(code)
    return f"{header}\n\n\n{code}\n"


def _docstring(title: str, expected: str, found: str) -> str:
    facts = {"expected": expected, "found": found}
    lines = [title, *(["", *(f"{key}: {text}" for key, text in facts.items() if text)] if expected or found else [])]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n' if len(lines) > 1 or text.endswith('"') else f'"""{text}"""\n'


def _imports(code: str) -> str:
    lines = [line for line, use in _IMPORTS.items() if re.search(use, code)]
    if "from contextlib import ExitStack, suppress" in lines:
        lines.remove("from contextlib import ExitStack")
    return "\n".join(lines)


def _check(program: Program, scenario: str, path: str) -> Iterator[str]:
    call, backward_part, then = check_text.WATCHES[scenario].partition(check_text.BACKWARD_PART)
    watch = call + then if backward_part and _needs_backward(program, path) else call
    yield check_text.EXPORT % _options(program)
    yield from (text for use, text in check_text.HELPERS if re.search(use, watch))
    yield watch
    raised = "type(error).__name__" if path.endswith(":message") else "True"
    yield check_text.COMPARE % {"inputs": _inputs(program, scenario), "raised": raised}
    yield check_text.MAIN


def _reworded(check: Iterable[str], words: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """The check with other words for what it says of a plain program."""
    for text in check:
        for plain, other in words:
            text = text.replace(plain, other)
        yield text


def has_subclasses(program: Program) -> bool:
    """Whether a tensor of the program may be of a subclass."""
    statements = (*program.setup, *program.body)
    return any(leaf.subclass for leaf in program.leaves) or any(VOCABULARY[s.op].kind == "subclass" for s in statements)


def has_effects(program: Program) -> bool:
    """Whether the program may do what is more than to compute and to write tensors."""
    return any(VOCABULARY[statement.op].kind.endswith("effect") for statement in program.body)


def _inputs(program: Program, scenario: str) -> str:
    """What ``make`` is asked for in this scenario."""
    if scenario == "non_leaf":
        return "leaves=False" if cloned_leaves(program) else ""
    if sizes_in(scenario, program):
        return f"{scenario}=True"
    return check_text.INPUTS.get(scenario, "")


def _needs_backward(program: Program, path: str) -> bool:
    """Whether there may be a gradient, and the violation is not one that the call alone shows."""
    statements = (*program.setup, *program.body)
    may = any(leaf.requires_grad for leaf in program.leaves) or any(s.op == "requires_grad_" for s in statements)
    tells = re.search(r"\bgrad(?!_fn)|effects\.backward|rng\.after_backward", path)
    return may and bool(not path or path.endswith(("error", "message")) or tells)


def _graph_check(program: Program, path: str, expected: str, found: str) -> Iterator[str]:
    yield check_text.GRAPH % {"wrong": _still_wrong(path, expected, found), **_options(program)}


def _options(program: Program) -> dict[str, str]:
    """How the script exports and compiles other than by default, by the place in its text."""
    chosen = [OPTIONS[name] for name in program.options]
    patches = ", ".join(f"{option.keyword}={option.text}" for option in chosen if option.stage == "config")
    symbolic = f"\n    args, kwargs = with_symbolic_sizes((args, kwargs), {program.symbolic})" if program.symbolic else ""
    return {
        "symbolic": symbolic,
        "config": f"\n        stack.enter_context(torch._functorch.config.patch({patches}))" if patches else "",
        **{stage: "".join(f", {o.keyword}={o.text}" for o in chosen if o.stage == stage) for stage in ("export", "compile")},
    }


def _still_wrong(path: str, expected: str, found: str) -> str:
    """The expression that is true while the graph is wrong, "None" where no text of a descriptor tells."""
    side = next((side for word, side in _SIDES.items() if path.startswith(word)), "")
    absent = found in ABSENT
    wanted = _DESCRIPTOR.match(expected) if absent else _DESCRIPTOR.search(found)
    if wanted is None or not (absent or found.endswith(wanted[0])):
        return "None"
    if expected == "once":
        return f"sum(line.startswith({side!r}) and line.endswith({': ' + wanted[0]!r}) for line in lines) > 1"
    there = f"any(line.startswith({side!r}) and {wanted[0]!r} in line for line in lines)"
    return f"not {there}" if absent else there


def _module(program: Program, gathers: bool) -> str:
    """The module. Its forward names what it takes, or ``gathers`` all of it, as the built one does.

    An export tells the two apart where it is told of the sizes of keyword arguments.
    """
    lines = ["class Program(nn.Module):", *_init(program), *_forward(program, gathers)]
    return "\n".join(lines)


def _init(program: Program) -> Iterator[str]:
    if program.state:
        yield f"    def __init__(self, {', '.join(_hung(program))}):"
        yield "        super().__init__()"
        yield from (f"        {line}" for line in _registrations(program))
        yield ""


def _hung(program: Program) -> tuple[str, ...]:
    """The values that the module holds, each once: tied entries share one."""
    return tuple(dict.fromkeys(state.value for state in program.state))


def _registrations(program: Program) -> Iterator[str]:
    values = build(program).values  # eager says which of the values are parameters: x.contiguous() of one still is
    made: set[str] = set()
    for state in program.state:
        *parts, name = state.fqn.split(".")
        for depth in range(1, len(parts) + 1):
            if (owner := ".".join(parts[:depth])) not in made:
                made.add(owner)
                yield f"self.{owner} = nn.Module()"
        owner = ".".join(["self", *parts])
        if isinstance(values[state.value], nn.Parameter):
            yield f"{owner}.{name} = {state.value}"
        else:
            yield f'{owner}.register_buffer("{name}", {state.value}{"" if state.persistent else ", persistent=False"})'


def _forward(program: Program, gathers: bool) -> Iterator[str]:
    names, unpacked = _gathered(program) if gathers else _parameters(program)
    yield f"    def forward({', '.join(['self', *names])}):"
    yield from (f"        {line}" for line in (*unpacked, *_statements(program.body)))
    yield f"        return {_written(program.outputs)}"


def _gathered(program: Program) -> tuple[list[str], list[str]]:
    """All that forward takes, and the line that takes the leaves from it."""
    leaves = ", ".join(f"a{place}" for place in range(len(program.flat_args)))
    return ["*args", "**kwargs"], [f"[{leaves}] = pytree.tree_leaves((args, kwargs))"]


def _parameters(program: Program) -> tuple[list[str], list[str]]:
    """The parameters of forward, and the lines that take from nested ones the leaves that it uses."""
    used = {name for s in program.body for name in s.operands}
    used |= {leaf.name for leaf in program.flat_outputs if isinstance(leaf, Ref)}
    given = [(None, tree) for tree in program.args] + list(program.kwargs)
    names: list[str] = []
    lines: list[str] = []
    for position, (key, tree) in enumerate(given):
        first = sum(1 for _, earlier in given[:position] for _ in leaves_of(earlier))
        if key is None and not isinstance(tree, Node):
            names.append(f"a{first}")
            continue
        names.append(key or f"arg{position}")
        taken = {f"a{first + i}": place for i, place in enumerate(_places(tree, names[-1])) if f"a{first + i}" in used}
        if taken:
            lines.append(f"{', '.join(taken)} = {', '.join(taken.values())}")
    return names, lines


def _places(tree: Tree, place: str) -> Iterator[str]:
    """How each leaf of the tree at ``place`` is reached."""
    if not isinstance(tree, Node):
        yield place
        return
    for index, child in enumerate(tree.children):
        yield from _places(child, f'{place}["{tree.keys[index]}"]' if tree.kind == "dict" else f"{place}[{index}]")


def _statements(statements: tuple[Statement, ...]) -> Iterator[str]:
    """One line a statement; neighbours of one grad mode share its block."""
    for mode, group in groupby(statements, key=lambda statement: statement.mode):
        if mode:
            yield f"with {MODES[mode]}:"
        yield from (f"{'    ' if mode else ''}{_statement(statement)}" for statement in group)


def _statement(statement: Statement) -> str:
    op = VOCABULARY[statement.op]
    line = op.line(statement.operands, statement.arguments)
    if not statement.results:
        return line
    if op.many and len(statement.results) == 1:
        return f"{statement.results[0]} = {line}[0]"
    return f"{', '.join(statement.results)} = {line}"


def _written(tree: Tree) -> str:
    """A tree as Python writes it."""
    if isinstance(tree, Ref):
        return tree.name
    if isinstance(tree, Const):
        return repr(tree.value)
    items = [_written(child) for child in tree.children]
    if tree.kind == "dict":
        return "{" + ", ".join(f'"{key}": {item}' for key, item in zip(tree.keys, items, strict=True)) + "}"
    if tree.kind == "list":
        return f"[{', '.join(items)}]"
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _make(program: Program, device: str, scenario: str) -> str:
    clones = cloned_leaves(program) if scenario == "non_leaf" else ()
    sizes = sizes_in(scenario, program)
    choice = ", leaves=True" if clones else f", {scenario}=False" if sizes else ""
    names = [leaf.name for leaf in program.leaves] + [name for s in program.setup for name in s.results]
    kwargs = Node("dict", tuple(tree for _, tree in program.kwargs), tuple(key for key, _ in program.kwargs))
    held = Node("dict", tuple(map(Ref, names)), tuple(names))
    holding = "held" if clones else _written(held)
    module = f"Program({', '.join(_hung(program))})"
    built = ["module" if program.dressing else module, _written(Node("tuple", program.args)), _written(kwargs), holding]
    body = [
        "torch.manual_seed(seed)",
        *_leaves(program, device, scenario),
        *_statements(program.setup),
        *([f"held = {_written(held)}", "if not leaves:"] if clones else []),
        *(f'    {name} = held["{name}c"] = {name}.clone()' for name in clones),
        *([f"module = {module}"] if program.dressing else []),
        *(LINES[name].format(m="module") for name in program.dressing),
        f"return {', '.join(built)}",
    ]
    return "\n".join([f"def make(seed=0{choice}):", *(f"    {line}" for line in body)])


def _leaves(program: Program, device: str, scenario: str) -> Iterator[str]:
    """The leaves, at their own sizes and at those of the scenario, if it has others."""
    for leaf, other in zip(program.leaves, leaves_at(program, sizes_in(scenario, program))):
        made = _leaf(leaf, device)
        yield f"{leaf.name} = {made if other == leaf else f'{_leaf(other, device)} if {scenario} else {made}'}"


def _leaf(leaf: Leaf, device: str) -> str:
    """The call that makes the leaf: the same numbers of the stream that build.make_leaf takes, on any device."""
    moved = "" if device == "cpu" else f'.to("{device}")'
    made = _drawn(leaf) + moved
    if leaf.stride is not None:
        place = "" if device == "cpu" else f', device="{device}"'
        made = f"torch.empty_strided({leaf.shape}, {leaf.stride}{_dtype(leaf)}{place}).copy_({made})"
    if leaf.subclass:
        made = SUBCLASSES[leaf.subclass].line((made,), ())
    if leaf.parameter:
        return f"nn.Parameter({made}{'' if leaf.requires_grad else ', requires_grad=False'})"
    return f"{made}.requires_grad_()" if leaf.requires_grad else made


def _drawn(leaf: Leaf) -> str:
    dtype = DTYPES[leaf.dtype]
    if dtype.is_floating_point or dtype.is_complex:
        return f"torch.randn({', '.join(map(str, leaf.shape)) or '()'}{_dtype(leaf)})"
    if leaf.dtype == "bool":
        return f"torch.randint(0, 2, {leaf.shape}).bool()"
    return f"torch.randint(0, 2, {leaf.shape}, dtype=torch.{leaf.dtype})"


def _dtype(leaf: Leaf) -> str:
    return "" if leaf.dtype == "float32" else f", dtype=torch.{leaf.dtype}"
