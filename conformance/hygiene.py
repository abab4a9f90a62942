"""What must be as before after every program: modes, grad mode, the generator's existence, Dynamo's state.

An open fake mode poisons everything that comes after it, so a leak is reported on the program that made it.
"""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack


def check_clean() -> str:
    """What a program left behind, as one line; empty if nothing. Grad mode is set right again."""
    left: list[str] = [f"dispatch mode {type(mode).__name__}" for mode in _get_current_dispatch_mode_stack()]
    depth = torch._C._len_torch_function_stack()
    if depth:
        left.append(f"{depth} torch function modes")
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        left.append("grad mode off")
    if torch._guards.TracingContext.try_get() is not None:
        left.append("a tracing context")
    if torch.is_inference_mode_enabled():
        left.append("inference mode on")
    return f"left behind: {', '.join(left)}" if left else ""
