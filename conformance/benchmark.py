"""How fast the suite is, beside the bare work that torch does on the same programs.

Bare work: build, export, compile, one forward and backward of each, eager and compiled. Ours: the whole
walk with all scenarios, all rules and the signatures, without Hypothesis' drawing, which is measured apart.
Both are timed in turn in one process, so that a noisy machine disturbs both.
"""

from __future__ import annotations

import gc
import logging
import os
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree

from conformance.implementation import Implementation, load_implementation
from conformance.judge import judge
from conformance.observation import cotangents_for, roots_of
from conformance.shards import draw, shards_for
from generators.build import Built, build
from generators.program import Program

WARM_UP = 20


def report(programs: int, repeats: int, seed: int, implementation: str) -> str:
    """The figures as a few lines of text: medians, and the lowest and highest of ``repeats``."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    start = time.perf_counter()
    drawn = [program for shard in shards_for(programs, seed) for program in draw(shard)][:programs]
    drawing = (time.perf_counter() - start) / len(drawn)
    adapter = load_implementation(implementation)
    for program in drawn[:WARM_UP]:
        judge(program, adapter)
        bare(program, adapter)
    gc.freeze()  # as the child processes of a run do
    before = _resident_megabytes()
    pairs = [(_timed(drawn, lambda p: bare(p, adapter)), _timed(drawn, lambda p: judge(p, adapter))) for _ in range(repeats)]
    return "\n".join(
        [
            f"torch {torch.__version__}, {len(drawn)} programs, {repeats} repeats, one process, one thread",
            f"drawing            {1e3 * drawing:.1f} ms a program",
            _line("bare torch", [1e3 * b / len(drawn) for b, _ in pairs], "ms a program"),
            _line("the whole walk", [1e3 * w / len(drawn) for _, w in pairs], "ms a program"),
            _line("ratio", [w / b for b, w in pairs], "whole walk to bare torch"),
            _line("judged", [len(drawn) / w for _, w in pairs], "programs a second and core"),
            _line("with drawing", [len(drawn) / (w + drawing * len(drawn)) for _, w in pairs], "programs a second and core"),
            f"memory             {before:.0f} MiB after warm-up, {_resident_megabytes():.0f} MiB after {repeats} repeats",
        ]
    )


def _resident_megabytes() -> float:
    """What of this process is in memory now, in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _line(name: str, figures: list[float], unit: str) -> str:
    spread = f"({min(figures):.2f} to {max(figures):.2f})"
    return f"{name:18} {statistics.median(figures):.2f} {spread} {unit}"


def _timed(programs: list[Program], work: Callable[[Program], Any]) -> float:
    start = time.perf_counter()
    for program in programs:
        work(program)
    return time.perf_counter() - start


def bare(program: Program, implementation: Implementation) -> None:
    """What anyone must do to check a program at all: export, compile, and run both once, forward and backward."""
    with suppress(Exception):
        _forward_and_backward(build(program), lambda b: b.module(*b.args, **b.kwargs))
    with suppress(Exception):
        built = build(program)
        with ExitStack() as stack:
            joint = implementation.export(stack, built.module, built.args, built.kwargs)
            compiled = implementation.compile(joint)
        fqns = [*joint.params_spec, *joint.buffers_spec]
        _forward_and_backward(build(program), lambda b: compiled(*map(b.state, fqns), *b.args, **b.kwargs))


def _forward_and_backward(built: Built, call: Callable[[Built], Any]) -> None:
    roots = roots_of(pytree.tree_leaves(call(built)))
    if roots:
        torch.autograd.backward(roots, cotangents_for(roots, 0))
