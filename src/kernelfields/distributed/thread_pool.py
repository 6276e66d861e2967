"""Shards in this process, evaluated by threads: the core releases the lock of the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..arrays import Array
from ..objective import Partial, Shard, ShardPool


class ThreadPool(ShardPool):
    """Threads of this process.

    Parameters
    ----------
    shards : sequence of Shard
        The training set.
    workers : int
        How many threads.
    """

    def __init__(self, shards: Sequence[Shard], workers: int) -> None:
        self._shards, self._workers = tuple(shards), workers
        self.places = tuple(shard.places for shard in shards)
        self._threads = ThreadPoolExecutor(workers)

    def map(self, what: str, element: Array, direction: Array | None) -> Iterable[Partial]:
        """Evaluate all shards."""
        tasks = zip(self._shards, self.arguments(what, element, direction), strict=True)
        futures = [self._threads.submit(shard.evaluate, *given) for shard, given in tasks]
        return (future.result() for future in futures)

    def exact(self) -> ThreadPool:
        """Return the same in double."""
        return ThreadPool([shard.exact() for shard in self._shards], self._workers)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
