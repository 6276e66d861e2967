"""Fits with a time limit, which report whether a user stopped them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from ..estimators import Onlooker
from ..solvers import Progress

INTERRUPTED = "Interrupted"
"""How reasons begin of searches that Ctrl-C ended; the best point so far was kept."""


class End(Enum):
    """How a fit ended."""

    DONE = auto()
    OUT_OF_TIME = auto()
    INTERRUPTED = auto()


class FitOutcome(NamedTuple):
    """The outcome of a fit, however it ended; its model is fitted in any case."""

    end: End
    seconds: float
    warnings: list[str]


class _Deadline(Onlooker):
    """Stops a search when its time is up, as Ctrl-C would."""

    def __init__(self, seconds: float) -> None:
        self.due = time.monotonic() + seconds
        self.over = False

    def look(self, progress: Progress, draft: Callable[[], Any]) -> None:
        """Look at an iteration; the starting point of a search is not kept."""
        if progress.iteration > 0 and time.monotonic() >= self.due:
            self.over = True
            raise KeyboardInterrupt


def fit_within(model: Any, X: Any, y: Any, seconds: float | None) -> FitOutcome:
    """Fit a model within a time limit, but for at least one iteration.

    Ctrl-C, which searches survive with what they have, is told apart from the end of the time.
    """
    deadline, started = _Deadline(float("inf") if seconds is None else seconds), time.perf_counter()
    settings = model.get_params(deep=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if "callback" in settings:
            model.set_params(callback=deadline)
        try:
            model.fit(X, y)
        finally:
            if "callback" in settings:
                model.set_params(callback=settings["callback"])
    spent = time.perf_counter() - started
    said = [str(warning.message) for warning in caught]
    if deadline.over:
        return FitOutcome(End.OUT_OF_TIME, spent, [])
    stopped = str(getattr(model, "stop_reason_", "")).startswith(INTERRUPTED)
    return FitOutcome(End.INTERRUPTED if stopped else End.DONE, spent, said)
