"""What else may be done to a program's module, once its state hangs on it: one row each.

A row is a line of Python; ``{m}`` stands for the module, ``self`` in a printed script. It may speak of what the
preludes define. A row that does not fit a module (there is no ``weight`` to parametrize) raises, and is not drawn.
"""

from __future__ import annotations

from torch import nn

from generators import layers
from generators.prelude import NAMES
from generators.program import Program

DRESSINGS: dict[str, str] = {
    "eval": "{m}.eval()",
    "forward_hook": "{m}.register_forward_hook(result_doubled)",
    "forward_pre_hook": "{m}.register_forward_pre_hook(arguments_doubled)",
    "full_backward_hook": "{m}.register_full_backward_hook(gradients_doubled)",
    "full_backward_pre_hook": "{m}.register_full_backward_pre_hook(cotangents_doubled)",
    "parametrized": 'nn.utils.parametrize.register_parametrization({m}, "weight", Doubled())',
    "layer_twice": "{m}.same_layer = {m}.layer",
}
#: Every row, those of the layers too, which are not drawn.
LINES: dict[str, str] = DRESSINGS | layers.LINES


def fqns(program: Program) -> dict[str, str]:
    """The FQN of each parameter and buffer of the dressed module, and the caller's name of what it is."""
    found = {state.fqn: state.value for state in program.state}
    if "layer_twice" in program.dressing:
        found |= {f"same_{fqn}": value for fqn, value in found.items() if fqn.startswith("layer.")}
    if "parametrized" in program.dressing:
        found["parametrizations.weight.original"] = found.pop("weight")
    return found


def dress(module: nn.Module, name: str) -> None:
    """Do to ``module`` what the row says. Raises whatever that raises."""
    exec(LINES[name].format(m="module"), dict(NAMES) | {"module": module})
