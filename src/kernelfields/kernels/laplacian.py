"""The Laplacian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Kernel, positive
from .data_kernel import refuse
from .observations import Observations, median_distance, pairs, precision, require_rule, rows, same_width


class Laplacian(Kernel):
    """k(x, x′) = exp(−γ‖x − x′‖₁).

    Universal, and less sensitive than the Gaussian kernel to large differences in few features. It is not
    a function of inner products, and therefore much slower.

    Parameters
    ----------
    gamma : float or "median"
        γ > 0; or 1 over the median of ‖x − x′‖₁ over pairs of different observations of a training set, up to
        1,000 of them, which stands behind the name "laplacian". That is 1 if all observations are equal.

    Examples
    --------
    >>> Laplacian()([[0.0, 0.0], [0.5, -0.5]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    universal = True

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    @property
    def looks_first(self) -> bool:
        """Whether observations decide about γ."""
        return isinstance(self.gamma, str)

    def on(self, observations: Observations) -> Laplacian:
        """Return the kernel with γ as a number."""
        if not self.looks_first:
            return self
        require_rule("gamma", self.gamma)
        return Laplacian(1 / median_distance(observations, _manhattan))

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return exp(−γ‖x − x′‖₁)."""
        if self.looks_first:
            refuse(self)
        gamma = positive(self, "gamma")
        left, right = rows(X), rows(Y)
        same_width(left, right)
        result = _manhattan(left, right)
        result *= -gamma
        return np.exp(result, out=result).astype(precision(left, right), copy=False)

    def diagonal(self, X: Observations) -> Array:
        """Return 1."""
        found = rows(X)
        return np.ones(found.shape[0], dtype=found.dtype)


def _manhattan(X: Any, Y: Any = None) -> Array:
    """Return ‖x − x′‖₁ for all pairs, within X if there is no Y."""
    from sklearn.metrics.pairwise import manhattan_distances

    return pairs(manhattan_distances, X, X if Y is None else Y)
