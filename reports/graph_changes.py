"""What changed between two snapshots of one joint graph: nothing, names, the graph, or the contract with its callers.

Snapshots are texts as conformance/snapshot.py writes them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Literal

Kind = Literal["same", "cosmetic", "graph", "contract"]

#: How many lines may tell what changed.
MOST_LINES = 12

_INPUT = re.compile(r"(i\d+): (.*?)  (.*)")
_CALL = re.compile(r"(v\d+): (.*?) = (.*)")
_RETURN = re.compile(r"return (.*?)  (.*)")
_GRAPH = re.compile(r"graph\d+")
_NAME = re.compile(r"\b(?:v|graph)\d+\b")
#: A call that writes what it is given first.
_WRITE = re.compile(r"(\w+\.\w+_)\.\w+\((i\d+)")


@dataclass(frozen=True)
class Change:
    """What became of a graph; ``lines`` tell what changed, empty where nothing did.

    ``contract``: descriptors, their order and number, what is taken and given, what is aliased or written.
    ``graph``: ops, structure, dtypes and strides between. ``cosmetic``: names, the order of independent nodes.
    """

    kind: Kind
    lines: tuple[str, ...] = ()


@dataclass
class Graph:
    """A snapshot taken apart: FQNs, inputs, calls by name, outputs, and the graphs that it calls by name."""

    state: list[str] = field(default_factory=list)
    inputs: list[tuple[str, str, str]] = field(default_factory=list)
    calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    outputs: list[tuple[str, str]] = field(default_factory=list)
    called: dict[str, list[str]] = field(default_factory=dict)


def classify(before: str, after: str) -> Change:
    """The change from one snapshot to the other. The header, with case and version, does not count."""
    absent = [_absence(before), _absence(after)]
    if all(absent):
        return Change("same")
    if any(absent):
        return Change("contract", (f"{absent[0] or 'a graph'}, then {absent[1] or 'a graph'}",))
    old, new = read_snapshot(before), read_snapshot(after)
    contract = list(_differences(_contract(old), _contract(new)))
    if contract:
        return Change("contract", _cut(contract))
    structure = list(_differing_calls(old, new))
    if structure:
        return Change("graph", _cut(structure))
    if _body(before) != _body(after):
        return Change("cosmetic", ("other names, or another order of independent nodes",))
    return Change("same")


def read_snapshot(text: str) -> Graph:
    """A snapshot taken apart; a line of no known form belongs to what it says of the module's state."""
    graph, inside = Graph(), ""
    for line in filter(None, text.splitlines()):
        if line.startswith("  ") and inside:
            graph.called[inside].append(line[2:])
        elif _GRAPH.fullmatch(line):
            graph.called[inside := line] = []
        elif match := _INPUT.fullmatch(line):
            graph.inputs.append((match[1], match[2], match[3]))
        elif match := _CALL.fullmatch(line):
            graph.calls[match[1]] = (match[2], match[3])
        elif match := _RETURN.fullmatch(line):
            graph.outputs.append((match[1], match[2]))
        elif not line.startswith("#"):
            graph.state.append(line)
    return graph


def _absence(text: str) -> str:
    """Why there is no graph, "" where there is one."""
    return next((line for line in text.splitlines() if line.startswith("no graph")), "") if text else "no graph"


def _body(text: str) -> list[str]:
    """The lines without those of the header that say what the snapshot is of."""
    return [line for line in text.splitlines() if not line.startswith(("# case", "# program", "# torch"))]


def _contract(graph: Graph) -> list[str]:
    """What a caller, or a pass that reads descriptors, relies on: one line each."""
    kinds = {name: kind for name, kind, _ in graph.inputs} | {name: kind for name, (kind, _) in graph.calls.items()}
    first: dict[str, str] = {name: f" is the input {descriptor}" for name, _, descriptor in graph.inputs}
    lines = [*graph.state, *(f"takes {descriptor}: {kind}" for _, kind, descriptor in graph.inputs)]
    for value, descriptor in graph.outputs:
        lines.append(f"gives {descriptor}: {kinds.get(value, value)}{first.get(value, '')}")
        first.setdefault(value, f" is the output {descriptor}")
    writes = [match.groups() for _, text in graph.calls.values() if (match := _WRITE.match(text))]
    inputs = {name: descriptor for name, _, descriptor in graph.inputs}
    return lines + [f"writes {inputs.get(name, name)} by {op}" for op, name in writes]


def _differences(old: list[str], new: list[str]) -> Iterator[str]:
    changed = (line for line in unified_diff(old, new, lineterm="", n=0) if line[:1] in "-+" and line[:3] not in ("---", "+++"))
    return (f"{line[0]} {line[1:]}" for line in changed)


def _differing_calls(old: Graph, new: Graph) -> Iterator[str]:
    """The calls that only one of the graphs has, those that follow from another such call left out."""
    before, after = _meanings(old), _meanings(new)
    if Counter(before.values()) == Counter(after.values()) and _results(old, before) == _results(new, after):
        return
    shown = [
        *(f"- {line}" for line in _first_of_their_own(old, before, after)),
        *(f"+ {line}" for line in _first_of_their_own(new, after, before)),
    ]
    yield from shown or ["the same calls, used or given back otherwise"]


def _results(graph: Graph, meanings: dict[str, str]) -> list[str]:
    return [meanings.get(value, value) for value, _ in graph.outputs]


def _first_of_their_own(graph: Graph, own: dict[str, str], others: dict[str, str]) -> Iterator[str]:
    left = Counter(others.values())
    for name, (kind, text) in graph.calls.items():
        left[own[name]] -= 1
        follows = any(own.get(operand) not in others.values() for operand in _NAME.findall(text) if operand in graph.calls)
        if left[own[name]] < 0 and not follows:
            yield f"{kind} = {text}"


def _meanings(graph: Graph) -> dict[str, str]:
    """What each call computes, as one word that does not depend on names: of its text and what its operands compute."""
    known = {name: _word(_meaning_of_called(name, graph)) for name in graph.called}
    for name, (kind, text) in graph.calls.items():
        known[name] = _word([kind, _NAME.sub(lambda match: known.get(match[0], match[0]), text)])
    return {name: known[name] for name in graph.calls}


def _meaning_of_called(name: str, graph: Graph, outer: tuple[str, ...] = ()) -> list[str]:
    """The lines of a called graph, each followed by those of the graphs that it calls in turn."""
    lines = []
    for line in graph.called[name]:
        lines.append(line)
        for inner in _GRAPH.findall(line):
            if inner in graph.called and inner not in (name, *outer):
                lines += _meaning_of_called(inner, graph, (name, *outer))
    return [_GRAPH.sub("graph", line) for line in lines]


def _word(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _cut(lines: list[str]) -> tuple[str, ...]:
    rest = len(lines) - MOST_LINES
    return tuple(lines) if rest <= 0 else (*lines[:MOST_LINES], f"and {rest} more")
