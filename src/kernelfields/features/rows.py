"""Sparse features as arrays, before they become a matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array


class Matrix(NamedTuple):
    """Features of all tokens, sentence by sentence."""

    features: Any
    """(N, D) CSR matrix."""
    lengths: Array
    """(S,) numbers of tokens."""


class FeatureRows(NamedTuple):
    """Rows of a sparse matrix without SciPy, whose matrices take longer to make than a sentence to tag."""

    indptr: Array
    """(N + 1,) int64: token t has the columns ``indices[indptr[t] : indptr[t + 1]]``."""
    indices: Array
    """int32."""
    values: Array | None
    """float64; None if all are 1."""
    offsets: Array
    """(S + 1,) int64: sentence s has the tokens ``offsets[s]`` up to ``offsets[s + 1]``."""
    shape: tuple[int, int]
    """(N, D)."""
    dtype: np.dtype[Any]
    """Type of the matrix."""

    def with_lengths(self) -> Matrix:
        """Return a matrix, and the lengths of sentences."""
        return Matrix(self.matrix(), np.diff(self.offsets))

    def matrix(self) -> Any:
        """Return these rows as a CSR matrix."""
        # SciPy needs index arrays of equal type; otherwise it searches them for a smaller type.
        indptr = self.indptr.astype(np.int32) if len(self.indices) < 2**31 else self.indptr
        indices = self.indices.astype(indptr.dtype, copy=False)
        if self.values is None:
            values = np.ones(len(indices), self.dtype)
        else:
            values = self.values.astype(self.dtype, copy=False)
        return sparse.csr_matrix((values, indices, indptr), shape=self.shape)
