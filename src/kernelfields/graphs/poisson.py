"""Poisson learning: labelled vertices are sources and sinks, and every label is a potential."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..errors import InputError
from .adjacency import Adjacency, read_adjacency
from .averages import Averages, Observer, Watch
from .sources import Sources, read_vertex_labels, sources_of
from .spreading import watching


class PoissonScores(NamedTuple):
    """Potentials of labels at all vertices."""

    scores: Array
    """(N, L), the larger the better; −inf for labels that are not in the component of a vertex, NaN at
    vertices that no label reaches."""
    iterations: int
    error: float
    """Largest ‖D^½ r‖/‖D^½ b‖ over labels, for the residual r of u = D⁻¹(A u + b)."""
    converged: bool
    """Whether that is at most ``tol``."""


def poisson(
    adjacency: Any, labels: Any, *, tol: float = 1e-6, max_iter: int = 10000, observer: Observer | None = None
) -> PoissonScores:
    """Return the potentials of Poisson learning [calder2020].

    For each label l, u_l solves the Poisson equation of the graph,

        (D − A) u_l = Σ_{i labelled} (y_il − ȳ_l) δ_i,        Σ_i d_i u_il = 0,

    with ȳ the mean of the indicators y over labelled vertices. Unlike the harmonic solution, u is not pinned
    to labels: what flows in at them leaves at others, and u does not become flat where labels are few. The
    best label of a vertex is that with the largest u. Components of the graph are solved by themselves, each
    with its own ȳ. Conjugate gradients, which keep to Σ_i d_i u_i = 0.

    Parameters
    ----------
    adjacency : (N, N) sparse matrix or array
        Symmetric weights A, not negative; loops do not count.
    labels, max_iter, observer
        As in `spread`.
    tol : float
        Largest residual, relative to what flows in, both in the norm of D.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
    >>> poisson(path, [0, -1, -1, 1]).scores.round(3)
    array([[ 0.75, -0.75],
           [ 0.25, -0.25],
           [-0.25,  0.25],
           [-0.75,  0.75]])
    """
    graph = read_adjacency(adjacency)
    known = read_vertex_labels(labels, graph.n_vertices)
    watch = watching(tol, max_iter, observer)
    return poisson_sources(graph, sources_of(known), int(known.max()) + 1, watch)


def poisson_sources(graph: Adjacency, sources: Sources, n_labels: int, watch: Watch) -> PoissonScores:
    """Return the potentials for vertices that have shares of labels."""
    if not graph.symmetric:
        raise InputError("Poisson learning needs an undirected graph; the weights are not symmetric.")
    _, component = scipy.sparse.csgraph.connected_components(graph.matrix, directed=True, connection="strong")
    degrees = np.asarray(graph.matrix.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    flow, totals = _flow(sources, component, n_labels)
    averages = Averages(graph.native(), scale, flow.times(scale))
    start = np.zeros((graph.n_vertices, n_labels))
    first = averages.residual(start)
    scaled = _norms(first, degrees)

    def error(_: Array, residual: Array) -> float:
        share = np.divide(_norms(residual, degrees), scaled, out=np.zeros(n_labels), where=scaled > 0)
        return float(share.max())

    found = averages.conjugate_gradients(start, first, watch, error)
    values = _centred(found.values, component, degrees)
    last = error(values, averages.residual(values))  # that of the recursion drifts
    here = totals[component]
    values = np.where(here > 0, values, -np.inf)
    values[~here.any(axis=1)] = np.nan
    return PoissonScores(values, found.iterations, last, last <= watch.tol)


def _flow(sources: Sources, component: Array, n_labels: int) -> tuple[Sources, Array]:
    """Return y_i − ȳ at labelled vertices, and the sum of y in each component, (n_components, L)."""
    labelled, place = np.unique(sources.vertex, return_inverse=True)
    indicators = np.zeros((len(labelled), n_labels))
    np.add.at(indicators, (place, sources.label), sources.amount)
    of = component[labelled]
    totals = np.zeros((int(component.max(initial=-1)) + 1, n_labels))
    np.add.at(totals, of, indicators)
    amounts = indicators - totals[of] / np.bincount(of)[of][:, None]
    vertex = np.repeat(labelled, n_labels)
    label = np.tile(np.arange(n_labels, dtype=np.int32), len(labelled))
    return Sources(vertex, label, amounts.ravel()), totals


def _norms(values: Array, degrees: Array) -> Array:
    return np.sqrt(np.einsum("i,il,il->l", degrees, values, values))


def _centred(values: Array, component: Array, degrees: Array) -> Array:
    """Return values with Σ_i d_i u_i = 0 on each component, which rounding may have spoilt."""
    volumes = np.bincount(component, degrees)
    sums = np.column_stack([np.bincount(component, degrees * column) for column in values.T])
    means = np.divide(sums, volumes[:, None], out=np.zeros_like(sums), where=volumes[:, None] > 0)
    return np.asarray(values - means[component])
