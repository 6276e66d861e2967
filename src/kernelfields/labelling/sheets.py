"""What people said about one sequence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from .tags import Tag


class TagState(StrEnum):
    """Where a tag comes from."""

    AUTO = "auto"
    """The model, and nobody has looked at it."""
    REVIEWED = "reviewed"
    """The model, and somebody has accepted it."""
    MANUAL = "manual"
    """Somebody."""


@dataclass(frozen=True)
class Sheet:
    """The tags of one sequence that people gave or accepted; the model may fill in others."""

    tags: tuple[Tag, ...]
    """One for every position, None where nobody has said anything."""
    states: tuple[TagState | None, ...]
    """Where they come from."""
    done: bool = False
    """Whether somebody has accepted the whole sequence: the model learns from it."""
    skipped: bool = False
    """Whether somebody could not say: it is not asked for again."""

    @staticmethod
    def blank(length: int) -> Sheet:
        """Return a sheet on which nothing is written."""
        return Sheet((None,) * length, (None,) * length)

    @property
    def is_open(self) -> bool:
        """Whether it can be asked for."""
        return bool(self.tags) and not self.done and not self.skipped

    @property
    def is_blank(self) -> bool:
        """Whether nobody has written on it."""
        return not any(self.states)

    def with_run(self, at: int, tags: list[Tag], mended: list[Tag]) -> Sheet:
        """Return it with a run that somebody set, and all tags mended after that."""
        states = list(self.states)
        states[at : at + len(tags)] = [None if tag is None else TagState.MANUAL for tag in tags]
        return replace(self, tags=tuple(mended), states=tuple(states), skipped=False)
