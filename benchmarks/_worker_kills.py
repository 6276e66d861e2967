"""Workers killed at random moments: whether fits end with the same parameters, bit by bit, and how late."""

from __future__ import annotations

import os
import random
import signal
import statistics
import threading
import time
import warnings
from typing import Any

import numpy as np

from kernelfields import CRF, Run, distributed

from ._sharded_chunking import corpus
from ._sharded_sides import cluster


def measured(quick: bool, seed: int = 0) -> tuple[int, int, dict[str, float]]:
    """Return how many fits were disturbed, how many of these ended alike, and how many seconds they took."""
    data, kills = corpus(2_000 if quick else 400_000), 1 if quick else 20
    draw = random.Random(seed)
    plain = [_disturbed(data, None) for _ in range(1 if quick else 3)]
    usual = statistics.median(seconds for seconds, _ in plain)
    late, alike = [], 0
    for _ in range(kills):
        seconds, weights = _disturbed(data, draw.uniform(0.05, 0.95) * usual)
        alike += bool(np.array_equal(weights, plain[0][1]))
        late.append(seconds - usual)
    found = {"seconds_undisturbed": usual, "seconds_late_median": statistics.median(late)}
    return kills, alike, found | {"seconds_late_most": max(late)}


def _disturbed(data: Any, after: float | None) -> tuple[float, np.ndarray]:
    """Return seconds and weights of a fit on a new cluster: nannies do not start every worker again."""
    with cluster(2) as client:
        return _fit(client, data, after)


def _fit(client: Any, data: Any, after: float | None) -> tuple[float, np.ndarray]:
    """Return seconds and weights of a fit, one of whose workers is killed after some seconds."""
    X, lengths, labels = data
    timer = None if after is None else threading.Timer(after, _kill, [client])
    with warnings.catch_warnings(), distributed.use(client, shards=4):
        warnings.simplefilter("ignore")
        if timer is not None:
            timer.start()
        started = time.perf_counter()
        model = CRF(1.0, max_iter=40, tol=1e-4, run=Run(quick_start=0)).fit(X, labels, lengths=lengths)
        seconds = time.perf_counter() - started
    if timer is not None:
        timer.join()
    return seconds, model.coef_


def _kill(client: Any) -> None:
    """Kill -9 one of the workers; its nanny starts another."""
    pids = sorted(client.run(os.getpid).values())
    os.kill(pids[int(time.time() * 1000) % len(pids)], signal.SIGKILL)
