"""Refusals that PyTorch documents: the right answer where it can't do a thing.

A refusal is documented where the message itself tells the user what is not supported and what to do, or
a page or docstring says so. An assertion is never a documented refusal, whatever its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A message that users are meant to see, and where it is documented; one of a ``stage`` is none anywhere else."""

    pattern: str
    source: str
    stage: str = ""


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        r"functionalization encountered a tensor being mutated that has internal overlap",
        "the message says that compiling bans it, and why; torch/_subclasses/functional_tensor.py",
    ),
    Refusal(
        r"encountered a mutation on a view chain of length \d+, where view \d+ was an as_strided\(\) call",
        "the message says that as_strided is non-compositional, and how to do without; aten/src/ATen/FunctionalStorageImpl.cpp",
    ),
    Refusal(
        r"^aten\.(nonzero|_local_scalar_dense|item|masked_select|unique)",
        "data-dependent shapes and values: DynamicOutputShapeException and DataDependentOutputException, "
        "torch/_subclasses/fake_tensor.py",
    ),
    Refusal(
        r"Could not guard on data-dependent expression|^local_scalar_dense/item NYI",
        "a decision that hangs on data; the message of GuardOnDataDependentSymNode says what to do, "
        "torch/fx/experimental/symbolic_shapes.py; torch/_subclasses/fake_impls.py",
    ),
    Refusal(r"^CUDA not available$", "torch/_functorch/config.py, functionalize_rng_ops; the switch needs CUDA"),
    Refusal(
        r"^cond_(true|false) might be modifying the input!",
        "torch.cond, Restrictions: no in-place mutations on inputs, in later versions none but in inference",
    ),
    Refusal(
        r"Encountered (duplicate|aliased) inputs that are mutated in the graph, but at least one input/output\s+"
        r"to the graph is a tensor subclass",
        "the message says so, and how to do without; torch/_functorch/_aot_autograd/runtime_wrappers.py",
    ),
    Refusal(
        r"^(Unsupported output|Invalid input) type for nonstrict_trace-ed function",
        "the callable is one, and the message says which types torch.compile takes there; torch/_dynamo/variables/torch.py",
    ),
    Refusal(
        r"Metadata mutations are currently not allowed on tensor subclasses",
        "the message says so; torch/_functorch/_aot_autograd/collect_metadata_analysis.py",
    ),
    Refusal(
        r"encountered a tensor subclass where we guessed its\s+metadata incorrectly",
        "the message says which tangent was expected, and what to call or implement; "
        "torch/_functorch/_aot_autograd/runtime_wrappers.py",
    ),
    Refusal(
        r"When use_reentrant=True, torch\.utils\.checkpoint is incompatible with \.grad\(\)",
        "the message says what to pass instead; torch/utils/checkpoint.py",
    ),
    Refusal(
        r"^AOTAutograd does not support MUST_RECOMPUTE for effectful operations",
        "the message says so, and why: an effect is performed once; torch/_functorch/partitioners.py",
    ),
    Refusal(
        r"^Found an input that received a metadata mutation",
        "the message says that it can't be exported for inference and where to ask for it; torch/_functorch/aot_autograd.py",
    ),
    Refusal(
        r"^We found a fake tensor in the exported program constant's list",
        "the message says what it means, and which of the module's attributes to look at; torch/export/_trace.py",
    ),
    Refusal(
        r"^Constraints violated \(",
        "a dynamic size that the module takes for a constant, or of a narrower range: torch.export.export and Dim say that "
        "it is refused, and the message what to change; torch/_export/non_strict_utils.py",
    ),
    Refusal(
        r"^Unable to pickle non-standard op: ",
        "the message names the custom op that a cache can't hold; torch/_inductor/codecache.py",
    ),
    Refusal(
        r"was compiled with non-empty donated buffers which requires create_graph=False and retain_graph=False",
        "torch/_functorch/config.py, donated_buffer; the message names the switch",
    ),
    Refusal(
        r"\A(?s:(?!.*This is likely to be a Dynamo bug).+\n  Explanation: )",
        "what Dynamo does not support: the guide of torch.export has it among the limitations of strict, and the message tells "
        "why and what to do, but for one that calls itself a bug; torch/_dynamo/exc.py, Unsupported",
        stage="strict",
    ),
)


def documented(error: BaseException, stage: str = "") -> Refusal | None:
    """The documented refusal that ``error`` is where it is raised in ``stage``, or None."""
    if isinstance(error, AssertionError):
        return None
    told = (refusal for refusal in REFUSALS if refusal.stage in ("", stage))
    return next((refusal for refusal in told if re.search(refusal.pattern, str(error))), None)
