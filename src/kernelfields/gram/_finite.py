"""Refuses kernel values that are not finite, naming their observations."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..kernels import Kernel


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
