"""What an iteration on a cluster costs, fitted to measurements on workers of this machine:

    seconds = (a + d * log2(weights / CACHED)) * tokens / workers + b * weights + c

a is the evaluation of a token, d what it costs that weights and gradient are found further away the more
there are (nothing below CACHED), b what grows with the weights (the search, and their way there and back), c
what a round costs anyway. What it says for more workers than there are here is an extrapolation, and a
network is no part of it: `details["far"]` adds its time by the bytes that travel.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import scipy.optimize

from kernelfields import CRF, Run
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import chunking

from . import _conll2000, _run
from ._sharded_sides import Task, fit

TOKENS, WORKERS, COLUMNS = 10**9, 100, 2**20
"""Of the extrapolation."""
NETWORK = 1.25e9
"""Bytes in a second: ten gigabits."""
CACHED = 2**16
"""Weights that the caches of one core hold, about."""
GROUP = 8
"""Sums that a worker adds up."""


def run(quick: bool) -> _run.Result:
    warnings.simplefilter("ignore")  # searches end at a limit
    rows = [_measured(*case, quick) for case in _cases(quick)]
    terms = np.array([_terms(row) for row in rows])
    seconds = np.array([row["seconds"] for row in rows])
    # Relative errors count: a slow case is no more important than a fast one.
    found, _ = scipy.optimize.nnls(terms / seconds[:, None], np.ones(len(rows)))
    errors = terms @ found / seconds - 1
    details: dict[str, Any] = {"machine": _run.machine(), "quick": quick, "cases": rows}
    names = ("seconds_per_token", "seconds_per_token_and_doubling", "seconds_per_weight", "seconds_per_round")
    details |= dict(zip(names, found.tolist(), strict=True))
    details["far"] = _far(*found.tolist(), labels=rows[0]["labels"])
    bars = [_run.Bar("largest_relative_error", float(np.abs(errors).max()), at_most=0.5)]
    return _run.Result("distributed_cost", bars, details)


def _terms(row: dict[str, float]) -> list[float]:
    share = row["tokens"] / row["workers"]
    return [share, share * max(np.log2(row["weights"] / CACHED), 0.0), row["weights"], 1.0]


def _cases(quick: bool) -> list[tuple[int, int, int]]:
    if quick:
        return [(1_000, 2**6, 1), (2_000, 2**8, 1), (2_000, 2**8, 2)]
    return list(itertools.product((500_000, 2_000_000), (2**12, 2**16, 2**18), (1, 2)))


def _measured(tokens: int, columns: int, workers: int, quick: bool) -> dict[str, float]:
    given = _conll2000.read("train", 50 if quick else None)
    copies = -(-tokens // sum(map(len, given.sentences)))
    features = TemplateFeatures(chunking(), n_hash=columns, dtype=bool)
    X, lengths = features.transform(given.sentences * copies)
    task = Task(
        X, lengths, given.labels * copies, lambda: CRF(1.0, max_iter=8, tol=1e-4, run=Run(quick_start=0))
    )
    row = fit(task, (workers, workers))
    labels = len({label for one in given.labels for label in one})
    return {
        "tokens": X.shape[0],
        "weights": labels * (columns + labels + 3),
        "labels": labels,
        "workers": workers,
        "seconds": row["seconds_per_iteration"],
    }


def _far(
    per_token: float, per_doubling: float, per_weight: float, per_round: float, labels: int
) -> dict[str, float]:
    """Return the seconds of an iteration on many tokens and workers, with a network between them."""
    weights = labels * COLUMNS
    per_token += per_doubling * float(np.log2(weights / CACHED))
    compute, search = per_token * TOKENS / WORKERS, per_weight * weights
    # Elements hop from worker to worker, twice as many having them each time; sums of eight come in single
    # precision from shards and in double from sums.
    hops = np.ceil(np.log2(WORKERS)) * 4 * weights / NETWORK
    levels = max(int(np.ceil(np.log(WORKERS) / np.log(GROUP))) - 1, 0)
    sums = (GROUP * 4 + levels * GROUP * 8 + 8) * weights / NETWORK
    whole = compute + search + per_round + hops + sums
    alone = per_token * TOKENS + search + per_round
    return {
        "tokens": TOKENS,
        "workers": WORKERS,
        "weights": weights,
        "seconds_evaluating": compute,
        "seconds_searching": search,
        "seconds_elements": float(hops),
        "seconds_sums": float(sums),
        "seconds": float(whole),
        "over_one_worker": float(alone / whole),
        "bytes_from_here": 4.0 * weights,
        "bytes_to_here": 8.0 * weights,
    }
