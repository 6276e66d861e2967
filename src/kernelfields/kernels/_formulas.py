"""What formulas of kernels have in common: checked parameters, distances, inverse norms, whole powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_not_negative, require_positive, require_whole

ROUNDING = 16
"""Units in the last place that an inner product may be off."""


# Checks of parameters, made when a kernel is used, as in scikit-learn.


def positive(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number above zero."""
    return require_positive(_named(kernel, name), getattr(kernel, name))


def not_negative(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number of at least zero."""
    return require_not_negative(_named(kernel, name), getattr(kernel, name))


def at_least_one(kernel: Any, name: str) -> int:
    """Return a parameter that must be a whole number of at least one."""
    return require_whole(_named(kernel, name), getattr(kernel, name), most=2**31 - 1)


def _named(kernel: Any, name: str) -> str:
    return f"{name} of {type(kernel).__name__}"


def squared_distances(products: Array, left: Array, right: Array) -> None:
    """Overwrite ⟨x, x′⟩ by ‖x‖² + ‖x′‖² − 2⟨x, x′⟩, kept from falling below zero."""
    products *= -2
    products += left[:, None]
    products += right[None, :]
    np.maximum(products, 0, out=products)


def distances(products: Array, left: Array, right: Array) -> None:
    """Overwrite ⟨x, x′⟩ by ‖x − x′‖; what rounding alone may have left of a distance is zero.

    The root turns a rounding error ε of a square into √ε: without this, an observation would be
    at a distance from itself.
    """
    squared_distances(products, left, right)
    unit = ROUNDING * float(np.finfo(products.dtype).eps)
    products[products < unit * (left[:, None] + right[None, :])] = 0
    np.sqrt(products, out=products)


def inverse_roots(squares: Array) -> Array:
    """Return 1/√s, and 0 where s is 0: the zero vector has no direction."""
    roots = np.sqrt(squares)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots != 0)


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
