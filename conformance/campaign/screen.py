"""How far a campaign is: a few lines that stay in place on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.table import Table

#: Seconds between two plain lines.
NOW_AND_THEN = 30.0


@dataclass(frozen=True)
class Status:
    """What there is to tell. ``left`` is what the campaign still has to do, in words."""

    programs: int
    rate: float
    new: int
    known: int
    shrunk: int
    kinds: int
    features: int
    left: str

    @property
    def parts(self) -> dict[str, str]:
        """Label and text of each line."""
        return {
            "programs": f"{self.programs}, {self.rate:.1f} a second",
            "faults": f"{self.new} new ({self.shrunk} shrunk), {self.known} known",
            "shown": f"{self.kinds} descriptor kinds, {self.features} features",
            "left": self.left,
        }


Tell = Callable[[Status], None]


@contextmanager
def screen(console: Console) -> Iterator[Tell]:
    """What is to be called with each new status."""
    if not console.is_terminal:
        yield _PlainLines(console)
        return
    with Live(console=console, refresh_per_second=2, transient=True) as live:
        yield lambda status: live.update(_table(status))


def _table(status: Status) -> Table:
    table = Table.grid(padding=(0, 2))
    for label, text in status.parts.items():
        table.add_row(f"[bold]{label}[/bold]", text)
    return table


@dataclass
class _PlainLines:
    """Prints a status if the last one was long ago."""

    console: Console
    last: float = 0.0

    def __call__(self, status: Status) -> None:
        if time.monotonic() - self.last < NOW_AND_THEN:
            return
        self.last = time.monotonic()
        line = "; ".join(f"{label} {text}" for label, text in status.parts.items())
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)
