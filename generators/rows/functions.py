"""Rows that call an autograd function of generators/preludes/functions.py."""

from __future__ import annotations

from generators import arguments as a
from generators.op import Op

ROWS = (
    Op("exponential", "function", "Exponential.apply({x})"),
    Op("cube", "function", "Cube.apply({x})"),
    Op("straight_through", "function", "StraightThrough.apply({x})"),
    Op("fresh_in_place", "function", "FreshInPlace.apply({x})"),
    Op("gradient_in_place", "function", "GradientInPlace.apply({x})"),
    Op("once_differentiable", "function", "OnceDifferentiable.apply({x})"),
    Op("first_doubled", "function", "FirstDoubled.apply({x})"),
    Op("power_function", "function", "Power.apply({x}, {p})", (a.among(2, 3),)),
    Op("product", "function", "Product.apply({x}, {y})"),
    Op("square_product", "function", "Product.apply({x}, {x})"),
    Op("one_sided_sum", "function", "Sum.apply({x}, {y})"),
    Op("sine_alone", "function", "SineAndCosine.apply({x})[0]"),
    Op("sine_and_cosine", "function", "SineAndCosine.apply({x})", many=True),
    Op("half_and_sign", "function", "HalfAndSign.apply({x})", many=True),
    Op("halves", "function", "Halves.apply({x})", many=True),
    Op("tripled_in_place", "function_write", "TripledInPlace.apply({x})", writes="x"),
    Op("same", "function_view", "Same.apply({x})"),
    Op("flat", "function_view", "Flat.apply({x})"),
)
