"""How training goes, on one line."""

from __future__ import annotations

import math
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..solvers import Progress


class ProgressLine:
    """A live line: objective, certified gap, and about how long it will take.

    Parameters
    ----------
    console : Console
        Where to.
    tol : float or None
        The gap at which the search will end.
    """

    def __init__(self, console: Console, tol: float | None) -> None:
        self.tol = tol
        self.records: list[Progress] = []
        self._live = Live(console=console, refresh_per_second=8, transient=not console.is_terminal)

    def __enter__(self) -> Self:
        """Begin."""
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave the last line standing."""
        self._live.__exit__(*error)

    def __call__(self, progress: Progress) -> None:
        """Show an iteration."""
        self.records.append(progress)
        words = [f"iteration {progress.iteration:4d}", f"objective {progress.value:12.4f}"]
        if math.isfinite(progress.lower_bound):
            words.append(f"certified gap {progress.relative_gap:8.1e}")
        words.append(f"{progress.seconds:6.1f} s")
        left = self.seconds_left()
        if left is not None:
            words.append(f"about {left:.0f} s left")
        self._live.update(Text("   ".join(words)))

    def seconds_left(self) -> float | None:
        """Extrapolate the last iterations: the gap falls by about the same factor every second."""
        gaps = [(r.seconds, r.relative_gap) for r in self.records[-20:] if 0 < r.relative_gap < math.inf]
        if self.tol is None or len(gaps) < 5 or gaps[-1][1] <= self.tol:
            return None
        (early, high), (late, low) = gaps[0], gaps[-1]
        if not low < high or late <= early:
            return None
        rate = math.log(high / low) / (late - early)
        return math.log(low / self.tol) / rate
