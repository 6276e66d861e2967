"""Products of a Laplacian with many vectors at once, its vertices ordered for the cache."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.sparse import csr_matrix

from .. import native
from ..arrays import Array
from .laplacian import GraphLaplacian

FEW = 8
"""Components up to which the null space is a dense matrix."""


class LaplacianProducts:
    """𝓛X for rows in an order in which neighbours are close to each other (reverse Cuthill–McKee)."""

    def __init__(self, of: GraphLaplacian) -> None:
        links = csr_matrix(of.links)
        self.order = scipy.sparse.csgraph.reverse_cuthill_mckee(links, symmetric_mode=True).astype(np.int64)
        ordered = links[self.order][:, self.order]
        ordered.sort_indices()
        self.size = of.size
        self._first = ordered.indptr.astype(np.int64)
        self._index = ordered.indices.astype(np.int32, copy=False)
        self._links = ordered.data.astype(np.float64, copy=False)
        self._diagonal = of.diagonal[self.order]
        self._component = of.components[self.order]
        self.nullity = int(of.components.max()) + 1
        flat = of.flat[self.order]
        lengths = np.sqrt(np.bincount(self._component, weights=flat**2))
        self._flat = flat / lengths[self._component]
        self._null = np.zeros((self.size, self.nullity if self.nullity <= FEW else 0))
        if self.nullity <= FEW:
            self._null[np.arange(self.size), self._component] = self._flat

    def times(self, X: Array) -> Array:
        """Return 𝓛X."""
        return self._added(-self._links, self._diagonal[:, None] * X, X)

    def orthogonal_to_null(self, X: Array) -> Array:
        """Return X without its parts in the null space, which overwrites it."""
        if self.nullity <= FEW:
            X -= self._null @ (self._null.T @ X)
            return X
        for j in range(X.shape[1]):
            parts = np.bincount(self._component, weights=self._flat * X[:, j], minlength=self.nullity)
            X[:, j] -= self._flat * parts[self._component]
        return X

    def low_pass(self, X: Array, cut: float, upper: float, degree: int) -> Array:
        """Return ±T_degree(𝓛 mapped from [cut, upper] to [−1, 1])X, which is large on eigenvalues below cut.

        By T_{k+1} = 2 t T_k − T_{k−1}; the sign makes the values below cut positive.
        """
        centre, half = (upper + cut) / 2, (upper - cut) / 2
        doubled = native.NeighbourRows(self._first, self._index, self._links * (-2 / half))
        shift = 2 * (self._diagonal - centre) / half
        before, now = np.array(X, order="C"), np.zeros(X.shape)
        doubled.chebyshev(shift, before, now)
        now *= 0.5
        for _ in range(degree - 1):
            doubled.chebyshev(shift, now, before)
            before, now = now, before
        return now if degree % 2 == 0 else -now

    def _added(self, links: Array, to: Array, X: Array) -> Array:
        to = np.ascontiguousarray(to)
        native.sparse_times(self._first, self._index, links, np.ascontiguousarray(X), to)
        return to
