"""One fit by one thread here, by one worker, and by two: seconds of whole fits, and of their iterations."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kernelfields import distributed

SIDES: dict[str, tuple[int, int] | None] = {
    "here": None,
    "one worker": (1, 1),
    "one worker, two shards": (1, 2),
    "two workers": (2, 2),
}
"""Workers and shards. Two workers are compared with one who has the same shards: searches take the same
steps, whoever evaluates them, and other steps for other shards."""


class Task(NamedTuple):
    """A fit to be shared out."""

    X: Any
    lengths: Any
    y: Any
    model: Callable[[], Any]


def measured(task: Task) -> dict[str, dict[str, float]]:
    """Return a row for every side."""
    rows = {name: fit(task, shares) for name, shares in SIDES.items()}
    for row in rows.values():  # searches end at a limit of iterations, by paths that differ in digits
        np.testing.assert_allclose(row["objective"], rows["here"]["objective"], rtol=1e-2)
    return rows


def ratios(rows: dict[str, dict[str, float]], what: str) -> tuple[float, float]:
    """Return how much faster two workers are than one, and how much longer one takes than nobody."""
    two = rows["one worker, two shards"][what] / rows["two workers"][what]
    return two, rows["one worker"][what] / rows["here"][what]


def fit(task: Task, shares: tuple[int, int] | None) -> dict[str, float]:
    """Return the seconds of a fit by so many workers with so many shards, and where it came to."""
    stamps: list[float] = []
    model = task.model().set_params(callback=lambda _: stamps.append(time.perf_counter()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if shares is None:
            started = time.perf_counter()
            model.fit(task.X, task.y, lengths=task.lengths)
        else:
            with cluster(shares[0]) as client, distributed.use(client, shards=shares[1]):
                started = time.perf_counter()
                model.fit(task.X, task.y, lengths=task.lengths)
        whole = time.perf_counter() - started
    steps = [after - before for before, after in pairwise(stamps)]
    return {
        "seconds": whole,
        "seconds_until_first": stamps[0] - started,
        "seconds_per_iteration": statistics.median(steps),
        "iterations": float(len(steps)),
        "objective": model.certificate_.value,
    }


class cluster:  # noqa: N801  # used like a function
    """A cluster of single-threaded workers of this machine, listening on loopback only."""

    def __init__(self, workers: int) -> None:
        from distributed import Client, LocalCluster

        self._cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            memory_limit=0,
        )
        self._client = Client(self._cluster)

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()
