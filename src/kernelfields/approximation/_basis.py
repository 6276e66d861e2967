"""Factors from a basis of observations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ..distributed import SHARING
from ..kernels import Kernel
from ..spaces import FeatureProducts, Products, factor_of
from ._base import FactoredKernel, LandmarkBasis
from .columns import KernelColumns, dtype_of, widened
from .maps import KernelMap
from .storage import Storage


def independent(kernel: Kernel, chosen: LandmarkBasis, tol: float) -> tuple[LandmarkBasis, Array]:
    """Drop dependent observations of a basis; return the others and C, lower triangular, C Cᵀ = K_BB.

    Pivoted Cholesky in double precision, m² D + m³/3 operations, drops an observation if its squared
    distance from the span of the others is below ``tol`` times the largest squared norm.
    """
    basis = widened(chosen.observations)
    gram = np.asarray(kernel.block(basis, basis), dtype=np.float64)
    if not len(gram):
        return chosen, gram
    least = tol * float(gram.diagonal().max())
    packed, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=least, lower=1)
    kept = order[:rank] - 1
    indices = None if chosen.indices is None else chosen.indices[kept]
    return LandmarkBasis(chosen.observations[kept], indices), np.tril(packed[:rank, :rank])


def with_basis(
    kernel: Kernel, X: Any, chosen: LandmarkBasis, triangle: Array, storage: Storage
) -> FactoredKernel:
    """Compute K_XB, the only matrix with N rows: 2 N m D operations, N m numbers."""
    whitening = inverse_transposed(triangle)
    factor = factor_of(_columns(kernel, X, chosen, storage), inside=whitening, dual=whitening)
    return FactoredKernel(factor, KernelMap(kernel, chosen.observations), chosen.indices, None)


def _columns(kernel: Kernel, X: Any, chosen: LandmarkBasis, storage: Storage) -> Array | FeatureProducts:
    """Return K_XB, or a promise of it where fits are shared out: workers compute what they need."""
    if SHARING.get() is not None:
        return DeferredProducts(kernel, X, chosen.observations)
    columns = storage.empty((X.shape[0], chosen.observations.shape[0]), dtype_of(X))
    KernelColumns(kernel, X).fill(chosen.observations, columns)
    return columns


def inverse_transposed(triangle: Array) -> Array:
    """Return C⁻ᵀ."""
    if not len(triangle):
        return triangle
    return np.asarray(scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)), lower=True, trans="T"))


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
