"""What must be as before after every program, lest it poison those that come after it.

The random generator is not among it: each scenario seeds it anew, and J15 and C13 judge what is done to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.symbolic_convert import TensorifyState
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

#: Name -> how the state is read. Each is compared with what it was when this module was imported.
STATES: dict[str, Callable[[], object]] = {
    "dispatch modes": lambda: [type(mode).__name__ for mode in _get_current_dispatch_mode_stack()],
    "torch function modes": torch._C._len_torch_function_stack,
    "grad mode": torch.is_grad_enabled,
    "inference mode": torch.is_inference_mode_enabled,
    "autocast": lambda: torch.is_autocast_enabled("cpu"),
    "default dtype": torch.get_default_dtype,
    "deterministic algorithms": torch.are_deterministic_algorithms_enabled,
    "tracing context": torch._guards.TracingContext.try_get,
    "transforms of functorch": torch._C._functorch.get_dynamic_layer_stack_depth,
    "Dynamo's frame callback": torch._C._dynamo.eval_frame.get_eval_frame_callback,
}

_CLEAN = {name: read() for name, read in STATES.items()}


#: How what can be put back is put back: with a mode left on, nothing else could be judged.
_PUT_BACK: dict[str, Callable[[], object]] = {
    "dispatch modes": lambda: _pop(_get_current_dispatch_mode_stack, _pop_mode),
    "torch function modes": lambda: _pop(lambda: [None] * torch._C._len_torch_function_stack(), torch.overrides._pop_mode),
    "grad mode": lambda: torch.set_grad_enabled(bool(_CLEAN["grad mode"])),
    "transforms of functorch": lambda: torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(0),
}


def _pop(stack: Callable[[], list[Any]], pop: Callable[[], object]) -> None:
    while stack():
        pop()


def left_behind() -> dict[str, str]:
    """What is other than it was, by the name of the state, and how it is now; empty if nothing."""
    return {name: str(read()) for name, read in STATES.items() if read() != _CLEAN[name]}


def put_back() -> None:
    """Modes, transforms and the grad mode as they were; the other states stay as they are."""
    for name in left_behind().keys() & _PUT_BACK.keys():
        _PUT_BACK[name]()


def forget() -> None:
    """What a refused compile leaves for the next one, numbers that it is to specialize: a verdict must not hang on it."""
    TensorifyState.clear()
