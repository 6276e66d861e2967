"""Label spreading beside scikit-learn's neighbour path, on one graph and with equal answers.

Both sides fit from points to labels: k nearest neighbours, then f = α S f + (1 − α) y. scikit-learn's graph
is directed, ours is the union of both directions: to compare answers, ours is also given scikit-learn's
graph, and scikit-learn ours (as a callable kernel). Times are those of whole fits, with the search for
neighbours, and without it, on a graph that is given to both.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading as Rival

import kernelfields as kf
from kernelfields.graphs import NeighborGraph, spread

from . import _run

ALL = os.cpu_count() or 1
NEIGHBORS = 10


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten clusters that overlap, in three dimensions, one label in a hundred known."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10, 3)) * 3
    truth = rng.integers(0, 10, n)
    labels = np.where(rng.random(n) < 0.01, truth, -1)
    labels[:10], truth[:10] = np.arange(10), np.arange(10)
    return centres[truth] + rng.normal(size=(n, 3)), labels


def spreading(quick: bool, rounds: int) -> tuple[list[dict[str, Any]], _run.Bar]:
    """Rows of a table, and the bar: whole fits at the α of the paper, 0.99."""
    X, labels = points(500 if quick else 50_000)
    table = [_row(X, labels, alpha, rounds) for alpha in (0.2, 0.99)]
    return table, _run.Bar("spreading_speedup", table[-1]["whole_fit"], at_least=10.0)


def _row(X: np.ndarray, labels: np.ndarray, alpha: float, rounds: int) -> dict[str, Any]:
    directed = kneighbors_graph(X, NEIGHBORS, include_self=True)
    union = NeighborGraph(NEIGHBORS).on(X).adjacency
    tol = _rivals_error(X, labels, alpha, directed)
    ours = kf.LabelSpreading(NeighborGraph(NEIGHBORS), alpha=alpha, tol=tol, max_iter=100_000)
    sides = {
        "sklearn_knn": _run.Side(lambda: _rival("knn", X, labels, alpha), ALL),
        "ours": _run.Side(lambda: ours.fit(X, labels), ALL),
        "sklearn_given": _run.Side(lambda: _rival(lambda *_: union, X, labels, alpha), ALL),
        "ours_given": _run.Side(lambda: spread(union, labels, alpha=alpha, tol=tol, max_iter=100_000), ALL),
        "sklearn_directed": _run.Side(lambda: _rival(lambda *_: directed, X, labels, alpha), ALL),
        "ours_directed": _run.Side(
            lambda: spread(directed, labels, alpha=alpha, tol=tol, max_iter=100_000), ALL
        ),
    }
    seconds = _run.alternate(sides, rounds)
    return {
        "alpha": alpha,
        **{f"{name}_s": value for name, value in seconds.items()},
        "whole_fit": seconds["sklearn_knn"] / seconds["ours"],
        "without_search": seconds["sklearn_given"] / seconds["ours_given"],
        "without_search_directed": seconds["sklearn_directed"] / seconds["ours_directed"],
        "sklearn_error": tol,
        "difference": _difference(X, labels, alpha, union),
    }


def _rival(kernel: Any, X: np.ndarray, labels: np.ndarray, alpha: float, tol: float = 1e-3) -> Rival:
    """scikit-learn's, with as many iterations as its tolerance needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return Rival(kernel=kernel, n_neighbors=NEIGHBORS, alpha=alpha, tol=tol, max_iter=100_000).fit(
            X, labels
        )


def _rivals_error(X: np.ndarray, labels: np.ndarray, alpha: float, directed: Any) -> float:
    """Largest error of scikit-learn's probabilities at its own tolerance and graph: ours is no larger."""
    exact = spread(directed, labels, alpha=alpha, tol=1e-8, max_iter=100_000).probabilities
    found = _rival("knn", X, labels, alpha).label_distributions_
    return min(float(np.nanmax(np.abs(found - exact).sum(axis=1))), 1e-3)


def _difference(X: np.ndarray, labels: np.ndarray, alpha: float, union: Any) -> float:
    """How far both are apart on one graph, both nearly exact; no more than a millionth."""
    rival = _rival(lambda *_: union, X, labels, alpha, tol=1e-13).label_distributions_
    found = spread(union, labels, alpha=alpha, tol=1e-7, max_iter=100_000).probabilities
    unknown = np.isnan(found[:, 0])
    assert not rival[unknown].any()  # rows of zeros there, which scikit-learn takes for the first label
    result = float(np.abs(found[~unknown] - rival[~unknown]).sum(axis=1).max())
    assert result < 1e-6, result
    return result
