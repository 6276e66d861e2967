"""The cosine kernel."""

from __future__ import annotations

from ..arrays import Array
from ._base import ProductKernel
from .observations import inverse_roots


class Cosine(ProductKernel):
    """k(x, x′) = ⟨x, x′⟩ / (‖x‖ ‖x′‖), and 0 where x or x′ is zero.

    The linear kernel on directions, for observations whose length carries no information, such as long
    and short documents. Not universal.

    Examples
    --------
    >>> Cosine()([[1, 0], [2, 0], [3, 4]])
    array([[1. , 1. , 0.6],
           [1. , 1. , 0.6],
           [0.6, 0.6, 1. ]])
    """

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by ⟨x, x′⟩ / (‖x‖ ‖x′‖)."""
        products *= inverse_roots(left)[:, None]
        products *= inverse_roots(right)[None, :]
