"""Requests that wait for the same thread, which answers all of them at once."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..web import RefusedError
from .budget import BUSY, RETRY
from .served import ServedModel

log = logging.getLogger(__name__)
TOGETHER = 64
"""Requests that are answered at once: more would keep the first waiting."""


@dataclass
class Job:
    """A request that waits for its answer."""

    name: str
    """Of the model."""
    served: ServedModel
    operation: str
    body: bytes
    future: asyncio.Future[bytes]
    sequences: int = 0
    positions: int = 0
    question: Any = None
    """What was asked, once a lane has read it."""
    begun: bool = False
    """Whether it is being answered, and waits no more."""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for the answer."""
        return not self.future.done()

    def give_up(self) -> None:
        """Ask the client to come back, if the job has only waited so far; runs in the event loop."""
        if self.is_wanted and not self.begun:
            self.future.set_exception(RefusedError(503, BUSY, RETRY))


@dataclass(frozen=True)
class JobOutcome:
    """What became of a job: its answer, or why there is none; neither if another lane has taken it."""

    job: Job
    answer: bytes | Exception | None


class Lane:
    """A thread and what waits for it.

    Nothing is waited for on purpose: while a batch is predicted, others arrive, and are the next batch.

    Parameters
    ----------
    work : callable
        Answers some jobs; called in the thread.
    most : int
        Jobs that may wait.
    patience : float
        Seconds for which `close` waits for the last answers.
    done : callable
        Told of every batch that was answered; called in the event loop.
    start : callable
        Called first in the thread.
    together : int
        Jobs that are answered at once, at most.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Job]], list[JobOutcome]],
        most: int,
        patience: float,
        done: Callable[[list[JobOutcome]], None],
        start: Callable[[], None] = lambda: None,
        together: int = TOGETHER,
    ) -> None:
        self._together = together
        self._work, self.most, self.patience, self._done, self._start = work, most, patience, done, start
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._run, name="kf-predict", daemon=True)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_alive(self) -> bool:
        """Whether jobs will be answered."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def put(self, job: Job) -> None:
        """Let a job wait; refuse it where too many do."""
        with self._changed:
            if len(self._waiting) >= self.most or not self._open:
                raise RefusedError(503, BUSY, RETRY)
            self._waiting.append(job)
            self._changed.notify()

    def close(self) -> None:
        """Answer what waits, and then no more; a prediction that takes too long is left alone."""
        with self._changed:
            self._open = False
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(self.patience)

    def _run(self) -> None:
        self._start()
        while jobs := self._next():
            try:
                outcomes = self._answered(jobs)
            except BaseException as error:  # whatever it is, the next ones are to be answered
                log.error("A batch failed.", exc_info=error)
                outcomes = [JobOutcome(job, RuntimeError("A batch failed.")) for job in jobs]
            self._hand_back(outcomes)

    def _next(self) -> list[Job]:
        """Return what waits, once something does; nothing at the end."""
        with self._changed:
            while not self._waiting and self._open:
                self._changed.wait()
            return [self._waiting.popleft() for _ in range(min(self._together, len(self._waiting)))]

    def _answered(self, jobs: list[Job]) -> list[JobOutcome]:
        """Answer those that are still wanted: others have waited too long, or their clients have left."""
        wanted = [job for job in jobs if job.is_wanted]
        return self._work(wanted) if wanted else []

    def _hand_back(self, outcomes: list[JobOutcome]) -> None:
        loop = outcomes[0].job.future.get_loop() if outcomes else None
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._deliver, outcomes)

    def _deliver(self, outcomes: list[JobOutcome]) -> None:
        """Give answers to those who wait for them; runs in the event loop."""
        self._done(outcomes)
        for job, answer in ((outcome.job, outcome.answer) for outcome in outcomes):
            if job.future.done() or answer is None:  # the client has gone, or another lane answers
                continue
            if isinstance(answer, Exception):
                job.future.set_exception(answer)
            else:
                job.future.set_result(answer)
