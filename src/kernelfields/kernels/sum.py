"""Sums of kernels."""

from __future__ import annotations

from ..arrays import Array
from ._base import Kernel, Pointwise
from ._expressions import Binding, written


class Sum(Pointwise):
    """k(x, x′) = k₁(x, x′) + k₂(x, x′): the sum of two functions, one from each space.

    Universal if one of the two is.

    Parameters
    ----------
    left, right : Kernel
        k₁ and k₂; ``kernel__left__gamma`` is a parameter of the first.

    Examples
    --------
    >>> from kernelfields.kernels import RBF, Linear
    >>> kernel = RBF(gamma=0.5) + Linear()
    >>> kernel
    RBF(gamma=0.5) + Linear()
    >>> kernel.get_params()["left__gamma"]
    0.5
    """

    binding = Binding.SUM

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁ and k₂."""
        return self.left, self.right

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """One suffices."""
        return self.left.universal or self.right.universal

    def merge(self, values: list[Array]) -> Array:
        """Return k₁ + k₂."""
        first, second = values
        first += second
        return first

    def __repr__(self) -> str:
        """Return k₁ + k₂."""
        return f"{written(self.left, self.binding)} + {written(self.right, self.binding)}"
