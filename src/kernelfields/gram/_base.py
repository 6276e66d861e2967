"""The interface of Gram matrices: products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .blocks import block_times

BATCH = 2**23
"""Entries of K that are copied at a time when only products of them are needed."""


class Gram(ABC):
    """A Gram matrix K_ij = k(x_i, x_j) over n observations, however it is stored."""

    size: int
    """n."""
    dtype: np.dtype[Any]
    """Precision of its entries: float32 or float64."""
    diagonal: Array
    """k(x_i, x_i), (n,)."""

    @abstractmethod
    def times(self, columns: Array) -> Array:
        """Return K·A for A of shape (n, m), float64 or float32, in the type of A."""

    @abstractmethod
    def block(self, rows: Array, columns: Array) -> Array:
        """Return K[rows, columns], (len(rows), len(columns)), in the precision of K."""

    @abstractmethod
    def take(self, indices: Array) -> Gram:
        """Return the Gram matrix of some of the observations, in the order of ``indices``."""

    def whole(self, dtype: npt.DTypeLike | None = None) -> Array:
        """Return K as an (n, n) array, a copy: for what takes rows of it again and again."""
        every = np.arange(self.size)
        result = np.empty((self.size, self.size), self.dtype if dtype is None else dtype)
        for part in np.array_split(every, 1 + self.size // 256):
            result[part] = self.block(part, every)
        return result

    @final
    def cross(self, rows: Array, columns: Array, coefficients: Array) -> Array:
        """Return K[rows, columns]·A for A of shape (len(columns), m): scores of held-out observations.

        At most ``BATCH`` entries of K are copied at a time.
        """
        batch = max(1, BATCH // max(1, len(columns)))
        result = np.empty((len(rows), coefficients.shape[1]), dtype=coefficients.dtype)
        for start in range(0, len(rows), batch):
            block = self.block(rows[start : start + batch], columns)
            result[start : start + batch] = block_times(block, coefficients)
        return result
