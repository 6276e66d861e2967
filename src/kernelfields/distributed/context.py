"""Who evaluates shards: a setting of the code that calls fits, not of models."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checks import require_whole, shown
from ..errors import InputError
from ..objective import Problem, ShardedData, ShardPool


@dataclass
class Sharing:
    """How fits are shared out."""

    backend: Any
    """A client of Dask, "threads" or "processes"."""
    workers: int
    shards: int
    directory: Any = None
    """A folder that all workers see."""
    pools: list[ShardPool] = field(default_factory=list)
    """Of all problems that were shared out so far."""

    def pool(self, data: Any) -> ShardPool:
        """Return a loss with workers."""
        from .splitting import split

        return self.hand_out(split(data, self.shards))

    def hand_out(self, pieces: Sequence[Any]) -> ShardPool:
        """Return shards with workers."""
        from .dask_pool import DaskPool
        from .process_pool import ProcessPool
        from .thread_pool import ThreadPool

        if self.backend == "threads":
            self.pools.append(ThreadPool(pieces, self.workers))
        elif self.backend == "processes":
            self.pools.append(ProcessPool(pieces, self.workers))
        else:
            self.pools.append(DaskPool(pieces, self.backend, self.directory))
        return self.pools[-1]

    def file_pool(self, paths: Sequence[Path], shared: Any) -> ShardPool:
        """Return shards in files with workers; ``shared`` was left out of them."""
        from .dask_pool import DaskPool
        from .file_pool import FilePool

        if isinstance(self.backend, str):
            self.pools.append(FilePool(paths, shared))
            return self.pools[-1]
        common = paths[0].with_name("shared")
        common.write_bytes(pickle.dumps(shared, protocol=5))
        self.pools.append(DaskPool.of_files(paths, common, self.backend))
        return self.pools[-1]


SHARING: ContextVar[Sharing | None] = ContextVar("sharing", default=None)
"""How fits are shared out here; None if they are not."""


@contextmanager
def use(
    backend: Any,
    *,
    workers: int | None = None,
    shards: int | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> Iterator[Sharing]:
    """Share out all fits of a block.

    Parameters
    ----------
    backend : distributed.Client, "threads" or "processes"
        Who evaluates shards: the workers of a Dask cluster, threads of this process, or processes of this
        machine with one thread each.
    workers : int, optional
        How many threads or processes; 2 if not given. A cluster has as many as it has.
    shards : int, optional
        How many shards; as many as workers, or threads of workers, if not given. Results depend on their
        number in the last digits, and on nothing else: not on who evaluates them, nor on who dies.
    directory : path, optional
        A folder that all workers of a cluster see, for files with the shards. Without it, workers on this
        machine read them from its folder for temporary files, and others get them through the scheduler.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import CRF
    >>> X, y = [np.eye(3), np.eye(3)[::-1]], [["a", "b", "a"], ["a", "b", "b"]]
    >>> with use("threads", shards=2):
    ...     shared = CRF(0.1).fit(X, y)
    >>> bool(np.allclose(shared.coef_, CRF(0.1).fit(X, y).coef_, atol=1e-2))
    True
    """
    from .clients import threads_of

    count = 2 if workers is None else require_whole("workers", workers, 1, 2**16)
    if not isinstance(backend, str):
        if not hasattr(backend, "submit") or not hasattr(backend, "scheduler_info"):
            raise InputError(f"backend is {shown(backend)}; it must be a Client, 'threads' or 'processes'.")
        if workers is not None:
            raise InputError("workers= is for threads and processes; a cluster has as many as it has.")
        count = threads_of(backend) or 1
    elif backend not in ("threads", "processes"):
        raise InputError(f"backend is {shown(backend)}; it must be a Client, 'threads' or 'processes'.")
    pieces = count if shards is None else require_whole("shards", shards, 1, 2**20)
    here = Sharing(backend, count, pieces, directory)
    token = SHARING.set(here)
    try:
        yield here
    finally:
        SHARING.reset(token)
        for pool in here.pools:
            pool.close()


def shared_out(problem: Problem) -> Problem:
    """Return a problem whose loss is with workers, if fits are shared out here; else the same."""
    here = SHARING.get()
    if here is None or isinstance(problem.data, ShardedData):
        return problem
    return Problem(problem.geometry, ShardedData(problem.data, here.pool(problem.data)))
