"""The Laplacian kernel."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ._base import Kernel, positive
from .observations import Observations, pairs, precision, rows, same_width


class Laplacian(Kernel):
    """k(x, x′) = exp(−γ‖x − x′‖₁).

    Universal, and less sensitive than the Gaussian kernel to large differences in few features. It is not
    a function of inner products, and therefore much slower.

    Parameters
    ----------
    gamma : float
        γ > 0.

    Examples
    --------
    >>> Laplacian()([[0.0, 0.0], [0.5, -0.5]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    universal = True

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return exp(−γ‖x − x′‖₁)."""
        gamma = positive(self, "gamma")
        left, right = rows(X), rows(Y)
        same_width(left, right)
        from sklearn.metrics.pairwise import manhattan_distances

        result = pairs(manhattan_distances, left, right)
        result *= -gamma
        return np.exp(result, out=result).astype(precision(left, right), copy=False)

    def diagonal(self, X: Observations) -> Array:
        """Return 1."""
        found = rows(X)
        return np.ones(found.shape[0], dtype=found.dtype)
