"""Rows that hang a hook on what autograd does with a tensor."""

from __future__ import annotations

from generators.op import Op

ROWS = (
    Op("gradient_hook", "hook", "hook({x}, doubled_gradient)", silent=True),
    Op("idle_hook", "hook", "hook({x}, unchanged_gradient)", silent=True),
    Op("accumulated_hook", "hook", "{x}.register_post_accumulate_grad_hook(double_accumulated)", silent=True),
)
