"""Memory that requests under way may take together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..web import RefusedError

BUSY = "The server is busy; try again in a second."
RETRY = {"retry-after": "1"}


class MemoryBudget:
    """Counts bytes that are promised to requests, and promises no more than there are.

    Parameters
    ----------
    total : int
        Bytes.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, count: int) -> Iterator[None]:
        """Hold some bytes; refuse for ever what is more than there are, and for now what others hold."""
        require_room(count, self.total)
        with self._lock:
            if self.used + count > self.total:
                raise RefusedError(503, BUSY, RETRY)
            self.used += count
        try:
            yield
        finally:
            with self._lock:
                self.used -= count


def require_room(count: int, total: int) -> None:
    """Refuse what takes more bytes than all requests may take together."""
    if count > total:
        raise RefusedError(
            422,
            f"The answer would take about {_shown(count)} of memory, and all requests together have "
            f"{_shown(total)}: send shorter or fewer sequences, or ask for a smaller k.",
        )


def _shown(count: int) -> str:
    return f"{count / 2**30:.2g} GB" if count >= 2**30 else f"{count / 2**20:.3g} MB"
