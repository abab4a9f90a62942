"""Which requirements matter to those who ask: all, those that a consumer relies on, or those that a file names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli

from reports.record import Header
from reports.storage import one_line

_KEYS = ("consumers", "requirements")


class PolicyError(ValueError):
    """A policy that can't be used; one line that says why."""


@dataclass(frozen=True)
class Policy:
    """The requirements that decide: those named, and those that one of the consumers is known to rely on.

    A policy that names nothing holds all of them to matter.
    """

    consumers: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()

    def matters(self, requirement: str, header: Header) -> bool:
        """Whether a regression of the requirement decides; a crash, and what is removed, is of "" and always does."""
        if not requirement or not (self.consumers or self.requirements):
            return True
        return requirement in self.requirements or bool({*self.consumers} & {*header.consumers.get(requirement, ())})

    def also_for(self, consumers: Sequence[str]) -> Policy:
        """The same policy, with what these consumers rely on."""
        return replace(self, consumers=(*self.consumers, *consumers))

    def check(self, header: Header) -> None:
        """Raises PolicyError if it names a consumer or a requirement that the run does not know."""
        known = sorted({consumer for consumers in header.consumers.values() for consumer in consumers})
        for consumer in self.consumers:
            if consumer not in known:
                raise PolicyError(one_line(f"no consumer is called {consumer}: there are {', '.join(known)}"))
        for requirement in self.requirements:
            if requirement not in header.requirements:
                raise PolicyError(one_line(f"{requirement}: no requirement with a rule has this id"))


EVERYTHING = Policy()


def read_policy(path: Path) -> Policy:
    """The policy in a TOML file with the lists `consumers` and `requirements`, either or both.

    Raises PolicyError, one line with the file.
    """
    try:
        data: dict[str, Any] = tomli.loads(path.read_text("utf-8"))
    except OSError as error:
        raise PolicyError(one_line(f"{path}: {error.strerror}")) from None
    except ValueError as error:
        raise PolicyError(one_line(f"{path}: {error}")) from None
    if not data or set(data) - set(_KEYS) or not all(_is_list_of_names(names) for names in data.values()):
        raise PolicyError(one_line(f"{path}: a list `consumers` or `requirements` of names is needed, and nothing else"))
    return Policy(**{key: tuple(names) for key, names in data.items()})


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
