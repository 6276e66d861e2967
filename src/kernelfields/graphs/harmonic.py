"""The harmonic solution: labels stay, and every other vertex is the average of its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from .adjacency import Adjacency, read_adjacency
from .averages import Averaged, Averages, Observer, Watch
from .sources import Sources, read_vertex_labels, sources_of
from .spreading import Spread, normalised, watching

UNSURE = 0.5
"""Residual of the expected number of steps up to which it bounds errors."""


def harmonic(
    adjacency: Any, labels: Any, *, tol: float = 1e-3, max_iter: int = 10000, observer: Observer | None = None
) -> Spread:
    """Return the harmonic solution [zhu2003, (5)]: f_i = Σ_j a_ij f_j / Σ_j a_ij wherever there is no label.

    f_il is the probability that a random walk from i meets a vertex with label l before any other labelled
    one; label propagation converges to it. On symmetric graphs it is found by conjugate gradients, together
    with the expected number h of steps of that walk: f is off by at most h times the largest residual. On
    other graphs there are sweeps over all vertices, whose error is an estimate.

    Parameters
    ----------
    adjacency, labels, tol, max_iter, observer
        As in `spread`; if the graph is not symmetric, row i has what vertex i listens to.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
    >>> harmonic(path, [0, -1, -1, 1], tol=1e-9).probabilities.round(3)
    array([[1.   , 0.   ],
           [0.667, 0.333],
           [0.333, 0.667],
           [0.   , 1.   ]])
    """
    graph = read_adjacency(adjacency)
    known = read_vertex_labels(labels, graph.n_vertices)
    watch = watching(tol, max_iter, observer)
    return harmonic_sources(graph, sources_of(known), int(known.max()) + 1, watch)


def harmonic_sources(graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> Spread:
    """Return the harmonic solution for vertices that have shares of labels."""
    labelled = np.unique(sources.vertex)
    reached = graph.reached(labelled)
    free = reached.copy()
    free[labelled] = False
    degrees = np.asarray(graph.matrix.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=free)
    averages = Averages(graph.native(), scale, sources)
    if graph.symmetric:
        found = _conjugate(averages, n_labels, free, watch)
    else:
        start = np.zeros((graph.n_vertices, n_labels))
        sources.add_to(start)
        found = averages.sweeps(start, watch, _remaining)
    return Spread(normalised(found.values), found.iterations, found.error, found.error <= watch.tol)


def _remaining(change: float, before: float) -> float:
    """Return the sum of all changes to come, if each is as much smaller than the last as this one is."""
    return (
        change
        if change == 0
        else (change * change / (before - change) if change < before < np.inf else np.inf)
    )


def _conjugate(averages: Averages, n_labels: int, free: Array, watch: Watch) -> Averaged:
    """Return f with the number of steps until a label as one column more, which certifies it."""
    start = np.zeros((len(free), n_labels + 1))
    averages.sources.add_to(start[:, :n_labels])

    def residual(f: Array) -> Array:
        result = averages.residual(f)
        result[:, n_labels] += free
        return result

    def bound(f: Array, residual: Array) -> float:
        unsure = float(np.abs(residual[:, n_labels]).max(initial=0.0))
        if unsure > UNSURE:
            return np.inf
        steps = float(f[:, n_labels].max(initial=0.0)) / (1 - unsure)
        return steps * float(np.abs(residual[:, :n_labels]).sum(axis=1).max(initial=0.0))

    found = averages.conjugate_gradients(start, residual(start), watch, bound)
    error = bound(found.values, residual(found.values))
    values = np.maximum(found.values[:, :n_labels], 0.0)
    return Averaged(values, found.iterations, error)
