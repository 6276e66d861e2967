"""Dask clusters of this machine, for tests."""

from __future__ import annotations

from typing import Any

import pytest


def local_cluster(**settings: Any) -> Any:
    """Return a cluster of single-threaded workers on loopback, its dashboard on any free port."""
    dask = pytest.importorskip("distributed")
    usual = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    return dask.LocalCluster(**usual | settings)
