"""What looks on while a model is fitted."""

from __future__ import annotations

import sys
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


class ProgressLine:
    """Shows every iteration on one line, of the standard error stream if no other is given.

    ``with`` ends the line, however the search ends.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream

    def __call__(self, progress: Progress, point: Any) -> None:
        """Overwrite the line."""
        gap = f"{progress.relative_gap:.1e}" if np.isfinite(progress.lower_bound) else "unknown"
        line = f"iteration {progress.iteration}: value {progress.value:.6g}, relative gap {gap}"
        self._write(f"\r{line}, {progress.seconds:.1f} s ")

    def __enter__(self) -> Self:
        """Begin a search."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the line."""
        self._write("\n")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


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
