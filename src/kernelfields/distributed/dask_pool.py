"""Shards as futures of Dask: pure tasks, which the scheduler gives to another worker when one is lost.

A shard is a task whose argument is the shard itself, as bytes, so that it can be made again wherever the
scheduler likes; an evaluation is a task of a shard and an element. Nothing is pinned to a worker, scattered
or kept in an actor, none of which survives its worker. What even the scheduler gives up on, because it was
restarted or because a task saw too many workers die, is submitted again.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ..arrays import Array
from ..errors import DistributedError
from ..objective import Partial, Shard, ShardPool

ATTEMPTS = 5
"""How often an evaluation is begun again from the shards on."""
PAUSE = 1.0
"""Seconds before the first of these; twice as long before every further one."""


class DaskPool(ShardPool):
    """Workers of a Dask cluster.

    Parameters
    ----------
    shards : sequence of Shard
        The training set.
    client : distributed.Client
        Of the cluster.
    """

    def __init__(self, shards: Sequence[Shard], client: Any) -> None:
        self._client = client
        self._sources = [pickle.dumps(shard, protocol=5) for shard in shards]
        self.places = tuple(shard.places for shard in shards)
        self._shards: list[Any] = []
        self._in_double = False

    def map(self, what: str, element: Array, direction: Array | None) -> Iterable[Partial]:
        """Evaluate all shards; begin again where the cluster has lost them."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        lost = (CancelledError, FutureCancelledError, KilledWorker, CommClosedError, TimeoutError, OSError)
        reason: BaseException | None = None
        for attempt in range(ATTEMPTS):
            try:
                return list(self._gathered(what, element, direction))
            except lost as error:
                reason = error
                self._shards = []
                time.sleep(PAUSE * 2**attempt)
        raise DistributedError(
            f"The cluster lost its work {ATTEMPTS} times ({type(reason).__name__}); with checkpoint= a fit "
            "goes on from where it was."
        ) from reason

    def exact(self) -> DaskPool:
        """Return the same in double."""
        other = object.__new__(DaskPool)
        vars(other).update(vars(self), _shards=[], _in_double=True)
        return other

    def close(self) -> None:
        """Let go of the shards."""
        self._shards = []

    def _gathered(self, what: str, element: Array, direction: Array | None) -> list[Partial]:
        if not self._shards:
            made = [self._client.submit(_made, source, pure=False) for source in self._sources]
            if self._in_double:
                made = [self._client.submit(_in_double, shard, pure=False) for shard in made]
            self._shards = made
        given = zip(self._shards, self.arguments(what, element, direction), strict=True)
        futures = [self._client.submit(_evaluated, shard, *one, pure=False) for shard, one in given]
        return list(self._client.gather(futures))


def _made(source: bytes) -> Shard:
    shard: Shard = pickle.loads(source)
    return shard


def _in_double(shard: Shard) -> Shard:
    return shard.exact()


def _evaluated(shard: Shard, what: str, element: Array, direction: Array | None) -> Partial:
    return shard.evaluate(what, element, direction)
