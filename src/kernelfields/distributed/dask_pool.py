"""Shards as futures of Dask: pure tasks, which the scheduler gives to another worker when one is lost.

A shard is a task whose argument says where it comes from, so that it can be made again wherever the
scheduler likes; a large element is scattered, so that it leaves here once and not by way of the scheduler; an
evaluation is a task of a shard and an element, and a sum one of evaluations. Nothing is pinned to a worker or
kept in an actor, which would not survive its worker. What the scheduler gives up on, because it was
restarted, a task saw too many workers die, or an element was lost with one of them, is submitted again.
"""

from __future__ import annotations

import copy
import os
import pickle
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from ..arrays import Array
from ..errors import DistributedError
from ..objective import BRANCHES, Partial, Shard, ShardPool, sum_of
from .clients import is_loss, workers_of
from .file_pool import ShardFile, write_shard

PATIENCE, DESERTED = 10.0, 300.0
"""Seconds after which it is looked whether there are workers, and for which there may be none."""
Result = TypeVar("Result")
Folder = tempfile.TemporaryDirectory[str]

ATTEMPTS = 5
"""How often an evaluation is begun again from the shards on."""
LARGE = 2**16
"""Bytes from which on an element is scattered: that costs a message, and saves sending it often."""
KEPT = 16
"""Evaluations at small elements whose results are given up together."""
PAUSE = 1.0
"""Seconds before the first of these; twice as long before every further one."""


class FileSource(NamedTuple):
    """A shard in a file that all workers see, and one of what `write_shard` left out of it."""

    path: Path
    shared: Path | None = None


Source = FileSource | bytes
"""Where a shard comes from: a file, or its bytes, which travel through the scheduler."""


class DaskPool(ShardPool):
    """Workers of a Dask cluster.

    Parameters
    ----------
    shards : sequence of Shard
        The training set.
    client : distributed.Client
        Of the cluster.
    directory : path, optional
        A folder that all workers see, for files with the shards; they are deleted in the end. Workers on this
        machine see its folder for temporary files. To others shards are sent, by way of the scheduler.
    """

    def __init__(
        self, shards: Sequence[Shard], client: Any, directory: str | os.PathLike[str] | None = None
    ) -> None:
        self.places = tuple(shard.places for shard in shards)
        folder = None
        if directory is not None or _on_this_machine(client):
            folder = tempfile.TemporaryDirectory(prefix="kernelfields-", dir=directory)
        sources = [_source(k, shard, folder) for k, shard in enumerate(shards)]
        self._cluster = _Cluster(sources, client, folder)
        self._in_double = False

    @classmethod
    def of_files(cls, paths: Sequence[Path], shared: Path | None, client: Any) -> Self:
        """Return a pool of shards in files that all workers see, as `write_shard` wrote them."""
        pool = object.__new__(cls)
        pool.places = (None,) * len(paths)
        pool._cluster = _Cluster([FileSource(path, shared) for path in paths], client, None)
        pool._in_double = False
        return pool

    def map(self, what: str, element: Array, direction: Array | None) -> Iterable[Partial]:
        """Evaluate all shards."""
        return self._again(
            lambda: self._cluster.evaluate(self._given(what, element, direction), self._in_double)
        )

    def total(self, what: str, element: Array, direction: Array | None = None) -> Partial:
        """Return the sum over all shards; of many, workers find it."""
        if len(self.places) <= BRANCHES or not self._see_alike:
            return super().total(what, element, direction)
        found = self._again(
            lambda: self._cluster.evaluated_sum(self._given(what, element, direction), self._in_double)
        )
        return found.rounded(element.dtype)

    @property
    def _see_alike(self) -> bool:
        """Whether all shards have all coordinates."""
        return all(place is None for place in self.places)

    def _given(self, what: str, element: Array, direction: Array | None) -> list[Any]:
        """Return what shards are evaluated with; what is large is scattered, and only once if all see it."""
        given = self.arguments(what, element, direction)
        arrays = [one for _, *pair in given for one in pair if one is not None]
        large = {id(one): one for one in arrays if getattr(one, "nbytes", LARGE) >= LARGE}
        sent = dict(zip(large, self._cluster.scatter(list(large.values())), strict=True)) if large else {}
        return [(what, *(sent.get(id(one), one) for one in pair)) for _, *pair in given]

    def _again(self, evaluate: Callable[[], Result]) -> Result:
        """Begin again where the cluster has lost its work."""
        reason = None
        for attempt in range(ATTEMPTS):
            try:
                return evaluate()
            except Exception as error:
                if not self._cluster.has_lost(error):
                    raise
                reason = error
                self._cluster.forget()
                time.sleep(PAUSE * 2**attempt)
        raise DistributedError(
            f"The cluster lost its work {ATTEMPTS} times ({type(reason).__name__}); with Run(checkpoint=...) "
            "a fit goes on from where it was."
        ) from reason

    def exact(self) -> DaskPool:
        """Return the same in double."""
        other = copy.copy(self)
        other._in_double = True
        return other

    def close(self) -> None:
        """Let go of the shards."""
        self._cluster.close()


