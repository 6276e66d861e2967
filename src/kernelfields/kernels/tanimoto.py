"""The Tanimoto kernel."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ._base import ProductKernel


class Tanimoto(ProductKernel):
    """k(x, x′) = ⟨x, x′⟩ / (‖x‖² + ‖x′‖² − ⟨x, x′⟩), and 1 where both are zero [ralaivola2005].

    On rows of zeros and ones it is the share of common members, |A ∩ B| / |A ∪ B| (``Jaccard`` takes sets
    instead of rows). Positive semi-definite for all real vectors, because it equals
    Σ_{k ≥ 1} ⟨x, x′⟩^k / (‖x‖² + ‖x′‖²)^k. Not universal.

    Examples
    --------
    >>> Tanimoto()([[1, 1, 0], [0, 1, 1]]).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by ⟨x, x′⟩ / (‖x‖² + ‖x′‖² − ⟨x, x′⟩)."""
        union = left[:, None] + right[None, :] - products
        empty = union == 0
        np.divide(products, union, out=products, where=~empty)
        products[empty] = 1
