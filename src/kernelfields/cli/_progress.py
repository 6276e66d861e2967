"""Training progress on one line."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Self

from rich.console import Console

from ..estimators import Onlooker
from ..solvers import Progress
from ._status import StatusLine

SHARE = 0.1
"""Of the time, how much may go into looking at held-out data."""
FARTHEST = 100
"""Times as long as training has taken: a longer estimate is not shown."""
FIRST = 1.0
"""Seconds of training before the first look."""


class LiveLine(Onlooker):
    """A live status line: objective, certified gap, held-out error, and the estimated time left.

    A look at held-out data is followed by at least nine times its own time without one.

    Parameters
    ----------
    console : Console
        Where to.
    tol : float or None
        The gap at which the search will end.
    judge : callable, optional
        From a model to its error on held-out data.
    """

    def __init__(
        self, console: Console, tol: float | None, judge: Callable[[Any], float] | None = None
    ) -> None:
        self.tol, self.judge = tol, judge
        self.error: float | None = None
        """On held-out data, when last looked at."""
        self._started = time.monotonic()
        self._due = self._started + FIRST
        self.records: list[Progress] = []
        self._line = StatusLine(console, keep=True)

    def __enter__(self) -> Self:
        """Start the display."""
        self._line.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave the last line standing."""
        self._line.__exit__(*error)

    def look(self, progress: Progress, draft: Callable[[], Any]) -> None:
        """Show an iteration; look at held-out data if it is time."""
        started = time.monotonic()
        if self.judge is not None and started >= self._due:
            self.error = self.judge(draft())
            ended = time.monotonic()
            self._due = ended + (ended - started) * (1 / SHARE - 1)
        self(progress)

    def __call__(self, progress: Progress) -> None:
        """Show an iteration."""
        self.records.append(progress)
        words = [f"iteration {progress.iteration:4d}", f"objective {progress.value:12.4f}"]
        if math.isfinite(progress.lower_bound):
            words.append(f"certified gap {progress.relative_gap:8.1e}")
        if self.error is not None:
            words.append(f"held-out error {self.error:.2%}")
        words.append(f"{time.monotonic() - self._started:6.1f} s")  # a fit may be several searches
        left = self.seconds_left()
        if left is not None:
            words.append(f"about {left:.0f} s left")
        self._line("   ".join(words))

    def seconds_left(self) -> float | None:
        """Extrapolate the last iterations: the gap falls by about the same factor every second."""
        gaps = [(r.seconds, r.relative_gap) for r in self.records[-20:] if 0 < r.relative_gap < math.inf]
        if self.tol is None or len(gaps) < 5 or gaps[-1][1] <= self.tol:
            return None
        (early, high), (late, low) = gaps[0], gaps[-1]
        if not low < high or late <= early:
            return None
        rate = math.log(high / low) / (late - early)
        left = math.log(low / self.tol) / rate
        # Beyond a multiple of what was seen, the last iterations say nothing.
        return left if left <= FARTHEST * max(late, 1.0) else None
