"""Gram matrices as kernel models ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gram import Gram, StoredGram
from ..kernels import Kernel
from ..structures._base import Array

# Stand-ins for gram.gram_of and gram.kernel_times.

ROWS = 1024


def gram_of(kernel: Kernel, X: Any, dtype: Any, memory_limit: Any) -> Gram:
    """K on all pairs of observations."""
    return StoredGram(np.asarray(kernel(X), dtype=dtype))


def kernel_times(kernel: Kernel, X: Any, basis: Any, columns: Array) -> Array:
    """Σ_o k(x_i, basis_o) columns_o for every x_i, some rows at a time; float64."""
    result = np.zeros((X.shape[0], columns.shape[1]))
    for start in range(0, X.shape[0], ROWS):
        block = kernel.block(X[start : start + ROWS], basis)
        result[start : start + ROWS] = block @ columns.astype(block.dtype)
    return result
