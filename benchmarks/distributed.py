"""Fits on a Dask cluster: two workers against one, one against none, workers that die, and rivals.

All workers are single-threaded processes of this machine. Whole fits are timed, with what it takes to hand
out the data; searches end after so many iterations, which is when most of a fit's time has passed.
"""

from __future__ import annotations

import itertools
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kernelfields import CRF, Parts, distributed

from . import (
    _dask_ml_side,
    _rival_kills_side,
    _run,
    _sharded_chunking,
    _sharded_residues,
    _sharded_sides,
    _worker_kills,
)


def run(quick: bool) -> _run.Result:
    warnings.simplefilter("ignore")  # searches end at a limit
    details: dict[str, Any] = {"machine": _run.machine(), "quick": quick}
    bars = []
    tasks = {"": _sharded_chunking.task, "_residues": _sharded_residues.task}
    for name, make in itertools.islice(tasks.items(), 1 if quick else None):
        rows = details[f"sides{name}"] = _sharded_sides.measured(make(quick), at_once=not name)
        two, one = _sharded_sides.ratios(rows, "seconds")
        details[f"per_iteration{name}"] = _sharded_sides.ratios(rows, "seconds_per_iteration")
        bars.append(_run.Bar(f"two_workers_speedup{name}", two, at_least=1.8))
        bars.append(_run.Bar(f"one_worker_over_local{name}", one, at_most=1.15))
    kills, alike, details["kills"] = _worker_kills.measured(quick)
    bars.append(_run.Bar("fits_equal_after_kills", float(alike), at_least=float(kills)))
    if _dask_ml_side.PYTHON:
        sizes = (2_000,) if quick else (10_000, 100_000, 1_000_000)
        details["rows"] = [_median_rows(size, 2 if quick else 20, 1 if quick else 5) for size in sizes]
        middle = details["rows"][len(sizes) // 2]
        bars.append(_run.Bar("over_dask_ml", middle["ratio"], at_least=10.0))
        details["rivals_after_kill"] = _rival_kills_side.measured(_dask_ml_side.PYTHON, quick)
    return _run.Result("distributed", bars, details)


def _median_rows(count: int, iterations: int, rounds: int) -> dict[str, float]:
    """Return what `_rows` says, the sides taking turns: the round whose ratio is the median."""
    found = sorted((_rows(count, iterations) for _ in range(rounds)), key=lambda row: row["ratio"])
    return found[len(found) // 2]


def _rows(count: int, iterations: int) -> dict[str, float]:
    """Return seconds per iteration of logistic regression on rows of numbers, ours and dask-ml's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, 30))
    y = (X @ rng.normal(size=30) + rng.normal(size=len(X)) > 0).astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder, "rows.npy"), Path(folder, "labels.npy")
        np.save(rows, X)
        np.save(labels, y)
        theirs = _dask_ml_side.seconds_per_iteration(rows, labels, iterations)
    ours = _seconds_per_iteration(X, y, iterations)
    return {"rows": count, "ours": ours, "dask_ml": theirs, "ratio": theirs / ours}


def _seconds_per_iteration(X: np.ndarray, y: np.ndarray, iterations: int) -> float:
    """Every row is a sequence of its own: a chain without edges."""
    stamps: list[tuple[int, float]] = []
    with _sharded_sides.cluster(2) as client, distributed.use(client), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CRF(1.0, parts=Parts(bias=None, boundaries=None), max_iter=iterations + 2, tol=1e-14)
        model.set_params(
            run__callback=lambda p: stamps.append((p.iteration, time.perf_counter())), run__quick_start=0
        )
        model.fit(X, y[:, None].tolist(), lengths=np.ones(len(X), dtype=np.int64))
    (first, began), (last, ended) = stamps[1], stamps[-1]
    return (ended - began) / max(last - first, 1)
