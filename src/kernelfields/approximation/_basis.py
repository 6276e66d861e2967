"""Factors from a basis of observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ..distributed import SHARING
from ..kernels import Kernel
from ..spaces import FeatureProducts, factor_of
from ._base import FactoredKernel, LandmarkBasis
from .columns import KernelColumns, dtype_of, widened
from .deferred import DeferredProducts
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
