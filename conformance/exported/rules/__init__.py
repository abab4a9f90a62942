"""The rules of chapter E; importing this package registers them all."""

from conformance.exported.rules import dynamic, graph, metadata, parity, signature  # noqa: F401
