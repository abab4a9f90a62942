"""The rules, one module a chapter of the contract; importing this package registers them all."""

from conformance.rules import causes, compiled, graph, pipeline, routes, soundness, utilities, vocabulary  # noqa: F401
