"""the lowest eigenpairs of a Laplacian."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..checks import require_positive, require_whole
from ..errors import warn_user
from ..memory import require_memory
from .filtered_lanczos import filtered_lanczos
from .laplacian import GraphLaplacian

DENSE = 1000
"""Vertices up to which all eigenpairs are computed from a dense matrix."""

BLOCK = 16
"""Vectors that residuals are computed of together."""


class Eigenpairs(NamedTuple):
    """Lowest eigenvalues, rising, with their eigenvectors."""

    values: Array
    """(m,) e_i."""
    vectors: Array
    """(V, m) orthonormal v_i."""
    residual: float
    """max_i ‖𝓛v_i − e_i v_i‖."""


def lowest_eigenpairs(of: GraphLaplacian, number: int, tolerance: float = 1e-6) -> Eigenpairs:
    """Return the lowest eigenpairs, all of them if there are fewer than asked for.

    Those of the eigenvalue 0 are known: one for each component. If there are more components than pairs are
    asked for, the largest components have theirs.

    Parameters
    ----------
    of : GraphLaplacian
        See `laplacian`.
    number : int
        How many.
    tolerance : float
        Largest residual ‖𝓛v − e v‖, relative to the bound of the largest eigenvalue.
    """
    number = min(require_whole("n_eigenpairs", number), of.size)
    tolerance = require_positive("tolerance", tolerance)
    require_memory(f"{number} eigenvectors of {of.size} vertices", 24 * number * of.size)
    known = min(number, int(of.components.max(initial=-1)) + 1)
    values, vectors = np.zeros(known), of.null_vectors(known)
    if known < number:
        few = of.size <= DENSE or 4 * number > of.size
        more, others = (_dense if few else filtered_lanczos)(of, number - known, tolerance * of.upper)
        values, vectors = np.concatenate([values, more]), np.concatenate([vectors, others], axis=1)
    residual = residual_of(of, values, vectors)
    if residual > tolerance * max(of.upper, 1.0):
        warn_user(
            f"Eigenpairs have residuals up to {residual:.3g}; {tolerance * of.upper:.3g} was asked for.",
            UserWarning,
        )
    return Eigenpairs(values, vectors, residual)


def residual_of(of: GraphLaplacian, values: Array, vectors: Array) -> float:
    """Return the largest ‖𝓛v − e v‖."""
    largest = 0.0
    for start in range(0, len(values), BLOCK):  # a copy of some vectors at a time
        some = np.ascontiguousarray(vectors[:, start : start + BLOCK])
        difference = of.times(some) - some * values[start : start + BLOCK]
        largest = max(largest, float(np.sqrt(np.einsum("ij,ij->j", difference, difference)).max()))
    return largest


def _dense(of: GraphLaplacian, number: int, tolerance: float) -> tuple[Array, Array]:
    """Return those above the null space: components have been counted, hence so are the zeros."""
    require_memory(f"A dense Laplacian of {of.size} vertices", 24 * of.size**2)
    zeros = int(of.components.max()) + 1
    values, vectors = scipy.linalg.eigh(of.matrix().toarray(), subset_by_index=[zeros, zeros + number - 1])
    return values, vectors
