"""Kernel values between some observations and all, kept once many have been asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..approximation.columns import dtype_of
from ..arrays import Array
from ..gram import KernelBlocks, PackedGram, blocks_times
from ..kernels import Kernel

MOST = 2**28
"""Bytes that may be kept."""
SHARE = 0.25
"""Of all rows: computing as many a second time is no longer worth it."""
VALUE, READ, MULTIPLIED = 7.0, 0.13, 0.04
"""Nanoseconds to compute a kernel value, to read one of two that are kept as one, and to multiply one."""


class KernelTable:
    """Products with some rows of the Gram matrix of n observations.

    A selection asks for those of candidates, visit after visit. Once it has asked for a quarter as many rows
    as there are, the whole matrix is computed and kept, if it is small enough. A product with all rows then
    takes less time than to compute some of them, unless these are few.
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel, self._X, self._dtype = kernel, X, dtype_of(X)
        self._asked = 0
        self._gram: PackedGram | None = None
        self._small = PackedGram.bytes_for(X.shape[0], self._dtype) <= MOST

    def rows(self, chosen: Array) -> Array:
        """Return kernel values between some observations and all, (q, n)."""
        blocks = self._blocks.some(chosen)
        out = np.empty(blocks.shape, dtype=self._dtype)
        blocks.fill(out, 0, 0)
        return out

    def times(self, chosen: Array, coefficients: Array) -> Array:
        """Return Σ_i k(x_o, x_i) a_i for some o, (q, r) float64."""
        gram = self._known(len(chosen)) if self._many(len(chosen), coefficients.shape[1]) else None
        if gram is None:
            return blocks_times(self._blocks.some(chosen), coefficients)
        products = gram.times(np.ascontiguousarray(coefficients, dtype=self._dtype))
        return products[chosen].astype(np.float64)

    @cached_property
    def _blocks(self) -> KernelBlocks:
        """Blocks between all observations, which are prepared once."""
        return KernelBlocks(self._kernel, self._X, self._X, self._dtype)

    def _many(self, count: int, columns: int) -> bool:
        """Return whether all rows take less time than to compute so many of them."""
        return count * VALUE > self._X.shape[0] * max(READ, MULTIPLIED * columns)

    def _known(self, count: int) -> PackedGram | None:
        """Return the matrix, if it is known or should be by now."""
        self._asked += count
        if self._gram is None and self._small and self._asked > SHARE * self._X.shape[0]:
            self._gram = PackedGram.of(self._kernel, self._X, self._dtype)
        return self._gram

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the matrix behind."""
        return KernelTable, (self._kernel, self._X)
