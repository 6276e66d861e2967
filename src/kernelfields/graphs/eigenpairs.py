"""the lowest eigenpairs of a Laplacian."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..arrays import Array
from ..checks import require_positive, require_whole
from ..memory import require_memory
from .laplacian import GraphLaplacian

DENSE = 1000
"""Vertices up to which all eigenpairs are computed from a dense matrix."""


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
        rest = _dense if of.size <= DENSE or number > of.size // 3 else _krylov
        more, others = rest(of, number - known, tolerance)
        values, vectors = np.concatenate([values, more]), np.concatenate([vectors, others], axis=1)
    return Eigenpairs(values, vectors, residual_of(of, values, vectors))


def residual_of(of: GraphLaplacian, values: Array, vectors: Array) -> float:
    """Return the largest ‖𝓛v − e v‖."""
    difference = of.diagonal[:, None] * vectors - of.links @ vectors - vectors * values
    return float(np.sqrt(np.einsum("ij,ij->j", difference, difference)).max(initial=0.0))


def _dense(of: GraphLaplacian, number: int, tolerance: float) -> tuple[Array, Array]:
    """Return those above the null space: components have been counted, hence so are the zeros."""
    zeros = int(of.components.max()) + 1
    values, vectors = eigh(of.matrix().toarray(), subset_by_index=[zeros, zeros + number - 1])
    return values, vectors


def _krylov(of: GraphLaplacian, number: int, tolerance: float) -> tuple[Array, Array]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    zeros = int(of.components.max()) + 1
    null = of.null_vectors(zeros)

    def times(v: Array) -> Array:
        v = v - null @ (null.T @ v)
        product = of.upper * v - of.diagonal * v + of.links @ v
        return product - null @ (null.T @ product)

    operator = LinearOperator((of.size, of.size), matvec=times, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=of.size)
    values, vectors = eigsh(operator, number, which="LA", tol=tolerance**2, v0=start)
    order = np.argsort(-values)
    return of.upper - values[order], vectors[:, order]
