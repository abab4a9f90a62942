"""The joint graph of a module that Dynamo captured first, as autoparallel and the graph trainer export it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch._guards import TracingContext, tracing
from torch.fx.traceback import preserve_node_meta

from conformance.implementation import Implementation, Joint
from generators.build import build
from generators.printed import printed_module
from generators.program import Program


def export_captured(program: Program, implementation: Implementation, device: str, **options: Any) -> Joint | None:
    """The printed module captured by Dynamo, then exported with other example tensors of the same kind.

    None where Dynamo can't capture the module, or the export of what it captured fails.
    """
    try:
        captured = _capture(program, device)
        fresh = build(program, device)
        # What a capture hands on: its fake mode, by which the export is to know the captured sizes.
        with tracing(TracingContext(captured.meta.get("fake_mode"))), ExitStack() as stack:
            return implementation.export(stack, captured, fresh.args, fresh.kwargs, **options)
    except Exception:  # an op that Dynamo doesn't support, say; what the export of the module itself does is judged elsewhere
        return None
    finally:
        torch._dynamo.reset()


def _capture(program: Program, device: str) -> Any:
    from torch._dynamo.functional_export import _dynamo_graph_capture_for_export  # a second, which few programs need

    built = build(program, device)
    with printed_module(program, built.values) as module, preserve_node_meta():
        return _dynamo_graph_capture_for_export(module)(*built.args, **built.kwargs)
