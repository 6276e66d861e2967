"""What looks on while a model is fitted."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self, TextIO

import numpy as np

from ..arrays import Array
from ..solvers import Progress


class Onlooker(ABC):
    """A callback that may look at the model as it is, now and then."""

    @abstractmethod
    def look(self, progress: Progress, draft: Callable[[], Any]) -> None:
        """See an iteration; ``draft()`` gives a fitted model with the present weights."""

    def __call__(self, progress: Progress) -> None:
        """See an iteration of a search that shows no drafts."""
        self.look(progress, lambda: None)

    def __sklearn_clone__(self) -> Self:
        """Return this one: clones of an estimator, inside pipelines say, are looked at by the same."""
        return self


OVERWRITTEN, ADDED = 0.1, 5.0
"""Seconds between two looks at a line that is overwritten, and between two lines of a log."""


class ProgressLine:
    """Says how far a fit is, on the standard error stream if no other is given.

    On a terminal and in a notebook one line is overwritten, by a carriage return and blanks alone; in files
    and pipes lines follow one another, some seconds apart. The last state is always shown. ``with`` ends the
    line, however the search ends.

    Parameters
    ----------
    stream : text file, optional
        Where to write.
    shown : bool or int
        Whether to write at all: ``verbose`` of an estimator.
    """

    def __init__(self, stream: TextIO | None = None, *, shown: bool | int = True) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = bool(shown)
        self._overwrites = _overwrites(self.stream)
        self._width = 0
        self._next = 0.0
        self._waiting: str | None = None

    def __call__(self, progress: Progress, point: Any = None) -> None:
        """Show an iteration of a search."""
        gap = f"{progress.relative_gap:.1e}" if np.isfinite(progress.lower_bound) else "unknown"
        line = f"iteration {progress.iteration}: value {progress.value:.6g}, relative gap {gap}"
        self.say(f"{line}, {progress.seconds:.1f} s")

    def say(self, text: str) -> None:
        """Show a line, unless the one before is too young; then it waits for its turn."""
        now = time.monotonic()
        if now < self._next:
            self._waiting = text
            return
        self._next = now + (OVERWRITTEN if self._overwrites else ADDED)
        self._show(text)

    def __enter__(self) -> Self:
        """Begin a search."""
        return self

    def __exit__(self, *_: object) -> None:
        """Show what waits, and end the line."""
        if self._waiting is not None:
            self._show(self._waiting)
        if self._width:
            self._write("\n")

    def _show(self, text: str) -> None:
        self._waiting = None
        if not self._overwrites:
            self._write(f"{text}\n")
            return
        self._write(f"\r{text:<{self._width}}")
        self._width = len(text)

    def _write(self, text: str) -> None:
        if self.shown:
            self.stream.write(text)
            self.stream.flush()


def _overwrites(stream: Any) -> bool:
    """Whether what is written to a stream after a carriage return takes the place of a line."""
    return bool(stream.isatty()) or type(stream).__module__.startswith("ipykernel")


class EarlyStopping:
    """Ends the search when the loss on held-out data has not fallen for some iterations.

    Parameters
    ----------
    loss : callable
        Loss of an element on the held-out data.
    patience : int
        Iterations to wait for an improvement.
    """

    def __init__(self, loss: Callable[[Array], float], patience: int) -> None:
        self.loss = loss
        self.patience = patience
        self.best = np.inf
        self.element: Array | None = None
        self.waited = 0
        self.losses: list[float] = []

    def __call__(self, progress: Progress, point: Any) -> bool:
        """Look at one iteration."""
        value = self.loss(point.element)
        self.losses.append(value)
        if value < self.best:
            self.best, self.element, self.waited = value, point.element, 0
        else:
            self.waited += 1
        return self.waited >= self.patience
