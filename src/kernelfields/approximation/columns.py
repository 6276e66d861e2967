"""Kernel values between many observations and a few."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..gram import KernelBlocks
from ..kernels import Kernel, ProductKernel
from ..kernels.observations import squared_norms

BLOCK = 2**20
"""Number of kernel values in a block: enough for BLAS, few enough to stay in the cache until transformed."""


class KernelColumns:
    """Columns k(x_i, ·) of the observations X of a training set, whose norms are computed once."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.X = X
        self.size = int(X.shape[0])

    @cached_property
    def _norms(self) -> Array | None:
        dense = not sparse.issparse(self.X) and self.X.dtype != object
        return squared_norms(self.X) if dense and isinstance(self.kernel, ProductKernel) else None

    @property
    def diagonal(self) -> Array:
        """k(x_i, x_i), (N,) float64."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def column(self, index: int) -> Array:
        """Return k(x_i, x_index), (N,), by N D multiplications."""
        one = self.X[index : index + 1]
        if self._norms is None:
            return np.asarray(self.kernel.block(self.X, one), dtype=dtype_of(self.X))[:, 0]
        assert isinstance(self.kernel, ProductKernel)
        products = np.asarray(self.X @ one.T)
        self.kernel.apply(products, self._norms, self._norms[index : index + 1])
        return products[:, 0]

    def fill(self, basis: Any, out: Array) -> None:
        """Write k(x_i, basis_o) to ``out``, (N, m): 2 N m D operations, by BLAS, and N m values of κ.

        Every thread takes separate blocks through all steps.
        """
        KernelBlocks(self.kernel, self.X, basis, out.dtype).fill(out, 0, 0)


def blocks(size: int, width: int) -> Iterator[slice]:
    """Return slices of the rows of a (size, width) matrix, each of about ``BLOCK`` entries."""
    height = max(64, BLOCK // max(1, width))
    return (slice(start, min(start + height, size)) for start in range(0, size, height))


def dtype_of(X: Any) -> np.dtype[Any]:
    """Return the precision of kernel values: that of numbers, double for other objects."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def widened(X: Any) -> Any:
    """Return observations in double precision; other objects as they are."""
    return X if X.dtype == object else X.astype(np.float64)
