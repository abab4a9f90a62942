"""Rows of control flow: higher-order ops on functions of the prelude (generators/preludes/control.py).

They are called as a captured graph calls them, by ``torch.ops.higher_order``: ``torch.cond`` and its like send
eager itself through Dynamo.
"""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

_OPS = "torch.ops.higher_order"
_COND = f"{_OPS}.cond(mostly_positive({{x}}), "
_BOTH = f"{_OPS}.cond(mostly_positive({{x}}) | mostly_positive({{y}}), "

ROWS = (
    Op("cond", "control", _COND + "twofold, squared, ({x},))[0]"),
    Op("cond_bool", "control", "torch.cond({p}, twofold, squared, ({x},))[0]", (a.among(True, False),)),
    Op("cond_size", "control", "torch.cond({x}.shape[0] > 2, twofold, squared, ({x},))[0]"),
    Op("cond_two", "control", _BOTH + "product_and_double, sum_and_square, ({x}, fresh({y})))", many=True),
    Op("cond_view", "control", _COND + "doubled_view, squared_view, ({x},))[0]"),
    Op("cond_in_place", "control", _COND + "doubled_in_place, squared, ({x},))[0]"),
    Op("cond_nested", "control", _COND + "chosen_twice, twofold, ({x},))[0]"),
    Op("map", "control", f"{_OPS}.map_impl(row_scaled, (rows({{x}}),), ({{y}}.sum(),))[0]"),
    Op("map_two", "control", f"{_OPS}.map_impl(scaled_and_sum, (rows({{x}}),), ({{y}}.sum(),))", many=True),
    Op("while_loop", "control", f"{_OPS}.while_loop(is_early, squared_step, (torch.tensor(0), fresh({{x}})), ())[1]"),
    Op("while_data", "control", f"{_OPS}.while_loop(is_small, squared_step, (torch.tensor(0), fresh({{x}})), ())", many=True),
    Op("scan", "control", f"{_OPS}.scan(running, [fresh({{x}})[0]], [fresh({{x}})], ())", many=True),
    Op("scan_last", "control", f"{_OPS}.scan(running, [fresh({{x}})[0]], [fresh({{x}})], ())[0]"),
    Op("scan_tanh", "control", f"{_OPS}.scan(recurrent, [fresh({{x}})[0] * 1.0], [fresh({{x}})], ())", many=True),
    Op("scan_two", "control", f"{_OPS}.scan(running_twice, [fresh({{x}})[0], fresh({{x}})[0]], [fresh({{x}})], ())", many=True),
    Op("associative_scan", "control", f"fresh({_OPS}.associative_scan(product, [rows({{x}})], ())[0])"),
    Op("region", "control", "region({x})"),
    Op("region_twice", "control", "region(region({x}))"),
    Op("invoke", "control", "invoke(SINE_TIMES, 'first', fresh({x}))[0]"),
    Op("invoke_twice", "control", "invoke(SINE_TIMES, 'first', invoke(SINE_TIMES, 'first', fresh({x}))[0])[0]"),
    Op("flex_attention", "control", "causal_attention({x})"),
    Op("region_noted", "control_effect", "noting_region({x})"),
    Op("cond_noted", "control_effect", _COND + "noted_twofold, noted_squared, ({x},))[0]"),
    Op("cond_notes", "control_effect", _COND + "note_and_twofold, note_and_squared, ({x},))[0]"),
    Op("loop_noted", "control_effect", f"{_OPS}.while_loop(is_early, noted_step, (torch.tensor(0), fresh({{x}})), ())[1]"),
    Op("cond_writes", "control_mutation", "write_in_a_branch({x})"),
    Op("region_writes", "control_mutation", "writing_region({x})"),
)
