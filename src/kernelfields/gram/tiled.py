"""A Gram matrix that is recomputed instead of stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..kernels import Kernel
from ..kernels.observations import Observations, count, take
from ._base import Gram
from .blocks import KernelBlocks, block_times, workers_for

HEIGHT, WIDTH = 512, 8192
"""Shape of the blocks of a product: 16 MB of float32."""


class TiledGram(Gram):
    """K recomputed for every product, block by block, each pair of observations once.

    For so many observations that K would not fit in memory: it takes the memory of one block, and the time
    of computing K for each product.

    Parameters
    ----------
    kernel : Kernel
        k.
    X : observations
        x_i.
    dtype : float32 or float64
        Of the entries of K.
    """

    def __init__(self, kernel: Kernel, X: Observations, dtype: np.dtype[Any]) -> None:
        self._kernel = kernel
        self._blocks = KernelBlocks(kernel, X, X, dtype)
        self.size = self._blocks.shape[0]
        self.dtype = dtype
        self.diagonal = _diagonal(kernel, self._blocks.right, dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return TiledGram, (self._kernel, self._blocks.right, self.dtype)

    def times(self, columns: Array) -> Array:
        """Return K·A."""
        result = np.zeros(columns.shape)
        room = np.empty(HEIGHT * WIDTH, dtype=self.dtype)
        with workers_for(self.size**2) as run:
            for row in range(0, self.size, HEIGHT):
                end = min(row + HEIGHT, self.size)
                for column in range(row, self.size, WIDTH):
                    stop = min(column + WIDTH, self.size)
                    block = room[: (end - row) * (stop - column)].reshape(end - row, stop - column)
                    self._blocks.fill_all([(block, row, column)], run)
                    result[row:end] += block_times(block, columns[column:stop])
                    beyond = max(column, end)
                    mirrored = block[:, beyond - column :].T
                    result[beyond:stop] += mirrored @ columns[row:end].astype(self.dtype, copy=False)
        return result.astype(columns.dtype)

    def block(self, rows: Array, columns: Array) -> Array:
        """Return K[rows, columns]."""
        X = self._blocks.right
        blocks = KernelBlocks(self._kernel, take(X, rows), take(X, columns), self.dtype)
        out = np.empty(blocks.shape, dtype=self.dtype)
        blocks.fill(out, 0, 0)
        return out

    def take(self, indices: Array) -> TiledGram:
        """Return the matrix of some of the observations."""
        return TiledGram(self._kernel, take(self._blocks.right, indices), self.dtype)


def _diagonal(kernel: Kernel, X: Observations, dtype: np.dtype[Any]) -> Array:
    diagonal = np.asarray(kernel.diagonal(X), dtype=dtype)
    if diagonal.shape != (count(X),) or not np.isfinite(diagonal).all():
        name = type(kernel).__name__
        raise InputError(f"{name} returned a diagonal of shape {diagonal.shape}, or one that is not finite.")
    return diagonal
