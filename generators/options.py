"""How a program may be exported and compiled other than by default: one row each, its value as Python writes it.

A row's value may speak of what the preludes define. To add an option, add a row.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from generators.prelude import NAMES


@dataclass(frozen=True)
class Option:
    """A keyword of the export or of the compile, or a switch of torch._functorch.config that changes what is traced.

    ``stage`` is "export", "compile" or "config".
    """

    name: str
    stage: str
    keyword: str
    text: str = "True"

    @property
    def value(self) -> Any:
        """The value; made anew each time. Raises what the installed torch raises where it lacks a thing."""
        for module in ("torch._decomp", "torch._functorch.partitioners"):
            importlib.import_module(module)
        return eval(self.text, dict(NAMES))


_ROWS = (
    Option("keep_inference_input_mutations", "export", "keep_inference_input_mutations"),
    Option("ignore_shape_env", "export", "ignore_shape_env"),
    Option("disable_functionalization", "export", "disable_functionalization"),
    Option("record_nn_module_stack", "export", "_record_nn_module_stack"),
    Option("disable_torch_fn_metadata_mode", "export", "_disable_torch_fn_metadata_mode"),
    Option("core_decompositions", "export", "decompositions", "torch._decomp.core_aten_decompositions()"),
    Option("own_decompositions", "export", "decompositions", "OWN_DECOMPOSITIONS"),
    Option("min_cut", "compile", "partition_fn", "torch._functorch.partitioners.min_cut_rematerialization_partition"),
    Option("views_folded", "compile", "fw_compiler", "views_folded"),
    Option("backward_views_folded", "compile", "bw_compiler", "views_folded"),
    *(
        Option(f"config.{switch}", "config", switch, text)
        for switch, text in {
            "functionalize_rng_ops": "True",
            "view_replay_for_aliased_outputs": "False",
            "guess_tangent_strides_as_outputs": "False",
            "disable_guess_zero_tangent_for_mutated_input_subclass": "True",
            "enable_complex_wrapper": "True",
            "check_custom_op_aliasing": "False",
            "donated_buffer": "False",
            "debug_assert": "True",
            "selective_decompose": "True",
            "unlift_effect_tokens": "True",
            "backward_pass_autocast": "'off'",
            "static_weight_shapes": "False",
            "treat_parameters_as_free_to_save": "False",
        }.items()
    ),
)
OPTIONS: dict[str, Option] = {option.name: option for option in _ROWS}


def of_stage(names: tuple[str, ...], stage: str) -> dict[str, Any]:
    """The keywords of that stage with their values, for the options of these names."""
    return {option.keyword: option.value for option in map(OPTIONS.__getitem__, names) if option.stage == stage}
