"""How much a run does, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """A named amount of work: how many programs are drawn beside the stored ones, how many are shrunk a shard."""

    programs: int
    shrinks: int
    meaning: str


PROFILES: dict[str, Profile] = {
    "quick": Profile(2080, 3, "the stored programs and about 2,000 distinct drawn ones, in a few minutes on two cores"),
    "gate": Profile(0, 0, "the stored programs and the findings only: the same work on every torch version"),
    "nightly": Profile(20800, 5, "ten times the drawing of quick, or as long as --minutes says"),
}
