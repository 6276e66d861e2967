"""Kernel values between some observations and all, kept once many have been asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..approximation.columns import dtype_of
from ..arrays import Array
from ..gram import KernelBlocks, PackedGram, block_times, kernel_times
from ..kernels import Kernel

MOST = 2**29
"""Bytes that may be kept."""
SHARE = 0.25
"""Of all rows: computing as many a second time is no longer worth it."""


class KernelTable:
    """Rows of the Gram matrix of n observations.

    A selection asks for those of candidates, visit after visit. Once it has asked for a quarter as many rows
    as there are, the whole matrix is computed and kept, if it is small enough; before that, and for large
    training sets, rows are computed when they are needed.
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel, self._X, self._dtype = kernel, X, dtype_of(X)
        self._asked = 0
        self._matrix: Array | None = None
        n = X.shape[0]
        self._small = n * n * self._dtype.itemsize <= MOST

    def rows(self, chosen: Array) -> Array:
        """Return kernel values between some observations and all, (q, n)."""
        matrix = self._known(len(chosen))
        if matrix is not None:
            return np.asarray(matrix[chosen])
        blocks = KernelBlocks(self._kernel, self._X[chosen], self._X, self._dtype)
        out = np.empty(blocks.shape, dtype=self._dtype)
        blocks.fill(out, 0, 0)
        return out

    def times(self, chosen: Array, coefficients: Array) -> Array:
        """Return Σ_i k(x_o, x_i) a_i for some o, (q, r) float64."""
        matrix = self._known(len(chosen))
        if matrix is None:
            return kernel_times(self._kernel, self._X[chosen], self._X, coefficients)
        return block_times(matrix[chosen], coefficients.astype(self._dtype)).astype(np.float64)

    def _known(self, count: int) -> Array | None:
        """Return the matrix, if it is known or should be by now."""
        self._asked += count
        if self._matrix is None and self._small and self._asked > SHARE * self._X.shape[0]:
            self._matrix = _square(PackedGram.of(self._kernel, self._X, self._dtype))
        return self._matrix

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the matrix behind."""
        return KernelTable, (self._kernel, self._X)


def _square(packed: PackedGram) -> Array:
    matrix = np.empty((packed.size, packed.size), packed.dtype)
    for panel, first in packed.panels():
        matrix[first : first + len(panel), first:] = panel
        matrix[first:, first : first + len(panel)] = panel.T
    return matrix
