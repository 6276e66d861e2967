"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np

from ._base import Array, ProductKernel


class RBF(ProductKernel):
    """k(x, x′) = exp(−γ‖x − x′‖²).

    Universal: with it a model can come arbitrarily close to any bounded continuous density
    [altun2006, Prop. 3]. The first choice for real-valued observations.

    Parameters
    ----------
    gamma : float
        γ, the inverse squared width.
    """

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """exp(−γ(‖x‖² + ‖x′‖² − 2⟨x, x′⟩)), the distance kept from falling below zero."""
        products *= -2
        products += left[:, None]
        products += right[None, :]
        np.maximum(products, 0, out=products)
        products *= -self.gamma
        np.exp(products, out=products)
