"""Squared distances from inner products."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

ROUNDING = 16
"""Units in the last place that an inner product may be off."""


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
