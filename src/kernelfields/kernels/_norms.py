"""What normalising divides by."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def inverse_roots(squares: Array) -> Array:
    """1/√s, and 0 where s is 0: the zero vector has no direction, and is like no other."""
    roots = np.sqrt(squares)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots != 0)
