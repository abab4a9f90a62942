# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# Untyped, since a script carries these functions as a person would write them.
"""Functions that higher-order ops call. As in a captured graph, they take tensors and give back a tuple.

Both branches of a cond give results of the same dtype for operands of any dtype, and what is carried keeps its
dtype and layout, since the ops ask for that and eager doesn't check.
"""

from __future__ import annotations

import torch

from generators.preludes.effects import note, noted


def mostly_positive(x):
    """A predicate that rounding can't turn over, and that some inputs fulfil and others don't."""
    return (x > 0).sum() * 2 > x.numel()


def fresh(x):
    """A contiguous tensor that shares nothing with ``x``."""
    return x.clone(memory_format=torch.contiguous_format)


def rows(x):
    """The tensor itself, which must have a first row: an op that goes along the rows refuses others with an assertion."""
    x[0]
    return x


def twofold(x):
    return (x * 2,)


def squared(x):
    return (x * x + 1,)


def doubled_in_place(x):
    y = x * 2
    y.add_(x)
    return (y,)


def doubled_view(x):
    return ((x * 2).unsqueeze(0),)


def squared_view(x):
    return ((x * x + 1).unsqueeze(0),)


def written_twofold(x):
    x.mul_(2)
    return (x + 1,)


def written_upward(x):
    x.add_(1)
    return (x * 2,)


def write_in_a_branch(x):
    """A branch may write its operand in inference alone."""
    if x.requires_grad:
        raise RuntimeError("a branch may not write what requires grad")
    torch.ops.higher_order.cond(mostly_positive(x), written_twofold, written_upward, (x,))


def product_and_double(x, y):
    return x * y, x * 2


def sum_and_square(x, y):
    return x + y, x * x + 1


def chosen_twice(x):
    return torch.ops.higher_order.cond(mostly_positive(x + 1), twofold, squared, (x,))


def row_scaled(row, factor):
    return (row * factor,)


def scaled_and_sum(row, factor):
    return row * factor, row.sum()


def is_early(step, x):
    return step < 3


def is_small(step, x):
    return (step < 4) & (x.abs().sum() < 100)


def squared_step(step, x):
    return step + 1, x * x


def running(carry, row):
    return carry + row, carry * row


def recurrent(carry, row):
    new = torch.tanh(carry + row)
    return new, new.clone()


def running_twice(carry, total, row):
    return carry * row, total + carry, carry + row


def product(x, y):
    return (x * y,)


@torch.compiler.nested_compile_region
def region(x):
    return torch.sin(x) * x


@torch.compiler.nested_compile_region
def writing_region(x):
    x.mul_(2)
    return x + 1


def sine_times(x):
    return (torch.sin(x) * x,)


def only_earlier(score, batch, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


def causal_attention(x):
    """Without a gradient alone: on the CPU there is none."""
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(x, x, x, score_mod=only_earlier)


def noted_twofold(x):
    return (noted(x) * 2,)


def noted_squared(x):
    return (noted(x) * x,)


def note_and_twofold(x):
    note(x)
    return (x * 2,)


def note_and_squared(x):
    note(x)
    return (x * x,)


def noted_step(step, x):
    return step + 1, noted(x) * x


@torch.compiler.nested_compile_region
def noting_region(x):
    return noted(x) * 2


#: What a captured graph has in place of a region's function.
SINE_TIMES = torch.fx.symbolic_trace(sine_times)


def invoke(graph, name, x):
    """A region as capturing leaves it: the op where something is traced, the graph itself in eager."""
    is_traced = torch._guards.detect_fake_mode() is not None
    return torch.ops.higher_order.invoke_subgraph(graph, name, x) if is_traced else graph(x)
