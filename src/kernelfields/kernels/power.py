"""Powers of kernels."""

from __future__ import annotations

from ..arrays import Array
from ._base import Kernel, Pointwise, at_least_one
from ._expressions import Binding, written


class Power(Pointwise):
    """k(x, x′) = k₁(x, x′)^d: conjunctions of d features of k₁.

    Whole d only: other powers of a kernel need not be positive semi-definite. Universal if k₁ is.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    exponent : int
        d ≥ 1.

    Examples
    --------
    >>> from kernelfields.kernels import Linear
    >>> (Linear() + 1.0) ** 2  # Polynomial(degree=2)
    (Linear() + Constant()) ** 2
    """

    binding = Binding.POWER

    def __init__(self, kernel: Kernel, exponent: int = 2) -> None:
        self.kernel = kernel
        self.exponent = exponent

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁."""
        return (self.kernel,)

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁."""
        return self.kernel.universal

    def merge(self, values: list[Array]) -> Array:
        """Return k₁^d."""
        (value,) = values
        return raise_to(value, at_least_one(self, "exponent"))

    def __repr__(self) -> str:
        """Return the expression k₁ ** d."""
        return f"{written(self.kernel, Binding.CALL)} ** {self.exponent}"


def raise_to(values: Array, exponent: int) -> Array:
    """Overwrite v by v^d for d ≥ 1: square and multiply, much faster than ``np.power``.

    From the second binary digit of d on: square; where the digit is one, multiply by v.
    """
    digits = bin(exponent)[3:]
    base = values.copy() if "1" in digits else values
    for digit in digits:
        values *= values
        if digit == "1":
            values *= base
    return values
