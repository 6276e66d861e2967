"""The linear kernel."""

from __future__ import annotations

from ..arrays import Array
from ._base import ProductKernel


class Linear(ProductKernel):
    """k(x, x′) = ⟨x, x′⟩, which gives the linear model in other coordinates.

    Not universal.

    Examples
    --------
    >>> Linear()([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Leave ⟨x, x′⟩ as it is."""
