"""What the documents leave open, and no rule may complain of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import conformance.rules  # noqa: F401  (registers the rules)
from conformance.case import walk
from conformance.pytorch import PyTorch
from conformance.rule import RULES
from tests.programs import ONE_OUTPUT


class RewritesTheGraph(PyTorch):
    """A compile that leaves another graph on the joint than it was given, as for nested regions."""

    def compile(self, joint: Any, **options: Any) -> Callable[..., Any]:
        compiled = super().compile(joint, **options)
        for node in joint.graph_module.graph.find_nodes(op="placeholder"):
            node.name = "renamed"
        return compiled


def test_a_graph_that_the_compile_rewrites_is_compared_as_it_was_exported() -> None:
    assert RULES["J17"].judge(walk(ONE_OUTPUT, RewritesTheGraph(), thorough=True)) == []
