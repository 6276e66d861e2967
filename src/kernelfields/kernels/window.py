"""Convolution kernels over the positions of a window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel, at_least_one, with_parts
from .observations import Observations, rows, stacked


class WindowSum(Kernel):
    """k(x, x′) = Σ_t k₁(x_t, x′_t) over the positions t of a window.

    The columns are ``width`` consecutive blocks of equal size. A convolution kernel [haussler1999] that
    compares equal positions: its functions are sums of one function for each position, and therefore it
    is not universal.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    width : int
        Number of positions.

    Examples
    --------
    >>> from kernelfields.kernels import RBF
    >>> WindowSum(RBF(), width=2)([[0.0, 0.0], [0.0, 1.0]]).round(3)
    array([[2.   , 1.368],
           [1.368, 2.   ]])
    """

    def __init__(self, kernel: Kernel, width: int = 3) -> None:
        self.kernel = kernel
        self.width = width

    def on(self, observations: Observations) -> Kernel:
        """Return k₁ as it is on the positions of all windows."""
        return with_parts(self, {"kernel": self.kernel.on(_every_position(self, observations))})

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return Σ_t k₁(x_t, x′_t)."""
        blocks = (self.kernel.block(x, y) for x, y in _positions(self, X, Y))
        result = next(blocks)
        for block in blocks:
            result += block
        return result

    def diagonal(self, X: Observations) -> Array:
        """Return Σ_t k₁(x_t, x_t)."""
        diagonals = (self.kernel.diagonal(x) for (x,) in _positions(self, X))
        result = next(diagonals)
        for diagonal in diagonals:
            result += diagonal
        return result

    def __repr__(self) -> str:
        """Return the expression that makes this kernel, k₁ written as an expression too."""
        return f"WindowSum({self.kernel!r}, width={self.width})"


class WindowProduct(Kernel):
    """k(x, x′) = Π_t k₁(x_t, x′_t) over the positions t of a window.

    Windows are similar only if every position is. Universal if k₁ is; with an RBF, the RBF of the whole
    window.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    width : int
        Number of positions.

    Examples
    --------
    >>> from kernelfields.kernels import Hamming
    >>> (WindowProduct(0.5 * Hamming() + 0.5, width=2)).block([[1, 2]], [[1, 3]])
    array([[0.5]])
    """

    def __init__(self, kernel: Kernel, width: int = 3) -> None:
        self.kernel = kernel
        self.width = width

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁."""
        return self.kernel.universal

    def on(self, observations: Observations) -> Kernel:
        """Return k₁ as it is on the positions of all windows."""
        return with_parts(self, {"kernel": self.kernel.on(_every_position(self, observations))})

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return Π_t k₁(x_t, x′_t)."""
        blocks = (self.kernel.block(x, y) for x, y in _positions(self, X, Y))
        result = next(blocks)
        for block in blocks:
            result *= block
        return result

    def diagonal(self, X: Observations) -> Array:
        """Return Π_t k₁(x_t, x_t)."""
        diagonals = (self.kernel.diagonal(x) for (x,) in _positions(self, X))
        result = next(diagonals)
        for diagonal in diagonals:
            result *= diagonal
        return result

    def __repr__(self) -> str:
        """Return the expression that makes this kernel, k₁ written as an expression too."""
        return f"WindowProduct({self.kernel!r}, width={self.width})"


def _every_position(kernel: WindowSum | WindowProduct, X: Observations) -> Any:
    """Return the positions of all windows, one below the other."""
    return stacked([x for (x,) in _positions(kernel, X)])


def _positions(kernel: WindowSum | WindowProduct, *observations: Observations) -> Iterator[tuple[Any, ...]]:
    """Return the columns of each position in turn."""
    width = at_least_one(kernel, "width")
    found = [rows(X) for X in observations]
    for X in found:
        if X.shape[1] % width:
            raise InputError(
                f"A window of {width} positions needs a multiple of {width} columns, not {X.shape[1]}."
            )
    for t in range(width):
        yield tuple(X[:, t * X.shape[1] // width : (t + 1) * X.shape[1] // width] for X in found)
