"""Inverse norms, for kernels that are normalised."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def inverse_roots(squares: Array) -> Array:
    """Return 1/√s, and 0 where s is 0: the zero vector has no direction."""
    roots = np.sqrt(squares)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots != 0)
