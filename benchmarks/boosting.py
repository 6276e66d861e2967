"""Boosted CRFs against scikit-learn's HistGradientBoosting: processor time for each tree, on equal data.

Rows of numbers in short sequences, with labels that depend on the row and on the label before. Both sides
bin the same columns into 255 codes and grow one tree per label in a round, with the same limits of leaves,
the same smallest leaf and the same penalty, without held-out data. Time per tree is that of the rounds
beyond the first few: two fits of different numbers of rounds are timed in turn, and the difference of their
medians counts, so that binning and reading are left out. Besides trees, a round of a boosted CRF needs
marginals of chains, a step length and Newton's step of the label pairs; what these cost is what the ratio
says. Before anything is timed, a boosted CRF without label pairs must predict labels about as well as the
classifier.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from kernelfields import BoostedCRF, FreeScores, Parts

from ._run import Bar, Result

COLUMNS, LENGTH = 20, 25
SHAPES = ((3, 31), (8, 31), (8, 8))
FEW, MANY = 5, 25


def run(quick: bool) -> Result:
    positions, rounds = (500, 1) if quick else (50_000, 3)
    rows = [_compare(positions, labels, leaves, rounds) for labels, leaves in SHAPES[: 1 if quick else None]]
    bars = [Bar("time_per_tree", max(row["ratio"] for row in rows), at_most=2.0)]
    return Result("boosting", bars, {"positions": positions, "columns": COLUMNS, "trees": rows})


def _compare(positions: int, labels: int, leaves: int, rounds: int) -> dict[str, Any]:
    X, y = _draw(positions, labels)
    apart = _check(X, y, leaves)
    sides = {
        "ours": lambda count: _ours(X, y, leaves, count),
        "scikit_learn": lambda count: _theirs(X, y, leaves, count),
    }
    milliseconds = {
        name: 1e3 * seconds / ((MANY - FEW) * labels) for name, seconds in _beyond(sides, rounds).items()
    }
    return {
        "labels": labels,
        "leaves": leaves,
        "accuracies_differ": apart,
        **{f"ms_per_tree_{name}": value for name, value in milliseconds.items()},
        "ratio": milliseconds["ours"] / milliseconds["scikit_learn"],
    }


def _draw(positions: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around a centre for each label; every other label is that of the row before."""
    rng = np.random.default_rng(labels)
    fresh, same = rng.integers(labels, size=positions), rng.random(positions) < 0.5
    same[0] = False
    y = fresh[np.maximum.accumulate(np.where(same, 0, np.arange(positions)))]
    X = rng.normal(size=(labels, COLUMNS))[y] + 2 * rng.normal(size=(positions, COLUMNS))
    return X, y


def _ours(X: np.ndarray, y: np.ndarray, leaves: int, count: int, *, edges: bool = True) -> BoostedCRF:
    model = BoostedCRF(
        max_iter=count,
        learning_rate=0.1,
        max_leaf_nodes=leaves,
        parts=Parts(boundaries=None, edges=FreeScores() if edges else None),
        random_state=0,
    )
    return model.fit(X, y, lengths=np.full(len(X) // LENGTH, LENGTH))


def _theirs(X: np.ndarray, y: np.ndarray, leaves: int, count: int) -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(
        max_iter=count,
        learning_rate=0.1,
        max_leaf_nodes=leaves,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(X, y)


def _check(X: np.ndarray, y: np.ndarray, leaves: int) -> float:
    """Refuse to time sides that learn differently well; return by how much."""
    ours = _ours(X, y, leaves, MANY, edges=False).predict(X, lengths=np.full(len(X) // LENGTH, LENGTH))
    theirs = _theirs(X, y, leaves, MANY).predict(X)
    apart = abs(float(np.mean(np.concatenate([ours]).ravel() == y) - np.mean(theirs == y)))
    if apart > 0.02:
        raise AssertionError(f"Accuracies differ by {apart:.3f}.")
    return apart


def _beyond(sides: dict[str, Callable[[int], object]], rounds: int) -> dict[str, float]:
    """Return the processor time on one thread of MANY rounds of boosting less that of FEW, medians."""
    seconds: dict[tuple[str, int], list[float]] = {(name, n): [] for name in sides for n in (FEW, MANY)}
    with threadpool_limits(1):
        for _ in range(rounds):
            for (name, count), values in seconds.items():
                started = time.process_time()
                sides[name](count)
                values.append(time.process_time() - started)
    median = {key: statistics.median(values) for key, values in seconds.items()}
    return {name: median[name, MANY] - median[name, FEW] for name in sides}
