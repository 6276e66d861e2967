"""Graphs that users have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from ..observations import Observations
from ._base import ObservationGraph
from .sparse_graph import SparseGraph


class PrecomputedGraph(ObservationGraph):
    """A graph that is given by its weights; observations are numbers of vertices, (n,) or (n, 1).

    Parameters
    ----------
    adjacency : (V, V) sparse matrix or array
        Symmetric weights W, not negative; the diagonal does not count. All vertices belong to the graph,
        those of later predictions included. Copies made by ``clone`` share the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> PrecomputedGraph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])).on([[0], [2]])
    <SparseGraph: 3 vertices, 1 edges, 2 components, 1 isolated vertices>
    """

    def __init__(self, adjacency: Any) -> None:
        self.adjacency = adjacency

    def on(self, observations: Observations) -> SparseGraph:
        """Return the whole graph; observations tell which vertices are seen."""
        weights = _weights(self.adjacency)
        return SparseGraph(weights, None, _numbers(observations, weights.shape[0]))

    def found(self, observations: Observations, vertices: Any) -> Array:
        """Return the numbers of vertices."""
        return _numbers(observations, self.adjacency.shape[0])

    def links(self, observations: Observations, vertices: Any, scales: Array | None) -> Any:
        """Refuse: whatever can be observed is a vertex."""
        raise InputError("A PrecomputedGraph has no links to observations that are not its vertices.")

    def __sklearn_clone__(self) -> PrecomputedGraph:
        return PrecomputedGraph(self.adjacency)


def _weights(adjacency: Any) -> Any:
    require_unmasked(adjacency, "adjacency", "write 0 for edges that there are not")
    given = adjacency if sparse.issparse(adjacency) else np.asarray(adjacency)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.dtype.kind not in "biuf":
        raise InputError(
            f"adjacency must be a square matrix of numbers, not {given.dtype} of shape {given.shape}."
        )
    found = sparse.csr_array(given, dtype=np.float64, copy=True)
    found.sum_duplicates()
    found.setdiag(0)
    found.eliminate_zeros()
    entries = found.tocoo()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if len(bad):
        i, j, value = entries.row[bad[0]], entries.col[bad[0]], entries.data[bad[0]]
        raise InputError(f"adjacency has {value} at ({i}, {j}); weights must be finite and not negative.")
    differing = (found != found.T).tocoo()
    if differing.nnz:
        i, j = int(differing.row[0]), int(differing.col[0])
        raise InputError(
            f"adjacency has {found[i, j]} at ({i}, {j}), {found[j, i]} at ({j}, {i}); it must be symmetric."
        )
    return found


def _numbers(X: Observations, size: int) -> Array:
    require_unmasked(X, "The list of observations")
    found = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or found.dtype.kind not in "iuf":
        raise InputError(
            f"Observations must be numbers of vertices, not {found.dtype} of shape {found.shape}."
        )
    bad = np.flatnonzero((found != np.floor(found)) | (found < 0) | (found >= size))
    if len(bad):
        raise InputError(
            f"Observation {bad[0]} is {found[bad[0]]}, not the number of a vertex, 0 to {size - 1}."
        )
    return found.astype(np.int64)
