"""Trees by xgboost.dask and lightgbm.dask, one of whose two workers is killed: what becomes of the training.

Both boost trees on a Dask cluster, in the environment that `_dask_ml_side` describes, with them in it:

    rows/bin/pip install xgboost lightgbm

This file is also the program which that Python runs. It prints objects of JSON, one on a line; without
SECONDS, after which a worker is killed, nobody disturbs it.

    python _rival_kills_side.py RIVAL ROWS ROUNDS [SECONDS]
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

ROUNDS = {"xgboost": 35, "lightgbm": 50}
"""For ten to twenty seconds with two workers."""
MOMENTS = (0.1, 0.5, 0.9)
"""When a worker is killed, as shares of the seconds that training takes undisturbed."""
FEATURES, CLASSES = 30, 8


def measured(python: str, quick: bool) -> list[dict[str, Any]]:
    """Return a row for every kill."""
    rows, moments, grace = (4_000, (0.5,), 10.0) if quick else (200_000, MOMENTS, 60.0)
    found = []
    for rival, rounds in ROUNDS.items():
        given = [rival, str(rows), str(5 if quick else rounds)]
        found += _disturbed(python, given, moments, grace)
    return found


def _disturbed(python: str, given: list[str], moments: Sequence[float], grace: float) -> list[dict[str, Any]]:
    """Return a row for every moment; one without a kill, if even undisturbed training does not end well."""
    began = time.perf_counter()
    usual = _outcome(python, given, limit=600.0)
    whole = time.perf_counter() - began
    if usual["ended"] != "finished":
        return [{"rival": given[0], **usual}]
    limit = 2 * usual["seconds"] + whole + grace  # three times, and what it takes to start
    row = {"rival": given[0], "seconds_undisturbed": usual["seconds"], "loss_undisturbed": usual["loss"]}
    times = [moment * usual["seconds"] for moment in moments]
    return [row | {"killed_after": after} | _outcome(python, [*given, str(after)], limit) for after in times]


def _outcome(python: str, given: list[str], limit: float) -> dict[str, Any]:
    """Return what the program printed; if that was not how training ended, it hangs, or the program died."""
    found: dict[str, Any] = {"ended": "died", "seconds": limit}
    # Without this folder, which has a file distributed.py; in a group of its own, which ends with it.
    call = [python, "-P", __file__, *given]
    with tempfile.TemporaryFile("w+") as output:
        program = subprocess.Popen(call, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            program.wait(limit)
        except subprocess.TimeoutExpired:
            found["ended"] = "hangs"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        output.seek(0)
        for line in output:
            found |= json.loads(line) if line.startswith("{") else {}
    return found


def _main(rival: str, rows: int, rounds: int, after: float | None) -> None:
    warnings.simplefilter("ignore")
    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    places = {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with LocalCluster(**settings, **places) as cluster, Client(cluster) as client:
        X, y = _data(rows)
        shared = _shared(client, X, y)
        if after is not None:
            threading.Timer(after, _kill, [min(client.run(os.getpid).values())]).start()
        predict = _trained(rival, client, shared, rounds)
        if predict is not None:
            _say(loss=float(-np.log(predict(X)[np.arange(rows), y]).mean()))


def _trained(rival: str, client: Any, shared: list[Any], rounds: int) -> Any:
    """Say how training ends; return the function that predicts, None without one."""
    train = {"xgboost": _xgboost, "lightgbm": _lightgbm}[rival]
    started = time.perf_counter()
    try:
        predict = train(client, *shared, rounds)
    except Exception as error:
        _say(ended="raised", seconds=time.perf_counter() - started, error=type(error).__name__)
        return None
    _say(ended="finished", seconds=time.perf_counter() - started)
    return predict


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def _kill(victim: int) -> None:
    os.kill(victim, signal.SIGKILL)
    _say(killed=True)


def _data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, FEATURES))
    return X, (X @ rng.normal(size=(FEATURES, CLASSES)) + rng.normal(size=(rows, CLASSES))).argmax(axis=1)


def _shared(client: Any, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Hand out a half to each worker."""
    import dask.array as da
    from distributed import wait

    half = -(-len(X) // 2)
    arrays = [client.persist(da.from_array(one, chunks=(half, *one.shape[1:]))) for one in (X, y)]
    wait(arrays)
    assert all(client.has_what().values()), "A worker has no rows, and would not be missed."
    return arrays


def _xgboost(client: Any, X: Any, y: Any, rounds: int) -> Any:
    import xgboost
    from xgboost import collective
    from xgboost import dask as xgb

    here = collective.Config(tracker_host_ip="127.0.0.1")
    settings = {"objective": "multi:softprob", "num_class": CLASSES, "tree_method": "hist"}
    matrix = xgb.DaskDMatrix(client, X, y)
    found = xgb.train(client, settings, matrix, num_boost_round=rounds, coll_cfg=here)
    return lambda rows: found["booster"].predict(xgboost.DMatrix(rows))


def _lightgbm(client: Any, X: Any, y: Any, rounds: int) -> Any:
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(client=client, n_estimators=rounds, verbose=-1)
    return model.fit(X, y).to_local().predict_proba


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]) if sys.argv[4:] else None)
