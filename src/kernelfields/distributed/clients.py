"""Clients of Dask: which workers they see, and how it shows that work or the client itself is lost.

A client that loses its scheduler tries to connect again, for as long as its ``timeout`` says. If a scheduler
comes back in time, all futures are cancelled, and what they stood for can be submitted again; if none does,
the client closes, and whatever it is asked for then raises errors of many types, or of none that Dask names.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..errors import DistributedError

CLOSED = ("closing", "closed")
"""The states out of which a client never comes back."""


def require_open(client: Any, reason: Exception | None = None) -> None:
    """Refuse a client that is closed; ``reason`` is what was raised because of that."""
    if client.status in CLOSED:
        raise DistributedError(
            "The client is closed, as it is after waiting for its scheduler in vain; with "
            "Run(checkpoint=...) a fit with a new client goes on from where it was."
        ) from reason


def workers_of(client: Any) -> dict[str, dict[str, Any]]:
    """Return what the scheduler says of its workers, by their addresses."""
    require_open(client)
    return client.scheduler_info(n_workers=-1)["workers"]


def threads_of(client: Any) -> int:
    """Return how many threads all workers have together."""
    return sum(worker["nthreads"] for worker in workers_of(client).values())


def is_loss(client: Any, error: Exception) -> bool:
    """Whether an error says that the cluster has lost work, which its client may submit again."""
    require_open(client, error)
    return isinstance(error, _losses())


@lru_cache(maxsize=1)
def _losses() -> tuple[type[Exception], ...]:
    """Dask is imported by those who have a client of it, and by nobody else."""
    from distributed import CancelledError, KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return CancelledError, FutureCancelledError, KilledWorker, CommClosedError, TimeoutError, OSError
