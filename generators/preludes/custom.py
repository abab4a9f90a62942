"""How the custom ops of the preludes are defined."""

import torch

#: The custom ops of this process: one defined again would be pulled from under those that call it.
DEFINED: dict[str, object] = vars(torch.ops.joint_conformance).setdefault("DEFINED", {})


def custom_op(name, mutates_args=(), schema=None):
    """``torch.library.custom_op``, once a process."""

    def define(function):
        if name not in DEFINED:
            options = {"mutates_args": mutates_args, "schema": schema}
            DEFINED[name] = torch.library.custom_op(f"joint_conformance::{name}", function, **options)
        return DEFINED[name]

    return define
