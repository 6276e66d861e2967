"""The constant kernel."""

from __future__ import annotations

from ..arrays import Array
from ._base import ProductKernel, not_negative


class Constant(ProductKernel):
    """k(x, x′) = c: a feature that is always √c, a bias. A number in ``RBF() + 1.0`` is this kernel.

    Parameters
    ----------
    value : float
        c ≥ 0.

    Examples
    --------
    >>> from kernelfields.kernels import Linear
    >>> Linear() + 1.0
    Linear() + Constant()
    """

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    @property
    def takes_missing(self) -> bool:
        """It looks at no number."""
        return True

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Return c."""
        products[...] = not_negative(self, "value")
