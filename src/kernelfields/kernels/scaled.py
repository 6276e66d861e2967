"""Multiples of kernels."""

from __future__ import annotations

from ..arrays import Array
from ._base import Kernel, Pointwise, not_negative
from ._expressions import Binding, written


class Scaled(Pointwise):
    """k(x, x′) = c · k₁(x, x′), as if the penalty were divided by c; weighs the parts of a sum.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    factor : float
        c ≥ 0.

    Examples
    --------
    >>> from kernelfields.kernels import RBF, Linear
    >>> 2.0 * RBF() + 0.5 * Linear()
    2.0 * RBF() + 0.5 * Linear()
    """

    binding = Binding.PRODUCT

    def __init__(self, kernel: Kernel, factor: float = 1.0) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁."""
        return (self.kernel,)

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁, but for zero."""
        return self.kernel.universal and self.factor > 0

    def merge(self, values: list[Array]) -> Array:
        """Return c · k₁."""
        (value,) = values
        value *= not_negative(self, "factor")
        return value

    def __repr__(self) -> str:
        """Return the expression c * k₁."""
        return f"{float(self.factor)} * {written(self.kernel, self.binding)}"
