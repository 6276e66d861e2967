"""Kernel expansions at new observations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..kernels import Kernel
from ..kernels._base import Observations
from ._base import Array, block_times
from ._blocks import COLUMNS, ROWS, Blocks
from ._memory import memory_budget
from ._observations import precision_of


def kernel_times(
    kernel: Kernel,
    X_new: Observations,
    X_basis: Observations,
    coefficients: Array,
    memory_limit: int | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Σ_j k(x_i, b_j) a_j for new x_i, block by block: the scores of a kernel expansion.

    Parameters
    ----------
    kernel : Kernel
        k.
    X_new, X_basis : observations
        The n new x_i and the N basis points b_j.
    coefficients : (N, m) array
        a_j, float32 or float64; the result, (n, m), is of that type.
    memory_limit : int, optional
        Bytes that kernel values may take at a time; never more than a few blocks of 16 MB are used.
    dtype : float32 or float64, optional
        Of the kernel values; that of ``X_basis`` if not given.
    """
    blocks = Blocks(kernel, X_new, X_basis, precision_of(X_basis, dtype))
    n, N = blocks.shape
    if coefficients.ndim != 2 or len(coefficients) != N:
        raise InputError(f"Coefficients of shape {coefficients.shape} for a basis of {N}.")
    width = max(1, min(COLUMNS, memory_budget(memory_limit) // (ROWS * blocks.dtype.itemsize)))
    room = np.empty(ROWS * width, dtype=blocks.dtype)
    result = np.zeros((n, coefficients.shape[1]))
    for row in range(0, n, ROWS):
        end = min(row + ROWS, n)
        for column in range(0, N, width):
            stop = min(column + width, N)
            block = room[: (end - row) * (stop - column)].reshape(end - row, stop - column)
            blocks.fill(block, row, column)
            result[row:end] += block_times(block, coefficients[column:stop])
    return result.astype(coefficients.dtype)
