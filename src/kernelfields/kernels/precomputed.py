"""Kernels given as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from ._base import Kernel
from .observations import Observations


class Precomputed(Kernel):
    """k(i, j) = K_ij for a given matrix K; observations are row numbers of K, (n,) or (n, 1).

    Universality does not apply: there are finitely many observations.

    Parameters
    ----------
    matrix : (M, M) array
        K, over all observations that will be compared, those of predictions included. Copies made by
        ``clone`` share the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed(K).block([1], [0, 1])
    array([[1., 3.]])
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return K_ij."""
        matrix = self._square()
        return matrix[np.ix_(_indices(X, len(matrix)), _indices(Y, len(matrix)))]

    def diagonal(self, X: Observations) -> Array:
        """Return K_ii."""
        matrix = self._square()
        return matrix.diagonal()[_indices(X, len(matrix))]

    def _square(self) -> Array:
        require_unmasked(self.matrix, "matrix of Precomputed")
        matrix = np.asarray(self.matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
            raise InputError(
                f"Precomputed needs a square matrix of numbers, not {matrix.dtype} of shape {matrix.shape}."
            )
        return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)

    def __sklearn_clone__(self) -> Precomputed:
        return Precomputed(self.matrix)


def _indices(X: Observations, size: int) -> Array:
    """Return row numbers; whole floats are accepted, because estimators may have made rows of floats."""
    require_unmasked(X, "The list of observations")
    found = np.asarray(X)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or found.dtype.kind not in "iuf":
        raise InputError(
            f"Precomputed needs row numbers as observations, not {found.dtype} of shape {found.shape}."
        )
    bad = np.flatnonzero((found != np.floor(found)) | (found < 0) | (found >= size))
    if len(bad):
        raise InputError(f"Observation {bad[0]} is {found[bad[0]]}, not a row number from 0 to {size - 1}.")
    return found.astype(np.int64)
