"""Chapter E: dynamic sizes are those that were asked for, and hold for every call in their range."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.exported.case import Exported
from conformance.exported.rules.graph import has_forms
from conformance.exported.sizes import IN_RANGE, at, bounds, told_sizes
from conformance.rule import Complaint, exported_rule
from generators.dynamic import ends
from generators.program import Ref

#: What an error says that tells a caller which shape is wrong.
CLEAR = re.compile(r"size|shape|rank|dimension", re.IGNORECASE)
#: What is to be refused, as complaints name it.
REFUSED = {
    "below": "one less than the lower end",
    "below two": "a size of one, where the lower end is two",
    "above": "one more than the upper end",
    "unequal": "sizes that differ where one symbol stands for both",
    "static": "another size where a number stands",
    "rank": "one dimension more",
}


def _has_dynamic_sizes(case: Exported) -> bool:
    passed = {leaf.name for leaf in case.program.flat_args if isinstance(leaf, Ref)}
    passed -= {state.value for state in case.program.state}
    sizes = {size for leaf in case.program.leaves if leaf.name in passed for size in leaf.shape}
    return has_forms(case) and not sizes.isdisjoint(case.program.symbolic)


@exported_rule("E10", _has_dynamic_sizes)
def dynamic_sizes_hold(case: Exported) -> Iterator[Complaint]:
    for form, exported in case.forms.items():
        yield from _asked_for(case, form, exported)
        for name, trial in case.trials[form].items():
            if name not in IN_RANGE:
                yield from _refusal_complaints(form, name, trial)
            elif not trial.eager["error"]:
                for difference in trial.differences:
                    found: object = trial.error if difference.path == "error" else None
                    yield f"{form}:{name}:{difference.path}", difference.expected, found or difference.found


def _refusal_complaints(form: str, name: str, trial: Any) -> Iterator[Complaint]:
    if trial.error is None:
        yield f"{form}:{name}", f"an error: {REFUSED[name]}", f"no error with {trial.shapes}"
    elif not CLEAR.search(str(trial.error.error)):
        yield f"{form}:{name}:message", "an error that tells which size is wrong", trial.error


def _asked_for(case: Exported, form: str, exported: Any) -> Iterator[Complaint]:
    """Beside the program: which sizes are symbols, equal ones one, and what their ranges are."""
    assert case.way is not None
    told = told_sizes(case.program, exported)
    places = [(leaf.shape[i], size) for leaf in case.program.leaves for i, size in enumerate(told.get(leaf.name, ()))]
    expressions: dict[int, Any] = {}
    for asked, size in places:
        if asked not in case.program.symbolic:
            if not isinstance(size, int):
                yield f"{form}:a size that is not dynamic", "a number", "a symbol"
        elif isinstance(size, int):
            if case.way.name not in ("automatic", "automatic in a range"):
                yield f"{form}:a dynamic size", "a symbol", "a number"
        elif size.free_symbols <= exported.range_constraints.keys():
            yield from _range_complaints(case, form, exported, asked, size)
            if case.way.is_named and expressions.setdefault(asked, size) != size:
                yield f"{form}:equal sizes", "one expression", "several"
    yield from _relation_complaints(case, form, expressions)


def _range_complaints(case: Exported, form: str, exported: Any, asked: int, size: Any) -> Iterator[Complaint]:
    assert case.way is not None
    within = {symbol: bounds(symbol, exported) for symbol in size.free_symbols}
    lower = at(size, {symbol: low for symbol, (low, _) in within.items()})
    highs = {symbol: high for symbol, (_, high) in within.items() if high is not None}
    upper = at(size, highs) if len(highs) == len(within) else None
    least, most = ends(case.program, case.way, asked)
    if case.way.is_named and (lower, upper) != (least, most):
        yield f"{form}:range", str((least, most)), str((lower, upper))
    elif most is not None and (lower < least or upper is None or upper > most):
        yield f"{form}:range", f"within {least} and {most}", str((lower, upper))


def _relation_complaints(case: Exported, form: str, expressions: dict[int, Any]) -> Iterator[Complaint]:
    """Derived sizes differ by what they differ in the example."""
    if case.way is None or case.way.name != "derived":
        return
    first = min(expressions, default=0)
    for asked, expression in expressions.items():
        if expression - expressions[first] != asked - first:
            yield f"{form}:derived sizes", "the relation that was asked for", "another"
