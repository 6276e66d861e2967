"""What a service has done so far, as Prometheus reads it."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

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
