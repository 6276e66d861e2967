"""Kernel values between many observations and a few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels import Kernel, ProductKernel
from ..kernels._observations import squared_norms
from ..structures._base import Array

BLOCK = 2**20
"""Kernel values at a time: large enough for BLAS, small enough for caches to hold until transformed."""


class Candidates:
    """k(x_i, ·) for the observations X of a training set; their norms are computed once."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.X = X
        self.size = int(X.shape[0])
        direct = isinstance(kernel, ProductKernel) and not sparse.issparse(X) and X.dtype != object
        self._norms = squared_norms(X) if direct else None

    @property
    def diagonal(self) -> Array:
        """k(x_i, x_i), (N,) float64."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def column(self, index: int) -> Array:
        """k(x_i, x_index), (N,): D N multiplications, of which N D numbers are read."""
        out = np.empty((self.size, 1), dtype=dtype_of(self.X))
        self.fill(self.X[index : index + 1], out)
        return out[:, 0]

    def fill(self, basis: Any, out: Array) -> None:
        """Write k(x_i, basis_o) to ``out``, (N, m): 2 N m D operations, by BLAS, and N m values of κ."""
        right = None if self._norms is None else squared_norms(basis)
        for rows in blocks(self.size, out.shape[1]):
            if right is None or self._norms is None:
                out[rows] = self.kernel.block(self.X[rows], basis)
            else:
                assert isinstance(self.kernel, ProductKernel)
                np.matmul(self.X[rows], basis.T, out=out[rows])
                self.kernel.apply(out[rows], self._norms[rows], right)


def blocks(size: int, width: int) -> Iterator[slice]:
    """Rows of a matrix with so many columns, some at a time."""
    height = max(64, BLOCK // max(1, width))
    return (slice(start, min(start + height, size)) for start in range(0, size, height))


def dtype_of(X: Any) -> np.dtype[Any]:
    """Precision of kernel values: that of numbers; double for other objects."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def widened(X: Any) -> Any:
    """Observations in double precision; other objects as they are."""
    return X if X.dtype == object else X.astype(np.float64)
