"""A Gram matrix in memory."""

from __future__ import annotations

import numpy as np

from ._base import Array, Gram


class StoredGram(Gram):
    """K as an (n, n) array."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.size = len(matrix)
        self.dtype = matrix.dtype
        self.diagonal = matrix.diagonal()

    def times(self, columns: Array) -> Array:
        """K·A."""
        return np.asarray(self.matrix @ columns.astype(self.dtype, copy=False), dtype=columns.dtype)
