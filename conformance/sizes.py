"""Whether what an export took for granted of symbolic sizes holds for other arguments (C16).

Each symbol is read off the arguments themselves: the fake tensors that were exported with, beside those that a
call is about to be given. A size, stride or offset that the export took for a number must still be that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree

from generators.subclasses import pieces


def are_other_sizes(shape_env: Any, exported_with: Any, given: Any) -> bool:
    """Whether the arguments ``given`` have other sizes than those ``exported_with``, and such as the export allows for.

    A number that an argument is, and that a symbol stood for too, is that symbol: it must not have changed.
    """
    # The older name is that of 2.9.
    at_export = getattr(shape_env, "backed_var_to_val", None) or shape_env.var_to_val
    fakes, tensors = pytree.tree_leaves(exported_with), pytree.tree_leaves(given)
    plain = [leaf for leaf in tensors if isinstance(leaf, (int, float))]
    numbers = [(symbol, leaf) for leaf in plain for symbol in at_export if at_export[symbol] == leaf]
    pairs = [*numbers, *(pair for fake, tensor in zip(fakes, tensors) for pair in _numbers(fake, tensor))]
    now = {**at_export, **{expression: value for expression, value in pairs if expression in at_export}}
    agree = all(_at(expression, now) == value for expression, value in pairs)
    return agree and now != dict(at_export) and _guards_hold(shape_env, now)


def _numbers(fake: Any, tensor: Any) -> Iterator[tuple[Any, Any]]:
    """Size, stride and offset of two tensors and of all that they are made of: as an expression or number, and now."""
    if isinstance(tensor, torch.Tensor):
        for one, other in [(fake, tensor), *zip((p for _, p in pieces(fake)), (p for _, p in pieces(tensor)))]:
            layouts = ((*t.shape, *t.stride(), t.storage_offset()) for t in (one, other))
            pairs = zip(*layouts)  # the ragged size of a nested tensor is no number: it is in the offsets
            yield from ((_expression(number), now) for number, now in pairs if isinstance(now, int))


def _expression(number: Any) -> Any:
    """The expression that the size was made with, whatever the export found out about its symbols."""
    return number.node._expr if isinstance(number, torch.SymInt) else number


def _at(expression: Any, sizes: Mapping[Any, Any]) -> Any:
    return expression if isinstance(expression, int) else expression.subs(sizes)


def _guards_hold(shape_env: Any, now: Mapping[Any, Any]) -> bool:
    guards = [guard.expr.subs(now) for guard in shape_env.guards]
    fixed = [expression.subs(now) == now.get(symbol) for symbol, expression in shape_env.replacements.items()]
    return all(guard == True for guard in guards) and all(fixed)  # noqa: E712  (sympy's own True)
