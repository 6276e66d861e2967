"""A Gram matrix of observations that repeat."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..arrays import Array
from ._base import Gram


class CollapsedGram(Gram):
    """K = S U Sᵀ, U the Gram matrix of the distinct observations, S_iu = 1 if x_i is the u-th of them.

    A product costs what a product with U costs: A is summed over equal observations, multiplied by U, and
    each observation gets its row of the result.

    Parameters
    ----------
    inner : Gram
        U.
    inverse : (n,) integers
        The row of U that each observation has.
    """

    def __init__(self, inner: Gram, inverse: Array) -> None:
        self.inner = inner
        self.inverse = np.asarray(inverse, dtype=np.int64)
        self.size = len(self.inverse)
        self.dtype = inner.dtype
        ones = np.ones(self.size)
        self._sums = sparse.csc_matrix(
            (ones, self.inverse, np.arange(self.size + 1)), shape=(inner.size, self.size)
        ).tocsr()

    @property
    def diagonal(self) -> Array:  # type: ignore[override]
        """k(x_i, x_i)."""
        return self.inner.diagonal[self.inverse]

    def times(self, columns: Array) -> Array:
        """Return S (U (Sᵀ A))."""
        summed = (self._sums @ columns).astype(columns.dtype, copy=False)
        return self.inner.times(summed)[self.inverse]

    def block(self, rows: Array, columns: Array) -> Array:
        """Return K[rows, columns]."""
        return self.inner.block(self.inverse[rows], self.inverse[columns])

    def take(self, indices: Array) -> Gram:
        """Return the matrix of some observations; distinct ones that no longer occur are left out."""
        chosen, inverse = np.unique(self.inverse[indices], return_inverse=True)
        inner = self.inner if len(chosen) == self.inner.size else self.inner.take(chosen)
        return CollapsedGram(inner, inverse.reshape(-1))
