"""Nearest neighbours of points: which, and how far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import native
from ..arrays import Array

FLAT = 12
"""Dimensions up to which our tree is searched; beyond, it is no faster than scikit-learn's search."""

FEW = 64
"""Neighbours up to which they are kept in order by insertion."""


class Neighbors(NamedTuple):
    """Directed links from points to vertices, as the rows of a CSR matrix."""

    first: Array
    """(n + 1,) int64: point i has the entries ``first[i]`` up to ``first[i + 1]``."""
    vertex: Array
    """int32, the vertices that points are linked to."""
    distance: Array
    """float64, their distances."""

    def matrix(self, values: Array, size: int) -> Any:
        """Return values of the links as an (n, size) CSR matrix."""
        shape = (len(self.first) - 1, size)
        first = self.first.astype(np.int32) if len(self.vertex) < 2**31 else self.first
        return sparse.csr_array((values, self.vertex.astype(first.dtype, copy=False), first), shape=shape)

    @property
    def sources(self) -> Array:
        """The points that links come from."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


def nearest(vertices: Any, points: Any | None, k: int) -> Neighbors:
    """Return the k nearest vertices of every point, or of every vertex among the others (``points=None``)."""
    others = vertices.shape[0] - (points is None)
    n = vertices.shape[0] if points is None else points.shape[0]
    k = min(k, others)
    if k == 0 or n == 0:
        return Neighbors(np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    if not sparse.issparse(vertices) and vertices.shape[1] <= FLAT and k <= FEW:
        others = None if points is None else _doubles(points)
        vertex, distance = native.nearest_among(_doubles(vertices), others, k)
    else:
        distance, vertex = _searcher(vertices).kneighbors(points, n_neighbors=k)
    first = np.arange(0, n * k + 1, k, dtype=np.int64)
    return Neighbors(
        first, vertex.ravel().astype(np.int32, copy=False), distance.ravel().astype(np.float64, copy=False)
    )


def _doubles(points: Array) -> Array:
    return np.ascontiguousarray(points, dtype=np.float64)


def within(vertices: Any, points: Any | None, radius: float) -> Neighbors:
    """Return the vertices within a radius of every point, or of every vertex among the others."""
    n = vertices.shape[0] if points is None else points.shape[0]
    if n == 0 or vertices.shape[0] == 0:
        return Neighbors(np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    found = _searcher(vertices).radius_neighbors_graph(points, radius=radius, mode="distance")
    return Neighbors(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data.astype(float))


def _searcher(vertices: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors  # takes two seconds

    algorithm = "brute" if sparse.issparse(vertices) else "auto"
    return NearestNeighbors(algorithm=algorithm, n_jobs=native.threads()).fit(vertices)
