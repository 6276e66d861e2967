"""A thread that learns: soon a little from what is new, and then the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from ..estimators import CRF
from .learner import LabelLearner, Lesson, is_settled

QUICK, SLICE = 0.08, 0.3
"""Seconds that the first steps after something new may take, and those after them."""
LEAST, MOST = 2, 100
"""Iterations of either."""


class Snapshot(NamedTuple):
    """A model at one time; it never changes."""

    version: int
    """That of the lesson."""
    model: CRF | None
    """None while there is nothing to learn from."""
    settled: bool
    """Whether more iterations would change nothing."""


NEVER = Snapshot(-1, None, True)


class BackgroundLearner:
    """Learns in a thread of its own from the latest lesson.

    Parameters
    ----------
    learner : LabelLearner
        What learns.
    published : callable
        Called in that thread with every new snapshot.
    failed : callable
        Called in that thread with an error; the next lesson starts from nothing.
    """

    def __init__(
        self,
        learner: LabelLearner,
        published: Callable[[Snapshot], None] = lambda _: None,
        failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self.learner, self.published, self.failed = learner, published, failed
        self.snapshot = self._told = NEVER
        self._learnt_from: Lesson | None = None
        self._lesson: Lesson | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._pace = 0.01
        self._thread = threading.Thread(target=self._run, name="kf-label-learner", daemon=True)
        self._thread.start()

    def teach(self, lesson: Lesson) -> None:
        """Hand over a lesson; one that was not begun is forgotten."""
        with self._changed:
            self._lesson = lesson
            self._changed.notify_all()

    def wait(self, version: int, timeout: float, *, settled: bool = False) -> bool:
        """Wait until a model knows a lesson; False if it takes too long.

        With ``settled``, until it knows all that it can learn from it, and everybody has been told.
        """

        def known() -> bool:
            found = self._told if settled else self.snapshot
            return found.version >= version and (found.settled or not settled)

        with self._changed:
            return self._changed.wait_for(lambda: known() or self._closed, timeout) and known()

    def close(self) -> None:
        """End the thread after the steps that it is taking."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(10)

    def _run(self) -> None:
        while (lesson := self._next()) is not None:
            try:
                found = self._learnt(lesson)
            except Exception as error:  # whatever it is, the page must say so and labelling go on
                found = Snapshot(lesson.version, None, True)
                self._learnt_from = None
                self._keep(found)
                self.failed(error)
            else:
                self._keep(found)
                self._tell(found)
            with self._changed:
                self._told = found
                self._changed.notify_all()

    def _tell(self, snapshot: Snapshot) -> None:
        try:
            self.published(snapshot)
        except Exception as error:
            self.failed(error)

    def _next(self) -> Lesson | None:
        """Wait for something to learn; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._has_work())
            return None if self._closed else self._lesson

    def _has_work(self) -> bool:
        return self._lesson is not None and not (
            self.snapshot.version == self._lesson.version and self.snapshot.settled
        )

    def _learnt(self, lesson: Lesson) -> Snapshot:
        """Take as many steps as there is time for; none if there is nothing new."""
        known, self._learnt_from = self._learnt_from, lesson
        if (
            known is not None
            and (known.items, known.tags) == (lesson.items, lesson.tags)
            and self.snapshot.settled
        ):
            return self.snapshot._replace(version=lesson.version)
        seconds = SLICE if self.snapshot.version == lesson.version else QUICK
        iterations = max(LEAST, min(MOST, round(seconds / self._pace)))
        start = time.perf_counter()
        model = self.learner.step(self.snapshot.model, lesson, iterations)
        if model is None:
            return Snapshot(lesson.version, None, True)
        self._pace = (time.perf_counter() - start) / max(model.n_iter_, 1)
        return Snapshot(lesson.version, model, is_settled(model, iterations))

    def _keep(self, snapshot: Snapshot) -> None:
        with self._changed:
            self.snapshot = snapshot
            self._changed.notify_all()
