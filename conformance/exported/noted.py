"""What exported programs have beside, or lack of, the metadata that the specification names: features of their rows."""

from __future__ import annotations

from conformance.exported.case import Exported
from conformance.exported.forms import EXPORTED

#: The keys that the specification gives every call, and none beside them.
SPECIFIED = frozenset({"stack_trace", "val", "nn_module_stack", "source_fn_stack"})


def metadata_features(case: Exported) -> frozenset[str]:
    """``call-lacks:KEY``, ``call-has:KEY`` and ``output-lacks:KEY``, as some node of the export as it comes does."""
    if EXPORTED not in case.forms:
        return frozenset()
    graph = case.forms[EXPORTED].graph
    calls = [node for node in graph.nodes if node.op == "call_function"]
    lacking = {f"call-lacks:{key}" for node in calls for key in SPECIFIED - node.meta.keys()}
    beside = {f"call-has:{key}" for node in calls for key in node.meta.keys() - SPECIFIED}
    of_output = {f"output-lacks:{key}" for node in graph.find_nodes(op="output") for key in SPECIFIED - node.meta.keys()}
    return frozenset(lacking | beside | of_output)
