"""What must be as before after every program, lest it poison those that come after it.

The random generator is not among it: each scenario seeds it anew, and J15 and C13 judge what is done to it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

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
    "Dynamo's frame callback": torch._C._dynamo.eval_frame.get_eval_frame_callback,
}

_CLEAN = {name: read() for name, read in STATES.items()}


def left_behind() -> str:
    """What a program left other than it was, as one line; empty if nothing."""
    left = [f"{name} {read()}" for name, read in STATES.items() if read() != _CLEAN[name]]
    return f"left behind: {', '.join(left)}" if left else ""
