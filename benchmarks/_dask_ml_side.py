"""dask-ml's logistic regression by L-BFGS, in an environment of its own, beside ours on the same rows.

`KERNELFIELDS_DASK_ML` names the Python that has it, for example one set up by

    python -m venv rows
    rows/bin/pip install dask-ml distributed

This file is also the program which that Python runs; it prints the seconds of one iteration.

    python _dask_ml_side.py ROWS.npy LABELS.npy ITERATIONS
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kernelfields import Parts

PYTHON = os.environ.get("KERNELFIELDS_DASK_ML", "")


def seconds_per_iteration(rows: Path, labels: Path, iterations: int) -> float:
    """Run it there, on two single-threaded workers; without this folder, which has a file distributed.py."""
    call = [PYTHON, "-P", __file__, str(rows), str(labels), str(iterations)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _main(rows: str, labels: str, iterations: int) -> None:
    warnings.simplefilter("ignore")
    import dask.array as da
    import dask_glm.algorithms
    from dask_ml.linear_model import LogisticRegression
    from distributed import Client, LocalCluster

    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "host": "127.0.0.1",
    }
    with LocalCluster(memory_limit=0, **settings) as cluster, Client(cluster) as client:
        X, y = np.load(rows), np.load(labels)
        chunks = -(-len(X) // 2)
        X, y = (client.persist(da.from_array(array, chunks=(chunks, *array.shape[1:]))) for array in (X, y))
        evaluated, found = _watched(dask_glm.algorithms)
        settings = {"penalty": "l2", "C": 1.0, "solver": "lbfgs", "tol": 0.0, "parts": Parts(bias=None)}
        LogisticRegression(max_iter=iterations, **settings).fit(X, y)
    print((evaluated[-1] - evaluated[0]) / found["nit"])


def _watched(algorithms: Any) -> tuple[list[float], dict[str, int]]:
    """Let the optimiser say when it evaluated, and how many iterations it took: it may end early."""
    plain, evaluated, found = algorithms.fmin_l_bfgs_b, [], {}

    def minimise(function: Any, *given: Any, **settings: Any) -> Any:
        def counted(*point: Any) -> Any:
            evaluated.append(time.perf_counter())
            return function(*point)

        result = plain(counted, *given, **settings)
        found.update(result[2])
        return result

    algorithms.fmin_l_bfgs_b = minimise
    return evaluated, found


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
