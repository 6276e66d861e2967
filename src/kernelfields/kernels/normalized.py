"""Kernels normalised to a unit diagonal."""

from __future__ import annotations

from ..arrays import Array
from ._base import Composite, Kernel, ProductKernel, of_products, product_block, product_diagonal
from .observations import Observations, inverse_roots


class Normalized(Composite):
    """k(x, x′) = k₁(x, x′) / √(k₁(x, x) k₁(x′, x′)), and 0 where k₁(x, x) is.

    The cosine in the space of k₁, which removes the effect of length, of strings above all. Universal if
    k₁ is. ``Normalized(Linear())`` is ``Cosine()``.

    Parameters
    ----------
    kernel : Kernel
        k₁.

    Examples
    --------
    >>> from kernelfields.kernels import Polynomial
    >>> Normalized(Polynomial(degree=3))([[1.0], [2.0]]).round(3)
    array([[1.   , 0.854],
           [0.854, 1.   ]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁."""
        return (self.kernel,)

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁."""
        return self.kernel.universal

    def block(self, X: Observations, Y: Observations) -> Array:
        """Divide by the roots of both diagonals."""
        if isinstance(self, ProductKernel):
            return product_block(self, X, Y)
        result = self.kernel.block(X, Y)
        _divide(result, self.kernel.diagonal(X), self.kernel.diagonal(Y))
        return result

    def diagonal(self, X: Observations) -> Array:
        """Return 1, and 0 where k₁(x, x) is."""
        squares = self.kernel.diagonal(X)
        return (squares != 0).astype(squares.dtype)

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by the normalised value of k₁."""
        kernel = of_products(self.kernel)
        kernel.apply(products, left, right)
        _divide(products, product_diagonal(kernel, left), product_diagonal(kernel, right))

    def __repr__(self) -> str:
        """Return the expression that makes this kernel, k₁ written as an expression too."""
        return f"Normalized({self.kernel!r})"


def _divide(block: Array, left: Array, right: Array) -> None:
    """Overwrite k_ij by k_ij / √(l_i r_j)."""
    block *= inverse_roots(left)[:, None]
    block *= inverse_roots(right)[None, :]
