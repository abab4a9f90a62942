"""Rows that call a custom op: functional ones, ones that write, and ordered effects."""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

ROWS = (
    Op("doubled", "custom", "doubled({x})"),
    Op("squashed", "custom", "squashed({x})"),
    Op("scaled", "custom", "scaled({x}, {p})", (a.among(2.0, 0.5),)),
    Op("times", "custom", "times({x}, {y})"),
    Op("joined", "custom", "joined([{x}, {y}])"),
    Op("twice_and_thrice", "custom", "twice_and_thrice({x})", many=True),
    Op("first_of_library", "custom_view", "library_ops().first({x})"),
    Op("triple_", "custom_mutation", "triple_({x})"),
    Op("accumulate_", "custom_mutation", "accumulate_({y}, {x})"),
    Op("swap_", "custom_mutation", "swap_({x}, {y})", writes="xy"),
    Op("quietly_triple_", "custom_mutation", "library_ops().quietly_triple_({x})"),
    Op("count_", "custom_write", "count_({x})", writes="x"),
    Op("note", "effect", "note({x})", silent=True),
    Op("noted", "effect", "noted({x})"),
    Op("noted_both_ways", "effect", "noted_both_ways({x})"),
    Op("noted_backward", "effect", "NotedBackward.apply({x})"),
    Op("printed", "effect", "printed({x})", silent=True),
)
