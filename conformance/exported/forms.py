"""The forms that an exported program takes: which of them a program gets, and how each is made."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import nn

from conformance.named import FORMS
from generators.build import Built
from generators.dressings import dress
from generators.dynamic import Way, dynamic_shapes
from generators.printed import printed_module
from generators.program import Program

EXPORTED, DECOMPOSED, LOADED, STRICT, CORE = FORMS
UNFLATTENED, REEXPORTED = "unflattened", "exported again"
#: What an export gives, which autograd can go through.
TRAINING = (EXPORTED, STRICT)
#: Those that run_decompositions gives: nothing in them writes.
FUNCTIONAL = (DECOMPOSED, CORE)
#: What a program gets beside the export where nobody says: one of these, in turn. What takes longest is rarest.
TURNS: tuple[tuple[str, ...], ...] = (
    *((DECOMPOSED,), (STRICT,), (LOADED, UNFLATTENED), (LOADED, UNFLATTENED)),
    *((CORE,), (LOADED, REEXPORTED), (LOADED, REEXPORTED), (LOADED, REEXPORTED)),
    *((DECOMPOSED,), (LOADED, UNFLATTENED), (LOADED, UNFLATTENED), (LOADED, UNFLATTENED)),
    *((DECOMPOSED,), (LOADED, REEXPORTED), (LOADED, REEXPORTED), (LOADED, REEXPORTED)),
)


@dataclass(frozen=True)
class Source:
    """What is exported, by whom, and how its symbolic sizes are asked for."""

    program: Program
    built: Built
    implementation: Any
    way: Way | None

    def exported(self, module: nn.Module | None = None, **options: Any) -> Any:
        """The ExportedProgram of the built module, or of another that is called as it is."""
        given = (module or self.built.module, self.built.args, self.built.kwargs)
        shapes = {"dynamic_shapes": dynamic_shapes(self.program, self.way, *given)} if self.way else {}
        return self.implementation.export_ir(*given, **shapes, **options)

    def loaded(self, exported: Any) -> Any:
        """The ExportedProgram, saved and loaded again."""
        return saved_and_loaded(self.implementation, exported)

    def decomposed(self, exported: Any) -> Any:
        """The ExportedProgram made functional."""
        return self.implementation.decompose_ir(exported)

    def decomposed_to_core(self, _: Any) -> Any:
        """One made of core operators, of an export of its own: a decomposition may spoil what it was given."""
        return self.implementation.decompose_to_core_ir(self.exported())

    def unflattened(self, _: Any) -> Callable[[], Any]:
        """What makes the module with submodules, of an export of its own: it may spoil what it was given."""
        return partial(self.implementation.unflatten_ir, self.exported())

    def exported_again(self, exported: Any) -> Callable[[], Any]:
        """What makes the module of the ExportedProgram's own module."""
        module = exported.module()
        return self.implementation.export_ir(module, self.built.args, self.built.kwargs).module  # type: ignore[no-any-return]

    def exported_strictly(self) -> Any:
        """The ExportedProgram that Dynamo captured: it reads the module's source, so it gets the printed one."""
        try:
            with printed_module(self.program, self.built.values) as module:
                for name in self.program.dressing:
                    dress(module, name)
                return self.exported(module, strict=True)
        finally:
            torch._dynamo.reset()


#: Makes a form, given the export.
Make: TypeAlias = Callable[[Source, Any], Any]
#: The forms that are made of the export, and those of which only what they do is watched.
MADE_OF_IT: dict[str, Make] = {LOADED: Source.loaded, DECOMPOSED: Source.decomposed, CORE: Source.decomposed_to_core}
CALLED_ALONE: dict[str, Make] = {UNFLATTENED: Source.unflattened, REEXPORTED: Source.exported_again}
#: Every form but the export itself.
OTHERS = (*MADE_OF_IT, STRICT, *CALLED_ALONE)


def forms_in_turn(program: Program) -> tuple[str, ...]:
    """The forms that this program gets beside the export, by its hash."""
    return TURNS[int(program.name[:4], 16) % len(TURNS)]


def saved_and_loaded(implementation: Any, exported: Any) -> Any:
    """The ExportedProgram, saved and loaded again."""
    file = io.BytesIO()
    implementation.save_ir(exported, file)
    file.seek(0)
    return implementation.load_ir(file)
