"""Kernel values that are no numbers are refused, with the observations that gave them."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..kernels import Kernel


def require_finite(kernel: Kernel, block: Array, row: int, column: int) -> None:
    """Refuse NaN and infinity in a block whose first entry is that of observations ``row``, ``column``.

    A sum is quicker than a look at every number; it may overflow, so the numbers have the last word.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.sum()):
            return
    bad = np.argwhere(~np.isfinite(block))
    if len(bad):
        i, j = bad[0]
        pair = f"observations {row + i} and {column + j}"
        raise InputError(f"{type(kernel).__name__} gave {block[i, j]} for {pair}.")
