"""The rules of chapter E; importing this package registers them all."""

from conformance.exported import pytrees  # noqa: F401
from conformance.exported.rules import dynamic, graph, metadata, parity, signature  # noqa: F401
