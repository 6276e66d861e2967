"""A Gram matrix in memory."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._base import Gram
from .blocks import block_times


class StoredGram(Gram):
    """K as an (n, n) array, for matrices that are given.

    Parameters
    ----------
    matrix : (n, n) array
        K, symmetric; float32 or float64.
    """

    def __init__(self, matrix: Array) -> None:
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"matrix has shape {matrix.shape}, but a Gram matrix is square.")
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
        bad = np.argwhere(~np.isfinite(matrix))
        if len(bad):
            i, j = bad[0]
            raise InputError(
                f"The Gram matrix has {matrix[i, j]} for observations {i} and {j}, not a finite number."
            )
        self.matrix = matrix if matrix.strides[1] == matrix.itemsize else np.ascontiguousarray(matrix)
        self.size = len(matrix)
        self.dtype = matrix.dtype
        self.diagonal = matrix.diagonal()

    def times(self, columns: Array) -> Array:
        """Return K·A; the dot products of rows are added up in float64."""
        return block_times(self.matrix, columns)

    def block(self, rows: Array, columns: Array) -> Array:
        """Return K[rows, columns]."""
        return self.matrix[np.ix_(np.asarray(rows), np.asarray(columns))]

    def take(self, indices: Array) -> StoredGram:
        """Return a copy of the part of some observations."""
        return StoredGram(self.block(indices, indices))
