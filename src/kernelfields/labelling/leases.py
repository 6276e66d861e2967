"""Which window has which sequence, so that two windows are not asked for the same one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

SECONDS = 600.0
"""For which a sequence is kept for the window that shows it, from the last that was heard of that window."""


class Lease(NamedTuple):
    """A sequence that a window shows."""

    item: int
    until: float


class Leases:
    """At most one sequence for every window.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, Lease] = {}

    def hold(self, window: str | None, item: int | None) -> None:
        """Note what a window shows now, or that it shows nothing; windows without a name hold nothing."""
        if window is None:
            return
        self._held.pop(window, None)
        if item is not None:
            self._held[window] = Lease(item, self._clock() + SECONDS)

    def of(self, window: str | None) -> int | None:
        """Return what a window shows."""
        self._forget()
        return self._held[window].item if window in self._held else None

    def of_others(self, window: str | None) -> set[int]:
        """Return what other windows show."""
        self._forget()
        return {lease.item for other, lease in self._held.items() if other != window}

    def _forget(self) -> None:
        now = self._clock()
        self._held = {window: lease for window, lease in self._held.items() if lease.until > now}
