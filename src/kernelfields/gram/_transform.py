"""Turns inner products into kernel values, in place.

Formulas are written in NumPy beside the kernels. Those that take long, N² exponentials, have a second form
in the core, registered here; tests compare the two. Norms are known to be finite, hence products are too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from .. import native
from ..arrays import Array
from ..errors import InputError
from ..kernels import RBF, Kernel, Linear, Polynomial, ProductKernel

PIECE = 2**16
"""Size of a piece that stays in the cache over all passes of a formula."""


class ProductBlock(NamedTuple):
    """A block of inner products."""

    values: Array
    """⟨x_i, y_j⟩, (n, m), to be overwritten."""
    left: Array
    """‖x_i‖², (n,)."""
    right: Array
    """‖y_j‖², (m,)."""
    row: int
    """Number of the first x_i."""
    column: int
    """Number of the first y_j."""


@singledispatch
def transform(kernel: ProductKernel, products: ProductBlock) -> None:
    """Overwrite ⟨x_i, y_j⟩ by k(x_i, y_j)."""
    in_pieces(kernel, products, kernel.apply)


@transform.register
def _(kernel: Linear, products: ProductBlock) -> None:
    pass


@transform.register
def _(kernel: RBF, products: ProductBlock) -> None:
    if not 0 <= kernel.gamma < np.inf:
        raise InputError(f"gamma of RBF is {kernel.gamma}, but must be a number that is not negative.")
    native.gaussian_transform(products.values, products.left, products.right, float(kernel.gamma))


@transform.register
def _(kernel: Polynomial, products: ProductBlock) -> None:
    if kernel.degree != int(kernel.degree) or kernel.degree < 0:
        in_pieces(kernel, products, kernel.apply)
        return
    gamma, offset, degree = float(kernel.gamma), float(kernel.offset), int(kernel.degree)
    in_pieces(kernel, products, lambda piece, *_: native.polynomial_transform(piece, gamma, offset, degree))


def in_pieces(kernel: Kernel, products: ProductBlock, apply: Callable[[Array, Array, Array], None]) -> None:
    """Apply a formula to pieces that stay in the cache, and refuse what is not finite."""
    values, left, right, row, column = products
    width = max(16, PIECE // max(1, len(left)))
    for start in range(0, len(right), width):
        piece = values[:, start : start + width]
        with np.errstate(over="ignore", invalid="ignore"):  # found below, with the observations' numbers
            apply(piece, left, right[start : start + width])
        require_finite(kernel, piece, row, column + start)


def require_finite(kernel: Kernel, block: Array, row: int, column: int) -> None:
    """Refuse NaN and infinity in a block whose first entry is that of observations ``row``, ``column``.

    A sum is quicker than a test of every number; because it may overflow, the numbers are tested if it is
    not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.sum()):
            return
    bad = np.argwhere(~np.isfinite(block))
    if len(bad):
        i, j = bad[0]
        pair = f"observations {row + i} and {column + j}"
        raise InputError(f"{type(kernel).__name__} returned {block[i, j]} for {pair}, not a finite number.")
