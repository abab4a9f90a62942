"""The rules of chapter E; importing this package registers them all."""

from conformance.exported.rules import graph, metadata, parity, signature  # noqa: F401
