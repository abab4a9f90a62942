"""What the specification of the export IR promises, and what records say of each promise: holds, deviates, not testable.

A promise is narrower than a requirement: it is broken by some of the complaints under its requirement, or by what a program
showed (a feature). Nothing here says how a release does: that is read off its record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reports.record import Record, Row
from reports.tables import Table

HOLDS, DEVIATES, NOT_TESTABLE, NOT_JUDGED = "holds", "deviates", "not testable", "not judged"


@dataclass(frozen=True)
class Promise:
    """One promise in our own words, under the requirement that carries it.

    ``broken_by`` is a regular expression for the path of a complaint, after its form; ``expected`` for what that complaint
    expects; ``shown_by`` for a feature that contradicts it. ``untestable`` says why nobody can tell, "" where one can.
    """

    name: str
    requirement: str
    words: str
    broken_by: str = ""
    expected: str = ".*"
    shown_by: str = ""
    untestable: str = ""


@dataclass(frozen=True)
class Verdict:
    """What one record says: the word, how many of how many programs break it, in which forms, and what knows of it."""

    word: str
    judged: int = 0
    broken: int = 0
    forms: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.word != DEVIATES:
            return self.word
        where = f" ({', '.join(self.forms)})" if self.forms else ""
        return f"{self.word} on {self.broken} of {self.judged}{where}"


#: The paths of complaints about sizes before any call (conformance/exported/rules/dynamic.py).
_ASKED = "a size that is not dynamic|a dynamic size|equal sizes|range|derived sizes"

_ROWS: tuple[Promise, ...] = (
    Promise("node order", "E1", "inputs are the first nodes, the output is the last", "order of nodes"),
    Promise("one output", "E1", "there is exactly one output node", "output nodes"),
    Promise("node ops", "E1", "no ops but placeholder, call_function, get_attr, output", "node ops"),
    Promise("FX graph", "E1", "each graph is a legal FX graph", "lint"),
    Promise("interpretation", "E1", "interpreting it as FX does is sound", "interpreted"),
    Promise("Python code", "E1", "FX makes legal Python of it", "generated code.*"),
    Promise("get_attr", "E2", "get_attr reads submodules alone", "get_attr.*"),
    Promise("order of inputs", "E3", "parameters, buffers, constants, then the user's inputs", "order of inputs"),
    Promise("order of outputs", "E3", "mutated inputs, then the user's outputs", "order of outputs"),
    Promise("signature names", "E3", "the signature names the nodes taken and returned", "names of .*|number of .*"),
    Promise(
        "state is lifted",
        "E3",
        "state and constants are inputs, with kind, target, persistence",
        "(inputs|kind|target|persistence|constants|class|object) .*",
    ),
    Promise("buffer mutation", "E4", "the new value of a written buffer is an extra output", "outputs of .*"),
    Promise("operators", "E4", "calls are of ATen, custom and control flow operators", "target.*", expected="an operator.*"),
    Promise("functional", "E4", "after run_decompositions no operator writes", "target.*", expected="a functional .*"),
    Promise("core operators", "E4", "run_decompositions gives Core ATen operators", "target.*", expected="a Core ATen .*"),
    Promise("stack_trace", "E5", "each call has the Python lines it came of", "stack_trace of .*"),
    Promise("val", "E5", "each call says what it gives", "val of (?!a placeholder).*"),
    Promise("nn_module_stack", "E5", "each call has the modules it came of", "nn_module_stack of .*"),
    Promise(
        "source_fn_stack", "E5", "each call has the function or leaf module it came of", shown_by="call-lacks:source_fn_stack"
    ),
    Promise("no other metadata", "E5", "calls have exactly these four keys", shown_by="call-has:.*"),
    Promise("val of inputs", "E5", "placeholders say what they expect", "val of a placeholder"),
    Promise("output metadata", "E5", "the output has the metadata of a call", shown_by="output-lacks:.*"),
    Promise(
        "result kinds",
        "E6",
        "val is a tensor, tuple or number as the operator gives",
        "val(\\[\\d+\\])*( in a \\w+)? (kind|structure|constant|class).*",
    ),
    Promise("dtypes", "E6", "no implicit type promotion: dtypes are those of val", "val.* dtype.*"),
    Promise("sizes", "E6", "sizes are those of val", "val.* (shape|device|layout|stride).*"),
    Promise("no strides", "E6", "a fake tensor has no strides", untestable="every tensor of torch has strides"),
    Promise("dim_order", "E6", "a fake tensor has a dim_order", untestable="announced as not there yet"),
    Promise(
        "attributes",
        "E7",
        "the documented attributes are there, and can't be set",
        "(graph|graph_module|graph_signature|state_dict|range_constraints)",
    ),
    Promise("validate", "E7", "an exported program passes its Verifier", "validate"),
    Promise("state_dict", "E7", "it holds the values of what is lifted", "state_dict of .*"),
    Promise("range_constraints", "E7", "each symbol has a range", "range_constraints of .*"),
    Promise("can be made and called", "E8", "what eager runs is exported, comes in each form, and is called", "error"),
    Promise("outputs", "E8", "called, it gives what eager gives", "outputs.*"),
    Promise("mutations", "E8", "called, it leaves to the caller what eager leaves", "(caller|rng).*"),
    Promise("gradients", "E8", "an export can be trained with eager's autograd", "(grads|differentiable|backward).*"),
    Promise("leaf types", "E9", "tensors, numbers, texts, dtypes and the like pass the boundary", "leaf .*"),
    Promise("container types", "E9", "tuples, lists, dicts and what is registered pass the boundary", "container .*"),
    Promise("other types", "E9", "a type that nobody registered is refused by name", "unregistered .*"),
    Promise("sizes as asked for", "E10", "sizes are symbols, equal, derived and bounded as asked for", _ASKED),
    Promise("sizes in range", "E10", "called with any size in range, it does as eager", "(smallest|largest|between).*"),
    Promise("sizes out of range", "E10", "any other size is refused, with its place", "(below|above|unequal|static).*"),
    Promise("rank", "E10", "the number of dimensions is never dynamic", "rank.*"),
    Promise("control flow", "E11", "it is a higher-order operator, with subgraphs", ".*"),
)
PROMISES: dict[str, Promise] = {promise.name: promise for promise in _ROWS}


def verdict(promise: Promise, record: Record) -> Verdict:
    """What the record says of the promise."""
    if promise.untestable:
        return Verdict(NOT_TESTABLE)
    judged = [row for row in record.rows if promise.requirement in row.checked]
    if not judged:
        return Verdict(NOT_JUDGED)
    found = [(row, list(_breaks(promise, row))) for row in judged]
    told = [pair for _, pairs in found for pair in pairs]
    broken = sum(bool(pairs) for _, pairs in found)
    forms = tuple(sorted({form for form, _ in told if form}))
    findings = tuple(sorted({finding for _, finding in told if finding}))
    return Verdict(DEVIATES if broken else HOLDS, len(judged), broken, forms, findings)


def _breaks(promise: Promise, row: Row) -> Iterator[tuple[str, str]]:
    """What of the row contradicts the promise: the form that it is about, the finding that knows it; "" where there is none."""
    for violation in row.violations:
        form, _, path = violation.path.partition(":")
        matches = promise.broken_by and re.fullmatch(promise.broken_by, path, re.DOTALL)
        if violation.rule == promise.requirement and matches and re.fullmatch(promise.expected, violation.expected, re.DOTALL):
            yield form, violation.finding or ""
    if promise.shown_by and any(re.fullmatch(promise.shown_by, name) for name in row.features):
        yield "", ""


def promises_table(records: Sequence[Record]) -> Table:
    """Documented, relied on by, and what each record says, one column a record."""
    columns = ("promise", "under", "documented", "relied on by", *(record.header.torch_version for record in records))
    return Table("promises of the export IR", columns, tuple(_cells(promise, records) for promise in PROMISES.values()))


def _cells(promise: Promise, records: Sequence[Record]) -> tuple[str, ...]:
    consumers = dict.fromkeys(name for record in records for name in record.header.consumers.get(promise.requirement, ()))
    said = (str(verdict(promise, record)) for record in records)
    return promise.name, promise.requirement, promise.words, ", ".join(consumers) or "-", *said


def promises_as_data(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The same for a page; nothing where no record judged an exported program."""
    said = [(promise, [verdict(promise, record) for record in records]) for promise in PROMISES.values()]
    if all(each.word in (NOT_JUDGED, NOT_TESTABLE) for _, verdicts in said for each in verdicts):
        return []
    return [
        {
            "name": promise.name,
            "requirement": promise.requirement,
            "documented": promise.words,
            "runs": [{"word": each.word, "told": str(each), "findings": each.findings} for each in verdicts],
        }
        for promise, verdicts in said
    ]
