"""Kernel values that are computed where they are needed first: by the workers who have the observations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..kernels import Kernel
from ..spaces import Products
from .columns import KernelColumns, dtype_of


class DeferredProducts(Products):
    """Products with K_XB, which is not sent anywhere: observations and landmarks are.

    Parameters
    ----------
    kernel : Kernel
        k.
    X, basis : arrays
        Observations and landmarks.
    """

    def __init__(self, kernel: Kernel, X: Any, basis: Any) -> None:
        self._kernel, self._X, self._basis = kernel, X, basis

    @cached_property
    def matrix(self) -> Array:
        """K_XB."""
        return self._values(self._X)

    @property
    def shape(self) -> tuple[int, int]:
        """N, m."""
        return int(self._X.shape[0]), int(self._basis.shape[0])

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the observations."""
        return dtype_of(self._X)

    def some(self, rows: Array) -> Array:
        """Return some rows of K_XB."""
        return self._values(self._X[rows])

    def part(self, begin: int, end: int) -> DeferredProducts:
        """Return those with the observations from one to another."""
        return DeferredProducts(self._kernel, self._X[begin:end], self._basis)

    def _values(self, X: Any) -> Array:
        values = np.empty((X.shape[0], self._basis.shape[0]), self.precision)
        KernelColumns(self._kernel, X).fill(self._basis, values)
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Leave kernel values behind."""
        return {name: value for name, value in vars(self).items() if name not in ("matrix", "_transposed")}
