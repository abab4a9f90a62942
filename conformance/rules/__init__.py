"""The rules, one module a chapter of the contract; importing this package registers them all."""

from conformance.rules import carried, causes, compiled, consumers, graph, options, pipeline, soundness, vocabulary  # noqa: F401