class _Cluster:
    """The shards of a training set on a cluster, in both precisions."""

    def __init__(self, sources: Sequence[Source], client: Any, folder: Folder | None) -> None:
        self._sources, self._client, self._folder = sources, client, folder
        # Elsewhere, the client may see the scheduler only, and would wait for a connection in vain.
        self._direct = True if _on_this_machine(client) else None
        self._made: dict[bool, list[Any]] = {}
        self._kept: list[list[Any]] = []

    def scatter(self, arrays: list[Array]) -> list[Any]:
        """Return arrays as futures."""
        try:
            return list(self._client.scatter(arrays, hash=False, direct=self._direct, timeout=DESERTED))
        except TimeoutError:
            raise _no_workers() from None

    def evaluate(self, given: Sequence[Any], in_double: bool) -> list[Partial]:
        """Return what all shards say, in their order."""
        return self._gathered(self._submitted(given, in_double))

    def evaluated_sum(self, given: Sequence[Any], in_double: bool) -> Partial:
        """Return the sum of what all shards say, which workers find as `TreeSum` would."""
        futures = self._submitted(given, in_double)
        while len(futures) > 1:
            groups = [futures[k : k + BRANCHES] for k in range(0, len(futures), BRANCHES)]
            futures = [self._client.submit(sum_of, group, pure=False) for group in groups]
        return self._gathered(futures)[0]

    def _submitted(self, given: Sequence[Any], in_double: bool) -> list[Any]:
        """Submit all evaluations in one message: a client waits for ten milliseconds between two.

        For the same reason, results that are small are given up some at a time, and none before the next
        evaluation is on its way.
        """
        arguments = zip(*given, strict=True)
        futures = self._mapped(_evaluated, self._futures(in_double), *arguments)
        self._kept.append(futures)
        small = getattr(given[0][1], "nbytes", LARGE) < LARGE
        if len(self._kept) > (KEPT if small else 1):
            self._kept = [futures]
        return list(futures)

    def _mapped(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Submit calls for all shards, in one message, as a group of their own.

        Names that are texts would put the calls of all rounds into one group, which soon looks like one of
        many tasks with few dependencies: Dask spreads such tasks without asking where their shards are.
        """
        name = f"{function.__name__.lstrip('_')}-{uuid.uuid4().hex}"
        keys = [(name, k) for k in range(len(self._sources))]
        found: list[Any] = self._client.map(function, *arguments, key=keys, pure=False)
        return found

    def _gathered(self, futures: Sequence[Any]) -> list[Partial]:
        self._wait(futures)
        return list(self._client.gather(futures, direct=self._direct))

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait for results as long as there are workers, or may be soon."""
        from distributed import wait

        without = 0
        while without * PATIENCE < DESERTED:
            try:
                with self._client.as_current():  # the client that `wait` asks is the default one otherwise
                    wait(futures, timeout=PATIENCE)  # type: ignore[no-untyped-call]
                return
            except TimeoutError:
                without = 0 if workers_of(self._client) else without + 1
        raise _no_workers()

    def _futures(self, in_double: bool) -> list[Any]:
        if in_double not in self._made:
            if in_double:
                single = self._futures(in_double=False)
                made = self._mapped(_in_double, single)
            else:
                made = self._mapped(_made, self._sources)
            self._made[in_double] = made
        return self._made[in_double]

    def has_lost(self, error: Exception) -> bool:
        """Whether an error says that work was lost, which may be begun again."""
        return is_loss(self._client, error)

    def forget(self) -> None:
        """Begin again from the sources on."""
        self._made, self._kept = {}, []

    def close(self) -> None:
        """Let go of futures and files."""
        self.forget()
        if self._folder is not None:
            self._folder.cleanup()


def _no_workers() -> DistributedError:
    return DistributedError(
        f"The cluster has had no workers for {DESERTED:g} seconds; with Run(checkpoint=...) a fit goes on "
        "from where it was."
    )


def _on_this_machine(client: Any) -> bool:
    """Whether all workers listen on loopback or are threads, which no other machine could reach."""
    workers = workers_of(client)
    return bool(workers) and all(
        "://127.0.0.1:" in address or address.startswith("inproc://") for address in workers
    )


def _source(k: int, shard: Shard, folder: Folder | None) -> Source:
    """Write a shard to a file, or to bytes where nobody else would see it."""
    if folder is None:
        return pickle.dumps(shard, protocol=5)
    path = Path(folder.name, f"{k}.shard")
    write_shard(shard, path)
    return FileSource(path)


class _HeldShard(NamedTuple):
    """A shard with a worker."""

    shard: Shard
    size: int

    def __sizeof__(self) -> int:
        """Say how large it is, which Dask would not see: it would move shards to elements."""
        return self.size


def _made(source: Source) -> _HeldShard:
    """Read a shard where it is needed; arrays of files are mapped into memory."""
    if isinstance(source, bytes):
        return _HeldShard(pickle.loads(source), len(source))
    file = ShardFile(source.path, None if source.shared is None else _shared(source.shared))
    return _HeldShard(file.shard(), source.path.stat().st_size)


@lru_cache(maxsize=4)
def _shared(path: Path) -> Any:
    """Read what all shards of a training set have in common, once in every process."""
    return pickle.loads(path.read_bytes())


def _in_double(held: _HeldShard) -> _HeldShard:
    return held._replace(shard=held.shard.exact())


def _evaluated(held: _HeldShard, what: str, element: Array, direction: Array | None) -> Partial:
    return held.shard.evaluate(what, element, direction)
