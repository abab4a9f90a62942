"""How long each phase of a walk takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timed:
    """A case that counts ``seconds`` by phase, as the run record's row has them."""

    seconds: dict[str, float]

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add what the block takes to the phase's seconds."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - start
