"""Polynomial kernels."""

from __future__ import annotations

from ..arrays import Array
from ._base import ProductKernel, at_least_one, not_negative, positive
from .power import raise_to


class Polynomial(ProductKernel):
    """k(x, x′) = (γ⟨x, x′⟩ + c)^d.

    All conjunctions of up to d features, without writing them out. Not universal.

    Parameters
    ----------
    degree : int
        d ≥ 1.
    gamma : float
        γ > 0.
    offset : float
        c ≥ 0; 0 leaves conjunctions of exactly d features.

    Examples
    --------
    >>> Polynomial(degree=2)([[1, 0], [1, 1]])
    array([[4., 4.],
           [4., 9.]])
    """

    def __init__(self, degree: int = 2, gamma: float = 1.0, offset: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.offset = offset

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by (γ⟨x, x′⟩ + c)^d."""
        degree = at_least_one(self, "degree")
        products *= positive(self, "gamma")
        products += not_negative(self, "offset")
        raise_to(products, degree)
