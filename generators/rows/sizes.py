"""Rows that compute with sizes, which are Python ints, and rows whose result's size depends on data."""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

ROWS = (
    Op("size", "size", "{x}.size({p})", (a.dim,)),
    Op("numel", "size", "{x}.numel()"),
    Op("last_size", "size", "{x}.shape[-1]"),
    Op("times_size", "size", "{x} * {x}.size(0)"),
    Op("over_numel", "size", "{x}.sum() / {x}.numel()"),
    Op("zeros_of_size", "size", "torch.zeros({x}.shape[0])"),
    Op("arange_of_size", "size", "torch.arange({x}.size(0))"),
    Op("new_ones", "size", "{x}.new_ones({x}.shape)"),
    Op("view_rows", "size_view", "{x}.view({x}.size(0), -1)"),
    Op("first_half", "size_view", "{x}[: {x}.size(0) // 2]"),
    Op("expand_to_size", "size_view", "{x}.expand({x}.size(0), *{x}.shape)"),
    Op("item", "unbacked", "{x}.sum().item()"),
    Op("nonzero", "unbacked", "{x}.nonzero()"),
    Op("masked_select", "unbacked", "torch.masked_select({x}, {x} > 0)"),
)
