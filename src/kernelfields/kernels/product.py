"""Products of kernels."""

from __future__ import annotations

from ..arrays import Array
from ._base import Kernel, Pointwise
from ._expressions import Binding, written


class Product(Pointwise):
    """k(x, x′) = k₁(x, x′) · k₂(x, x′): observations are similar if they are under both kernels.

    Positive semi-definite by Schur's theorem; universal if both are.

    Parameters
    ----------
    left, right : Kernel
        k₁ and k₂.

    Examples
    --------
    >>> from kernelfields.kernels import RBF, Linear
    >>> (RBF() + Linear()) * Linear()
    (RBF() + Linear()) * Linear()
    """

    binding = Binding.PRODUCT

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁ and k₂."""
        return self.left, self.right

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """Both are needed."""
        return self.left.universal and self.right.universal

    def merge(self, values: list[Array]) -> Array:
        """Return k₁ · k₂."""
        first, second = values
        first *= second
        return first

    def __repr__(self) -> str:
        """Return the expression k₁ * k₂."""
        return f"{written(self.left, self.binding)} * {written(self.right, self.binding)}"
