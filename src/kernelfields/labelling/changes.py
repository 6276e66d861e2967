"""What a window asks to be changed, and what stands against it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

Entry = Mapping[str, Any]
"""An event of a journal."""


class Sender(NamedTuple):
    """Who asks for a change; nobody in particular unless a page says it."""

    window: str | None = None
    """A name that a window gives itself."""
    number: int | None = None
    """Changes of a window are numbered, so that one that is sent again is not made again."""
    revision: int | None = None
    """The last change of the sequence that the window has seen."""


class LastChange(NamedTuple):
    """The last change of a sequence."""

    revision: int
    """Number of changes up to it."""
    window: str | None = None
    when: str | None = None


class ConflictError(Exception):
    """A change of a sequence that another window has changed in the meantime."""

    def __init__(self, sentence: str, last: LastChange, item: dict[str, Any]) -> None:
        super().__init__(sentence)
        self.sentence, self.last, self.item = sentence, last, item

    def answer(self) -> dict[str, Any]:
        """Return what the page needs to let a person choose."""
        said = {"window": self.last.window, "when": self.last.when, "item": self.item}
        return {"error": self.sentence, "conflict": said}


class ChangeLog:
    """Who changed what last; it is made again from a journal."""

    def __init__(self) -> None:
        self._last: dict[int, LastChange] = {}
        self._numbers: dict[str, int] = {}

    def signed(self, entry: Entry, sender: Sender) -> Entry:
        """Return an event with who made it, and when."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        names = {"window": sender.window, "number": sender.number}
        return {**entry, **{key: one for key, one in names.items() if one is not None}, "when": when}

    def note(self, entry: Entry, changed: list[int], revision: int) -> None:
        """Note an event that was done."""
        window, number = entry.get("window"), entry.get("number")
        if isinstance(window, str) and isinstance(number, int):
            self._numbers[window] = max(number, self._numbers.get(window, -1))
        for item in changed:
            self._last[item] = LastChange(revision, window, entry.get("when"))

    def of(self, item: int) -> LastChange:
        """Return the last change of a sequence."""
        return self._last.get(item, LastChange(0))

    def is_done(self, sender: Sender) -> bool:
        """Return whether a change was made already: its answer was lost, and it is sent again."""
        if sender.window is None or sender.number is None:
            return False
        return sender.number <= self._numbers.get(sender.window, -1)

    def is_late(self, item: int, sender: Sender) -> bool:
        """Return whether another window has changed a sequence since this one saw it."""
        last = self.of(item)
        return (
            sender.revision is not None and last.revision > sender.revision and last.window != sender.window
        )
