"""Label spreading: every vertex listens to its neighbours, and labelled ones to their labels too."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_positive, require_whole, shown
from ..errors import InputError
from .adjacency import Adjacency, read_adjacency
from .averages import Averaged, Averages, Observer, SweepChange, Watch
from .sources import Sources, read_vertex_labels, sources_of

QUICK = 0.5
"""α up to which sweeps need hardly more iterations than anything else."""

STEADY = 0.995
"""α up to which sweeps are accelerated: how many it takes grows as (1 − α)^−½, whatever the graph is;
conjugate gradients need fewer where few eigenvalues are near 1."""


class Spread(NamedTuple):
    """Probabilities of labels at all vertices."""

    probabilities: Array
    """(N, L); NaN at vertices that no label reaches."""
    iterations: int
    error: float
    """How far probabilities of a vertex may be off, summed over labels."""
    converged: bool
    """Whether that is at most ``tol``."""


def spread(
    adjacency: Any,
    labels: Any,
    *,
    alpha: float = 0.2,
    tol: float = 1e-3,
    max_iter: int = 1000,
    observer: Observer | None = None,
) -> Spread:
    """Spread labels over a graph [zhou2004]: f = α S f + (1 − α) y, S = D^−½ A D^−½, rows scaled to sum to 1.

    On symmetric graphs sweeps f ← α S f + (1 − α) y are accelerated by Chebyshev's recursion, or conjugate
    gradients come first, whichever is faster; on others there are sweeps alone. Sweeps add what is not
    negative, so that also vertices far from all labels, with values of 10⁻¹⁰⁰, get probabilities that are
    right.

    Parameters
    ----------
    adjacency : (N, N) sparse matrix or array
        Weights A, not negative; loops do not count. If it is not symmetric, row i has what vertex i listens
        to, and D the sums of columns, as in scikit-learn.
    labels : (N,) array of int
        Labels from 0 on, −1 for none.
    alpha : float
        Between 0 and 1: how much more neighbours count than labels.
    tol : float
        How far probabilities of a vertex may be off, summed over labels.
    max_iter : int
        Limit of iterations.
    observer : callable, optional
        Is given the `Progress` of iterations, whose value is the error.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    >>> spread(path, [0, -1, 1, -1], alpha=0.5, tol=1e-9).probabilities.round(3)
    array([[0.875, 0.125],
           [0.5  , 0.5  ],
           [0.125, 0.875],
           [  nan,   nan]])
    """
    graph = read_adjacency(adjacency)
    known = read_vertex_labels(labels, graph.n_vertices)
    watch = watching(tol, max_iter, observer)
    return spread_sources(graph, sources_of(known), int(known.max()) + 1, alpha, watch)


def watching(tol: float, max_iter: int, observer: Observer | None) -> Watch:
    """Return when to stop, checked."""
    return Watch(require_positive("tol", tol), require_whole("max_iter", max_iter), observer)


def require_alpha(name: str, value: Any) -> float:
    """Return a number between 0 and 1."""
    alpha = require_positive(name, value)
    if alpha >= 1:
        raise InputError(f"{name} is {shown(value)}; it must be a number above 0 and below 1.")
    return alpha


def spread_sources(graph: Adjacency, sources: Sources, n_labels: int, alpha: float, watch: Watch) -> Spread:
    """Spread labels from vertices that have shares of them."""
    alpha = require_alpha("alpha", alpha)
    degrees = np.asarray(graph.matrix.sum(axis=0), dtype=np.float64).ravel()
    degrees[degrees == 0] = 1.0
    # g = D^−½ f: then C = α D⁻¹ needs no copy of A, and rows scaled to sum to 1 are the same.
    averages = Averages(graph.native(), alpha / degrees, sources.times((1 - alpha) / np.sqrt(degrees)))
    found = Averaged(_start(averages, n_labels), 0, np.inf)
    if alpha > QUICK and graph.symmetric:
        solve = _accelerated if alpha <= STEADY else _conjugate
        found = solve(averages, found.values, graph, alpha, watch)
    if found.error > watch.tol:
        factor = alpha / (1 - alpha)  # Σ_t αᵗ over the sweeps to come
        found = averages.sweeps(found.values, watch, lambda change, _: factor * change, found.iterations)
    return Spread(normalised(found.values), found.iterations, found.error, found.error <= watch.tol)


def _start(averages: Averages, n_labels: int) -> Array:
    values = np.zeros((len(averages.scale), n_labels))
    averages.sources.add_to(values)
    return values


def _accelerated(averages: Averages, start: Array, graph: Adjacency, alpha: float, watch: Watch) -> Averaged:
    """Return what accelerated sweeps reach; where that is not enough, a start for sweeps."""
    empty = _Unreached(averages.sources, graph)

    def bound(change: SweepChange) -> float:
        least = change.least if change.empty == 0 or change.empty <= empty.count else 0.0
        return _relative(change.absolute / (1 - alpha), least)

    found, change = averages.chebyshev(start, alpha, watch, bound)
    return _not_negative(found, change / (1 - alpha), watch)


def _conjugate(averages: Averages, start: Array, graph: Adjacency, alpha: float, watch: Watch) -> Averaged:
    """Return what conjugate gradients reach; where that is not enough, a start for sweeps."""
    reached = graph.reached(np.unique(averages.sources.vertex))

    def bound(f: Array, residual: Array) -> float:
        worst = float(np.abs(residual).sum(axis=1).max(initial=0.0)) / (1 - alpha)
        return _relative(worst, f.sum(axis=1)[reached].min(initial=np.inf))

    found = averages.conjugate_gradients(start, averages.residual(start), watch, bound)
    residual = averages.residual(found.values)  # that of the recursion drifts
    found = found._replace(error=bound(found.values, residual))
    return _not_negative(found, float(np.abs(residual).max(initial=0.0)) / (1 - alpha), watch)


class _Unreached:
    """How many vertices no label reaches; looked at only if some have nothing."""

    def __init__(self, sources: Sources, graph: Adjacency) -> None:
        self._sources, self._graph = sources, graph

    @cached_property
    def count(self) -> int:
        reached = self._graph.reached(np.unique(self._sources.vertex))
        return len(reached) - int(np.count_nonzero(reached))


def _relative(worst: float, least: float) -> float:
    """Return how far probabilities may be off.

    (I − α P)⁻¹ is not negative and maps 1 to 1/(1 − α), P = D⁻¹ A being stochastic: no value is off by more
    than the largest residual over 1 − α, ``worst``. ``least`` is the least sum of values at a vertex.
    """
    return 2 * worst / (least - worst) if least > worst else np.inf


def _not_negative(found: Averaged, worst: float, watch: Watch) -> Averaged:
    """Return values without negative ones; what may be off by as much as it is begins again from below."""
    if found.error > watch.tol:
        found.values[...] -= worst
    np.maximum(found.values, 0.0, out=found.values)
    return found


def normalised(values: Array) -> Array:
    """Return rows that sum to 1, NaN where all is 0."""
    totals = values.sum(axis=1, keepdims=True)
    totals[totals == 0] = np.nan
    return np.asarray(values / totals)
