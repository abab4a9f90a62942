"""The rules, one module a chapter of the contract; importing this package registers them all."""

from conformance.rules import (  # noqa: F401
    carried,
    causes,
    compiled,
    consumers,
    graph,
    meaning,
    options,
    pieces,
    pipeline,
    routes,
    soundness,
    utilities,
    vocabulary,
)
