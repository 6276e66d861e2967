"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ._base import ProductKernel, positive
from .observations import squared_distances


class RBF(ProductKernel):
    """k(x, x′) = exp(−γ‖x − x′‖²).

    Universal: with it a model can come arbitrarily close to any bounded continuous density
    [altun2006, Prop. 3]. The first choice for real-valued observations. Distances are computed from inner
    products, which loses digits far from the origin: centre observations, above all in float32.

    Parameters
    ----------
    gamma : float
        γ > 0, the inverse squared width.

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    universal = True

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by exp(−γ‖x − x′‖²)."""
        gamma = positive(self, "gamma")
        squared_distances(products, left, right)
        products *= -gamma
        np.exp(products, out=products)
