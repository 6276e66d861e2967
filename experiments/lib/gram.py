"""One Gram matrix for all folds and penalties of an experiment."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelfields.arrays import Array, offsets_of
from kernelfields.kernels import Kernel, Linear, Polynomial, Precomputed

ROWS = 4096
"""Number of rows computed at a time; not too few, since the index of sparse features is rebuilt each time."""


def degree_kernel(degree: int, size: float) -> Kernel:
    """Return a polynomial kernel on the scale of the linear one: one range of penalties fits all degrees.

    The linear kernel itself for degree 1; above, m((⟨x, x′⟩/m + 1)/2)^d with m the mean of ⟨x, x⟩, which
    also has values of about m on the diagonal, where x and x′ are alike.

    Parameters
    ----------
    degree : int
        d.
    size : float
        m.
    """
    if degree == 1:
        return Linear()
    return (size / 2**degree) * Polynomial(degree=degree, gamma=1 / size, offset=1.0)


def precomputed(kernel: Kernel, features: Any) -> Precomputed:
    """Return K between all rows of a matrix, in its precision, computed some rows at a time."""
    n = features.shape[0]
    matrix = np.empty((n, n), dtype=features.dtype)
    for start in range(0, n, ROWS):
        matrix[start : start + ROWS] = kernel.block(features[start : start + ROWS], features)
    return Precomputed(matrix)


def row_numbers(lengths: npt.ArrayLike) -> list[Array]:
    """Return the row numbers of each sequence, (T, 1): what a precomputed kernel takes as X."""
    return [np.arange(a, b)[:, None] for a, b in pairwise(offsets_of(lengths))]


def sequences_of(features: Any, lengths: npt.ArrayLike) -> list[Any]:
    """Return the rows of each sequence."""
    return [features[a:b] for a, b in pairwise(offsets_of(lengths))]
