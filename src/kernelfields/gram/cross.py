"""Kernel expansions at new observations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..kernels import Kernel
from ..kernels.observations import Observations
from .blocks import KernelBlocks, block_times, precision_of, workers_for
from .packed import memory_budget

LEAST, MOST = 2**12, 2**22
"""Kernel values at a time."""


def kernel_times(
    kernel: Kernel,
    X_new: Observations,
    X_basis: Observations,
    coefficients: Array,
    memory_limit: int | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Return Σ_j k(x_i, b_j) a_j for new x_i, block by block: the scores of a kernel expansion.

    Parameters
    ----------
    kernel : Kernel
        k.
    X_new, X_basis : observations
        The n new x_i and the N basis points b_j.
    coefficients : (N, m) array
        a_j, float32 or float64; the result, (n, m), is of that type.
    memory_limit : int, optional
        Bytes that kernel values may take at a time; the block has at least 2¹² and at most 2²² entries.
    dtype : float32 or float64, optional
        Of the kernel values; that of ``X_basis`` if not given.
    """
    blocks = KernelBlocks(kernel, X_new, X_basis, precision_of(X_basis, dtype))
    return blocks_times(blocks, coefficients, memory_limit)


def blocks_times(blocks: KernelBlocks, coefficients: Array, memory_limit: int | None = None) -> Array:
    """Return the same for observations that are prepared already."""
    n, N = blocks.shape
    if coefficients.ndim != 2 or len(coefficients) != N:
        raise InputError(
            f"coefficients have shape {coefficients.shape}, but must be ({N}, m) for {N} basis points."
        )
    budget = MOST  # few are computed without a look at what memory there is: that takes longer
    if memory_limit is not None or n * N > MOST:
        budget = min(max(LEAST, memory_budget(memory_limit) // blocks.dtype.itemsize), MOST)
    height = max(1, min(n, 64 if budget < MOST else 512))
    width = max(1, min(N, budget // height))
    room = np.empty(height * width, dtype=blocks.dtype)
    result = np.zeros((n, coefficients.shape[1]))
    with workers_for(n * N) as run:
        for row in range(0, n, height):
            end = min(row + height, n)
            for column in range(0, N, width):
                stop = min(column + width, N)
                block = room[: (end - row) * (stop - column)].reshape(end - row, stop - column)
                blocks.fill_all([(block, row, column)], run)
                result[row:end] += block_times(block, coefficients[column:stop])
    return result.astype(coefficients.dtype)
