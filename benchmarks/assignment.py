"""Best assignments of many small problems: a loop over SciPy's solver, and lapx's batch.

10,000 problems of 20 × 20 normal scores each, complete matchings. All sides solve the same problems in the
same run; their values are compared first. lapx is a rival that need not be installed.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from kernelfields import native
from kernelfields.structures import MatchingBatch

from . import _run
from ._chains import CORES


class Size(NamedTuple):
    """How much is measured."""

    problems: int
    rows: int
    rounds: int


FULL = Size(10_000, 20, rounds=9)
QUICK = Size(20, 5, rounds=1)


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    scores = np.random.default_rng(0).normal(size=(size.problems, size.rows, size.rows))
    batch = MatchingBatch([[size.rows, size.rows]] * size.problems, complete=True)
    theta, costs = {"pair": scores.ravel()}, -scores
    value = batch.argmax(theta).value
    np.testing.assert_allclose(value, [_scipy(one) for one in scores], atol=1e-9)
    sides = {name: _run.Side(lambda: batch.argmax(theta), threads) for name, threads in CORES.items()}
    sides |= {"partial": _run.Side(lambda: MatchingBatch(batch.item_shapes).argmax(theta))}
    sides |= {"scipy": _run.Side(lambda: [linear_sum_assignment(one, maximize=True) for one in scores])}
    lapx = _lapx()
    if lapx is not None:
        found = lapx.lapjvx_batch(costs, return_cost=True, n_threads=1)
        np.testing.assert_allclose(-np.asarray(found[0]), value, atol=1e-9)
        for name, threads in CORES.items():
            sides[f"lapx_{name}"] = _run.Side(lambda threads=threads: _solve(lapx, costs, threads), threads)
    seconds = _run.alternate(sides, size.rounds)
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "lapx": "not installed" if lapx is None else lapx.__version__,
        "quick": quick,
        "microseconds_a_problem": [{name: 1e6 * s / size.problems for name, s in seconds.items()}],
    }
    every = list(CORES)[-1]
    bars = [_run.Bar("over_scipy", seconds["scipy"] / seconds[every], at_least=5.0)]
    if lapx is not None:
        ratios = [seconds[f"lapx_{name}"] / seconds[name] for name in CORES]
        bars.append(_run.Bar("over_lapx", min(ratios), at_least=1.0))
    return _run.Result("assignment", bars, details)


def _scipy(scores: np.ndarray) -> float:
    return float(scores[linear_sum_assignment(scores, maximize=True)].sum())


def _lapx() -> Any:
    try:
        return importlib.import_module("lap")
    except ImportError:
        return None


def _solve(lapx: Any, costs: np.ndarray, threads: int) -> Any:
    return lapx.lapjvx_batch(costs, return_cost=False, n_threads=threads)
