"""What happens to a request to a model, and the numbers about all of them."""

from __future__ import annotations

import asyncio
import json
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from ..errors import quoted
from ..web import RefusedError
from .answering import Answering
from .budget import BUSY, RETRY, MemoryBudget
from .lane import Job, JobOutcome, Lane
from .limits import Limits
from .openapi import document
from .served import ServedModel
from .shelf import Shelf

JSON = "application/json"


class Service:
    """Models, the lanes in which requests wait for them, and the numbers about both.

    Small requests are read and answered together in one lane, large ones are read in another: that takes
    long enough to keep small ones waiting. Both hand on what is dear to a third, in which nothing is read.
    """

    def __init__(
        self, shelf: Shelf, limits: Limits, secured: bool, thread_starts: Callable[[], None]
    ) -> None:
        self.shelf, self.limits, self.secured = shelf, limits, secured
        self.metrics = Metrics()
        patience = limits.patience
        self.budget = budget = MemoryBudget(limits.memory)
        dear = Answering(limits, budget=budget)
        self.dear = Lane(dear, limits.dear_waiting, patience, self._done, thread_starts, together=1)
        cheap = Answering(limits, self.dear.put, budget)
        self.large = Lane(cheap, limits.large_waiting, patience, self._done, thread_starts, together=1)
        self.small = Lane(cheap, limits.waiting, patience, self._done, thread_starts)
        self.lanes = (self.small, self.large, self.dear)
        self._document: tuple[int, bytes] = (-1, b"")

    @asynccontextmanager
    async def running(self, _: Any) -> AsyncIterator[None]:
        """Answer requests, and look at the files of models, from start to end."""
        for lane in self.lanes:
            lane.start()
        self.shelf.watch()
        try:
            yield
        finally:
            for end in (*(lane.close for lane in self.lanes), self.shelf.close):
                await asyncio.to_thread(end)

    def model(self, name: str) -> ServedModel:
        """Return a model by its name."""
        if name not in self.shelf:
            raise RefusedError(404, f"There is no model {quoted(name, 40)}; see /models.")
        return self.shelf[name]

    async def ask(self, name: str, operation: str, kind: str, body: Callable[[], Awaitable[bytes]]) -> bytes:
        """Answer a request to a model; counted with status 0 if its client left in the middle."""
        self.model(name)
        started, status = time.monotonic(), 0
        try:
            if kind.partition(";")[0].strip().lower() != JSON:
                raise RefusedError(415, f"The body must be JSON, with Content-Type: {JSON}.")
            found = await self._answer(name, operation, await body())
            status = 200
        except RefusedError as error:
            status = error.status
            raise
        finally:
            self.metrics.count(name, operation, status, time.monotonic() - started)
        return found

    async def _answer(self, name: str, operation: str, body: bytes) -> bytes:
        if not self.is_answering:  # it would wait for ever
            raise RefusedError(503, BUSY, RETRY)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        job = Job(name, self.shelf[name], operation, body, future)
        (self.small if len(body) <= self.limits.small else self.large).put(job)
        waiting = future.get_loop().call_later(self.limits.patience, job.give_up)
        try:
            return await future
        finally:
            waiting.cancel()

    def _done(self, outcomes: list[JobOutcome]) -> None:
        good = [outcome.job for outcome in outcomes if isinstance(outcome.answer, bytes)]
        if good:
            self.metrics.batches.add(sum(job.sequences for job in good))
        for job in good:
            self.metrics.sequences[job.name] += job.sequences
            self.metrics.positions[job.name] += job.positions

    def health(self) -> dict[str, Any]:
        """Return whether all is well: models as their files say, and threads that answer."""
        models = self.shelf.health()
        well = all(one["error"] is None for one in models.values())
        return {
            "status": "ok" if well and self.is_answering else "degraded",
            "waiting": sum(map(len, self.lanes)),
            "models": models,
        }

    @property
    def is_answering(self) -> bool:
        """Whether the threads that predict are there."""
        return all(lane.is_alive for lane in self.lanes)

    def measured(self) -> str:
        """Return the numbers, as Prometheus reads them."""
        return self.metrics.text(sum(map(len, self.lanes)), self.shelf.health())

    def document(self) -> bytes:
        """Return the description in OpenAPI, written again when a model has changed."""
        version = self.shelf.version
        if self._document[0] != version:
            found = document(self.shelf, self.limits, self.secured)
            self._document = version, json.dumps(found, ensure_ascii=False).encode()
        return self._document[1]


BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds."""
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Sequences."""


class Histogram:
    """Counts of values up to some bounds."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts = bounds, [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> Iterable[str]:
        """Write the histogram."""
        count = 0
        for bound, more in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            count += more
            yield f'{name}_bucket{{le="{bound}"}} {count}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {count}"


class Metrics:
    """Counters of one service; all of them change in the event loop only."""

    def __init__(self) -> None:
        self.started = time.time()
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """By model, operation and status."""
        self.sequences: Counter[str] = Counter()
        self.positions: Counter[str] = Counter()
        self.seconds = Histogram(BOUNDS)
        self.batches = Histogram(SIZES)

    def count(self, model: str, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[model, operation, status] += 1
        self.seconds.add(seconds)

    def text(self, waiting: int, health: dict[str, dict[str, float]]) -> str:
        """Return all of it in Prometheus' text format."""
        lines = [
            *_head("kf_start_time_seconds", "gauge", "When the service started."),
            f"kf_start_time_seconds {self.started:.3f}",
            *_head("kf_requests_total", "counter", "Requests answered."),
            *(
                f'kf_requests_total{{model="{model}",operation="{operation}",status="{status}"}} {n}'
                for (model, operation, status), n in sorted(self.requests.items())
            ),
            *_by_model("kf_sequences_total", "counter", "Sequences labelled.", self.sequences),
            *_by_model("kf_positions_total", "counter", "Positions labelled.", self.positions),
            *_head("kf_request_seconds", "histogram", "From the arrival of a body to its answer."),
            *self.seconds.lines("kf_request_seconds"),
            *_head("kf_batch_sequences", "histogram", "Sequences that were answered at once."),
            *self.batches.lines("kf_batch_sequences"),
            *_head("kf_waiting_requests", "gauge", "Requests that wait now."),
            f"kf_waiting_requests {waiting}",
            *_by_model(
                "kf_model_since_seconds",
                "gauge",
                "When the model was read.",
                {name: one["since"] for name, one in health.items()},
            ),
            *_by_model(
                "kf_model_reloads_total",
                "counter",
                "How often it was read again.",
                {name: one["reloads"] for name, one in health.items()},
            ),
            *_by_model(
                "kf_model_failures_total",
                "counter",
                "How often its file could not be read.",
                {name: one["failures"] for name, one in health.items()},
            ),
        ]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> Iterable[str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _by_model(name: str, kind: str, text: str, values: Counter[str] | dict[str, float]) -> Iterable[str]:
    yield from _head(name, kind, text)
    yield from (f'{name}{{model="{model}"}} {value}' for model, value in sorted(values.items()))
