"""Fits with a time limit, which report whether a user stopped them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from ..fitting.observers import Onlooker
from ..fitting.run import heeds
from ..solvers import Progress
from .preparing import inner, prefix_of

INTERRUPTED = "Interrupted"
"""How reasons begin of searches that Ctrl-C ended; the best point so far was kept."""


UNSETTLED = "ConvergenceWarning"
"""The name of scikit-learn's warning, which need not be imported to be recognised."""


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
    """What was warned about, besides searches that were not over."""
    unsettled: bool
    """Whether the search was not over, for want of iterations or of time."""


class _Deadline(Onlooker):
    """Stops a search when its time is up, as Ctrl-C would; tells others of every iteration."""

    def __init__(self, seconds: float, watch: Callable[[Progress], None] | None) -> None:
        self.due = time.monotonic() + seconds
        self.watch = watch
        self.over = False

    def look(self, progress: Progress, draft: Callable[[], Any]) -> None:
        """Look at an iteration; the starting point of a search is not kept."""
        if self.watch is not None:
            self.watch(progress)
        if progress.iteration > 0 and time.monotonic() >= self.due:
            self.over = True
            raise KeyboardInterrupt


def fit_within(
    model: Any, X: Any, y: Any, seconds: float | None, watch: Callable[[Progress], None] | None = None
) -> FitOutcome:
    """Fit a model within a time limit, but for at least one iteration.

    Ctrl-C, which searches survive with what they have, is told apart from the end of the time. ``watch``
    sees every iteration.
    """
    deadline, started = _Deadline(float("inf") if seconds is None else seconds, watch), time.perf_counter()
    key, watched = f"{prefix_of(model)}run__callback", heeds(inner(model), "callback")
    before = model.get_params(deep=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if watched:
            model.set_params(**{key: deadline})
        try:
            model.fit(X, y)
        finally:
            if watched:
                model.set_params(**{key: before[key]})
    spent = time.perf_counter() - started
    said = [str(warning.message) for warning in caught if warning.category.__name__ != UNSETTLED]
    if deadline.over:
        return FitOutcome(End.OUT_OF_TIME, spent, said, True)
    stopped = str(getattr(inner(model), "stop_reason_", "")).startswith(INTERRUPTED)
    end = End.INTERRUPTED if stopped else End.DONE
    return FitOutcome(end, spent, said, any(warning.category.__name__ == UNSETTLED for warning in caught))
