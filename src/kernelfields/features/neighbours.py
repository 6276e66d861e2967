"""Features of vertices, averaged over their neighbours in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array
from ..checks import require_share, require_unmasked, require_whole
from ..errors import InputError

MOST_HOPS = 10_000
"""After that many, all vertices of a component are alike."""


def neighbour_averages(features: Any, edges: npt.ArrayLike, hops: int = 2) -> list[Any]:
    """Return [X, SX, S²X, …]: features averaged over one neighbour more each time.

    S = D^(−1/2) (A + 1) D^(−1/2), with A the adjacency of the graph, every edge in both directions, and D the
    number of neighbours plus one. As groups of features of their own, scaled by √(λ/λ_k), they have penalties
    λ_k of their own.

    Parameters
    ----------
    features : (N, D) array or sparse matrix
        X, a row for every vertex.
    edges : (E, 2) integers
        Pairs of vertices; a pair that is given twice counts once.
    hops : int
        How often to average.

    Examples
    --------
    >>> X, average = neighbour_averages(np.array([[1.0], [0.0], [0.0]]), [[0, 1]], hops=1)
    >>> average.ravel().round(12).tolist()
    [0.5, 0.5, 0.0]
    """
    rows = _rows(features)
    step = _averaging(edges, rows.shape[0])
    result = [rows]
    for _ in range(require_whole("hops", hops, 0, MOST_HOPS)):
        result.append(step @ result[-1])
    return result


def diffused(features: Any, edges: npt.ArrayLike, restart: float = 0.1, hops: int = 10) -> Any:
    """Return features averaged over walks of random length: Σ_k r (1 − r)^k S^k X, the rest at k = hops.

    Personalised PageRank of the rows of X, with S as in `neighbour_averages`.

    Parameters
    ----------
    features, edges
        As for `neighbour_averages`.
    restart : float
        r, the probability to end the walk at every step: the larger, the nearer the vertices.
    hops : int
        Length at which walks end.

    Examples
    --------
    >>> near = diffused(np.array([[1.0], [0.0], [0.0]]), [[0, 1]], restart=0.5, hops=1)
    >>> near.ravel().round(12).tolist()
    [0.75, 0.25, 0.0]
    """
    rows = _rows(features)
    step = _averaging(edges, rows.shape[0])
    share = require_share("restart", restart)
    result = rows
    for _ in range(require_whole("hops", hops, 0, MOST_HOPS)):
        result = (1 - share) * (step @ result) + share * rows
    return result


def _rows(features: Any) -> Any:
    require_unmasked(features, "The matrix of features")
    rows = features if sparse.issparse(features) else np.asarray(features)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise InputError(f"features are {rows.dtype} of shape {rows.shape}, expected a matrix of numbers.")
    return rows.astype(np.float64, copy=False)


def _averaging(edges: npt.ArrayLike, count: int) -> sparse.csr_matrix:
    """S."""
    pairs = _pairs(edges, count)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    adjacent = sparse.csr_matrix((np.ones(len(both)), both.T), (count, count))
    adjacent.data[:] = 1.0  # duplicates were added up
    adjacent = adjacent + sparse.identity(count, format="csr")
    root = sparse.diags(1 / np.sqrt(np.asarray(adjacent.sum(axis=1)).ravel()))
    return sparse.csr_matrix(root @ adjacent @ root)


def _pairs(edges: npt.ArrayLike, count: int) -> Array:
    """Return pairs of different vertices."""
    require_unmasked(edges, "The list of edges", "leave out edges that there are not")
    pairs = np.asarray(edges)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"edges are {pairs.dtype} of shape {pairs.shape}, expected pairs of vertices.")
    odd = np.flatnonzero(
        (pairs < 0).any(axis=1) | (pairs >= count).any(axis=1) | (pairs[:, 0] == pairs[:, 1])
    )
    if len(odd):
        a, b = pairs[odd[0]].tolist()
        raise InputError(f"Edge {odd[0]} joins {a} and {b}, expected two different vertices below {count}.")
    return pairs
