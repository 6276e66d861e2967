"""One fit by one thread here, by one worker, and by two: seconds of whole fits, and of their iterations."""

from __future__ import annotations

import statistics
import threading
import time
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


STARTING = threading.Lock()
"""Dask imports some of itself when the first cluster starts, which two must not do at once."""


class Turns:
    """Lets one side run at a time, an iteration each, and keeps the seconds of every one: machines drift."""

    def __init__(self, names: list[str]) -> None:
        self._order, self._at, self._since = list(names), 0, 0.0
        self._seconds = dict.fromkeys(names, 0.0)
        self._changed = threading.Condition()

    def wait(self, name: str) -> None:
        """Wait until it is the turn of a side."""
        with self._changed:
            self._changed.wait_for(lambda: self._order[self._at] == name)
            self._since = time.perf_counter()

    def spent(self, name: str) -> float:
        """Return the seconds of a side whose turn it is."""
        return self._seconds[name] + time.perf_counter() - self._since

    def pass_on(self, name: str) -> float:
        """Let the others have their turns; return what the side has spent before."""
        with self._changed:
            self._seconds[name] = spent = self.spent(name)
            self._at = (self._at + 1) % len(self._order)
            self._changed.notify_all()
        self.wait(name)
        return spent

    def leave(self, name: str) -> None:
        """Go, whatever has happened."""
        with self._changed:
            place = self._order.index(name)
            self._order.remove(name)
            self._at = (self._at - (place < self._at)) % max(len(self._order), 1)
            self._changed.notify_all()


class Task(NamedTuple):
    """A fit to be shared out."""

    X: Any
    lengths: Any
    y: Any
    model: Callable[[], Any]


def measured(task: Task, at_once: bool) -> dict[str, dict[str, float]]:
    """Return a row for every side: iterations of all take turns, or, where memory is short, whole fits."""
    groups = [list(SIDES)] if at_once else [[name] for name in SIDES]
    rows: dict[str, dict[str, float]] = {}
    for group in groups:
        turns = Turns(group)
        sides = [threading.Thread(target=_take_part, args=(name, task, turns, rows)) for name in group]
        for side in sides:
            side.start()
        for side in sides:
            side.join()
    for row in rows.values():  # searches end at a limit of iterations, by paths that differ in digits
        np.testing.assert_allclose(row["objective"], rows["here"]["objective"], rtol=1e-2)
    return rows


def _take_part(name: str, task: Task, turns: Turns, rows: dict[str, dict[str, float]]) -> None:
    try:
        rows[name] = fit(task, SIDES[name], turns, name)
    finally:
        turns.leave(name)


def ratios(rows: dict[str, dict[str, float]], what: str) -> tuple[float, float]:
    """Return how much faster two workers are than one, and how much longer one takes than nobody."""
    two = rows["one worker, two shards"][what] / rows["two workers"][what]
    return two, rows["one worker"][what] / rows["here"][what]


def fit(
    task: Task, shares: tuple[int, int] | None, turns: Turns | None = None, name: str = ""
) -> dict[str, float]:
    """Return the seconds of a fit by so many workers with so many shards, and where it came to."""
    turns = turns or Turns([name])
    stamps: list[float] = []

    def watch(_: Any) -> None:
        stamps.append(turns.pass_on(name))

    model = task.model().set_params(run__callback=watch)
    if shares is None:
        turns.wait(name)
        model.fit(task.X, task.y, lengths=task.lengths)
    else:
        with cluster(shares[0]) as client, distributed.use(client, shards=shares[1]):
            turns.wait(name)
            model.fit(task.X, task.y, lengths=task.lengths)
    return {
        "seconds": turns.spent(name),
        "seconds_until_first": stamps[0],
        "seconds_per_iteration": statistics.median(b - a for a, b in pairwise(stamps)),
        "iterations": float(len(stamps) - 1),
        "objective": model.certificate_.value,
    }


class cluster:  # noqa: N801  # used like a function
    """A cluster of single-threaded workers of this machine, listening on loopback only."""

    def __init__(self, workers: int) -> None:
        from distributed import Client, LocalCluster

        with STARTING:
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
