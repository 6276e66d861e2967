"""Fits of a command on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..distributed import threads_of, use
from ..errors import InputError


@contextmanager
def shared_by(address: str | None) -> Iterator[None]:
    """Share out all fits to the workers of the scheduler at an address; none if there is no address."""
    if address is None:
        yield
        return
    with _client(address) as client, use(client):
        yield


@contextmanager
def backed_by(address: str | None) -> Iterator[int]:
    """Let the workers of a scheduler run jobs of joblib; give their number, 0 if there is no address."""
    if address is None:
        yield 0
        return
    from joblib import parallel_config

    with _client(address) as client, parallel_config("dask", wait_for_workers_timeout=10):
        yield threads_of(client)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address, which has workers."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError('--dask needs Dask: pip install "kernelfields[dask]".') from None
    try:
        client = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({type(error).__name__}).") from None
    with client:
        if not threads_of(client):
            raise InputError(f"--dask {address}: the scheduler has no workers.")
        yield client
