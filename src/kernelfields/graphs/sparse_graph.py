"""An undirected weighted graph whose vertices are observations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..arrays import Array


@dataclass(frozen=True, eq=False)
class SparseGraph:
    """A graph over observations, equal ones being one vertex.

    Without this rule, k + 1 equal observations would link to each other only, and two equal observations
    could have different values under a graph kernel, which then were no function of observations.
    """

    adjacency: Any
    """(V, V) CSR matrix of weights W, symmetric, not negative, without a diagonal."""
    vertices: Any
    """The distinct observations in order of first appearance, rows of an array or a CSR matrix; None if
    observations are the numbers of vertices."""
    inverse: Array
    """(n,): observation i is vertex ``inverse[i]``."""
    gamma: float | None = None
    """γ of weights exp(−γ d²) that have one."""
    scales: Array | None = None
    """(V,) σ of weights exp(−d²/(σ_i σ_j)), where weights have local widths."""

    @property
    def size(self) -> int:
        """V, the number of vertices."""
        return int(self.adjacency.shape[0])

    @cached_property
    def degrees(self) -> Array:
        """(V,) sums d of the rows of W."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def components(self) -> Array:
        """(V,) the number of the component of every vertex, from 0 on, by size: 0 is the largest."""
        number, found = scipy.sparse.csgraph.connected_components(self.adjacency, directed=False)
        order = np.argsort(-np.bincount(found, minlength=number), kind="stable")
        rank = np.empty(number, dtype=np.int64)
        rank[order] = np.arange(number)
        return rank[found]

    @cached_property
    def component_sizes(self) -> Array:
        """Numbers of vertices of the components, falling."""
        return np.bincount(self.components)

    @property
    def n_components(self) -> int:
        """Number of components: parts of the graph without a path from one to another."""
        return len(self.component_sizes)

    @property
    def n_isolated(self) -> int:
        """Number of vertices without neighbours."""
        return int(np.count_nonzero(np.diff(self.adjacency.indptr) == 0))

    def __repr__(self) -> str:
        """Say how large the graph is and in how many parts."""
        edges = self.adjacency.nnz // 2
        parts = f"{self.n_components} components, {self.n_isolated} isolated vertices"
        return f"<SparseGraph: {self.size} vertices, {edges} edges, {parts}>"
