"""Polynomial kernels."""

from __future__ import annotations

import numpy as np

from ._base import Array, ProductKernel


class Polynomial(ProductKernel):
    """k(x, x′) = (γ⟨x, x′⟩ + c)^d.

    All conjunctions of up to d features, without writing them out.

    Parameters
    ----------
    degree : int
        d.
    gamma : float
        γ.
    offset : float
        c ≥ 0; 0 leaves conjunctions of exactly d features.
    """

    def __init__(self, degree: int = 2, gamma: float = 1.0, offset: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.offset = offset

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """(γ⟨x, x′⟩ + c)^d."""
        products *= self.gamma
        products += self.offset
        if self.degree != 1:
            np.power(products, self.degree, out=products)
