"""Laplacians of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .. import native
from ..arrays import Array
from .sparse_graph import SparseGraph


@dataclass(frozen=True, eq=False)
class GraphLaplacian:
    """diag(δ) − S: with S = W and δ = d, or S = D^−½ W D^−½ and δ = 1 (0 where d is 0)."""

    links: Any
    """S, (V, V) CSR."""
    diagonal: Array
    """δ, (V,)."""
    flat: Array
    """(V,) a vector that is in the null space on every component by itself: 1, or √d (1 where d is 0)."""
    components: Array
    """(V,) the component of every vertex, the largest being 0."""
    upper: float
    """No eigenvalue is larger: 2 if normalised, else the largest d_i + d_j of an edge."""

    @property
    def size(self) -> int:
        """V."""
        return len(self.diagonal)

    def matrix(self) -> Any:
        """Return the Laplacian as a CSR matrix."""
        return sparse.csr_array(sparse.diags_array(self.diagonal) - self.links)

    def times(self, X: Array) -> Array:
        """Return 𝓛X for an (V, b) array of doubles."""
        product = self.diagonal[:, None] * X
        first, index = self.links.indptr.astype(np.int64), self.links.indices.astype(np.int32, copy=False)
        native.sparse_times(first, index, -self.links.data, np.ascontiguousarray(X), product)
        return product

    def null_vectors(self, number: int) -> Array:
        """Return eigenvectors of the eigenvalue 0, one for each of the largest components, (V, number)."""
        lengths = np.sqrt(np.bincount(self.components, weights=self.flat**2))
        vertices = np.flatnonzero(self.components < number)
        of = self.components[vertices]
        result = np.zeros((self.size, number))
        result[vertices, of] = self.flat[vertices] / lengths[of]
        return result


def laplacian(graph: SparseGraph, normalised: bool = True) -> GraphLaplacian:
    """Return the Laplacian of a graph: D − W, or I − D^−½ W D^−½, whose eigenvalues are at most 2.

    A vertex without neighbours has a row of zeros in either.
    """
    degrees = graph.degrees
    if not normalised:
        rows = np.repeat(np.arange(graph.size), np.diff(graph.adjacency.indptr))
        upper = float((degrees[rows] + degrees[graph.adjacency.indices]).max(initial=0.0))
        return GraphLaplacian(graph.adjacency, degrees, np.ones(graph.size), graph.components, upper)
    linked = degrees > 0
    roots = np.sqrt(np.where(linked, degrees, 1.0))
    weights = graph.adjacency
    values = weights.data / np.repeat(roots, np.diff(weights.indptr))
    values /= roots[weights.indices]
    links = sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
    return GraphLaplacian(links, linked.astype(np.float64), roots, graph.components, 2.0)
