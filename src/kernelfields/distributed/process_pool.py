"""Shards in processes of this machine, each with its own share; what dies is started again."""

from __future__ import annotations

import copy
import multiprocessing
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ..arrays import Array
from ..errors import DistributedError
from ..objective import Partial, Shard, ShardPool

DEATHS = 5
"""How often a process may die during one evaluation."""

Given = tuple[str, Array, Array | None]
"""What a shard is evaluated with."""

_held: dict[int, Shard] = {}
"""Of a worker process: its shards, by number; exact ones have negative numbers."""


class ProcessPool(ShardPool):
    """Processes of this machine, each with one thread.

    Parameters
    ----------
    shards : sequence of Shard
        The training set.
    workers : int
        How many processes; each has every so-many-th shard.
    """

    def __init__(self, shards: Sequence[Shard], workers: int) -> None:
        self._shards = tuple(shards)
        self.places = tuple(shard.places for shard in shards)
        self._workers = [_Worker() for _ in range(min(workers, len(shards)))]
        self._in_double = False

    def map(self, what: str, element: Array, direction: Array | None) -> Iterable[Partial]:
        """Evaluate all shards."""
        given = self.arguments(what, element, direction)
        futures = [self._submit(k, one) for k, one in enumerate(given)]
        return (self._result(k, future, given[k]) for k, future in enumerate(futures))

    def exact(self) -> ProcessPool:
        """Return the same in double, with the same processes."""
        other = copy.copy(self)
        other._in_double = True
        return other

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()

    def _submit(self, k: int, given: Given) -> Future[Partial]:
        return self._workers[k % len(self._workers)].submit(k, self._shards[k], self._in_double, given)

    def _result(self, k: int, future: Future[Partial], given: Given) -> Partial:
        for _ in range(DEATHS):
            try:
                return future.result()
            except BrokenProcessPool:
                self._workers[k % len(self._workers)].restart()
                future = self._submit(k, given)
        raise DistributedError(f"The process with shard {k} died {DEATHS} times: is there enough memory?")


class _Worker:
    """One process, and which shards it holds."""

    def __init__(self) -> None:
        self._process: ProcessPoolExecutor | None = None
        self._holds: set[int] = set()

    def submit(self, k: int, shard: Shard, in_double: bool, given: Given) -> Future[Partial]:
        """Let it evaluate a shard, which travels once."""
        try:
            return self._send(k, shard, in_double, given)
        except BrokenProcessPool:  # it died while it had nothing to do
            self.restart()
            return self._send(k, shard, in_double, given)

    def _send(self, k: int, shard: Shard, in_double: bool, given: Given) -> Future[Partial]:
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._process = ProcessPoolExecutor(1, context, _one_thread)
        if k not in self._holds:
            self._process.submit(_hold, k, shard)
            self._holds.add(k)
        return self._process.submit(_evaluate, k, in_double, given)

    def restart(self) -> None:
        """Forget a process that has died."""
        self.close()
        self._process, self._holds = None, set()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.shutdown(wait=False, cancel_futures=True)


def _one_thread() -> None:
    """Keep a worker to one thread."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _hold(k: int, shard: Shard) -> None:
    _held[k] = shard


def _evaluate(k: int, in_double: bool, given: Given) -> Partial:
    if not in_double:
        return _held[k].evaluate(*given)
    if ~k not in _held:
        _held[~k] = _held[k].exact()
    return _held[~k].evaluate(*given)
