"""Ops into and out of tensor subclasses, so that plain tensors come of subclasses and subclasses of plain tensors."""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

ROWS: tuple[Op, ...] = (
    Op("to_pair", "subclass", "ToPair.apply({x})"),
    Op("first", "subclass", "First.apply({x})"),
    Op("to_scaled", "subclass", "ToScaled.apply({x}, {p})", (a.among(0.5, 2.0),)),
    Op("to_pair_of", "subclass", "ToPairOf.apply({x})"),
    Op("jagged_values", "subclass", "{x}.values()"),
    Op("to_local", "subclass", "{x}.to_local()"),
    Op("from_local", "subclass", "dtensor({x})"),
)
