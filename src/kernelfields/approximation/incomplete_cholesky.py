"""Incomplete Cholesky factors: each new basis function is the one that the others explain worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..checks import Check, optional, require_not_negative, whole
from ..kernels import Kernel
from ..spaces import factor_of
from ._base import Approximation, FactoredKernel, LandmarkBasis
from ._basis import inverse_transposed, with_basis
from .columns import KernelColumns, dtype_of, widened
from .maps import KernelMap
from .storage import Storage

DRAWS = 10
"""Number of random subsets without a new pivot after which none is expected."""


@dataclass(frozen=True)
class IncompleteCholesky(Approximation):
    """Pivoted Cholesky factor of the Gram matrix, stopped early [altun2004exp, 5.3; fine2001].

    The next pivot is the observation with the largest residual k(x, x) − ‖φ(x)‖², the squared distance
    of k(x, ·) from the span of the pivots so far; the pivots are the basis. Only kernel values between
    pivots and observations are computed. The trace of K − ΦΦᵀ ≥ 0 is the sum of the residuals.

    With m pivots and N observations of D numbers, the choice among all observations takes O(N (m + D))
    operations per pivot, N m² + 2 N m D in total, most of them bound by memory: good up to N m² of
    about 10¹¹. With ``sample`` the choice does not depend on N: s m³/3 + s m² D operations in total, then
    2 N m D, by BLAS, for the columns. `Nystroem` chooses at random and takes only the latter.

    Parameters
    ----------
    rank : int
        m, at most.
    tol : float
        Residuals below this share of the largest k(x, x) count as zero, and end the search. Columns in
        single precision do not resolve less than about 1e-6.
    sample : int, optional
        s: choose each pivot among this many random candidates, instead of all.
    scratch : path, optional
        Folder for the factor if it exceeds the memory limit, as in `Storage`.
    """

    rank: int = 500
    tol: float = 1e-6
    sample: int | None = None
    scratch: str | Path | None = None
    _checks: ClassVar[Mapping[str, Check]] = {
        "rank": whole(),
        "tol": require_not_negative,
        "sample": optional(whole()),
    }

    def on(
        self, kernel: Kernel, X: Any, random: np.random.RandomState, memory_limit: int | None = None
    ) -> FactoredKernel:
        """Factorise the Gram matrix of X, up to the rank or the tolerance."""
        storage = Storage(memory_limit, self.scratch)
        if self.sample is None:
            return self._among_all(kernel, X, storage)
        found = best_of_samples(kernel, X, self, random)
        return with_basis(kernel, X, LandmarkBasis(X[found.pivots], found.pivots), found.triangle, storage)

    def _among_all(self, kernel: Kernel, X: Any, storage: Storage) -> FactoredKernel:
        rank = min(self.rank, X.shape[0])
        room = storage.empty((X.shape[0], rank), dtype_of(X))
        pivots, residual = factorise(KernelColumns(kernel, X), room, self.tol)
        columns = room[:, : len(pivots)]
        triangle = np.tril(columns[pivots].astype(np.float64))
        factor = factor_of(columns, dual=inverse_transposed(triangle))
        return FactoredKernel(factor, KernelMap(kernel, X[pivots]), pivots, residual)


class Pivots(NamedTuple):
    """The chosen pivots."""

    pivots: Array
    triangle: Array
    """C, lower triangular, with C Cᵀ = K on the pivots."""


def factorise(candidates: KernelColumns, room: Array, tol: float) -> tuple[Array, Array]:
    """Fill the columns of ``room``, (N, m), with Φ; return the pivots and the residuals, (N,) float64."""
    residual = candidates.diagonal
    least = tol * residual.max(initial=0.0)
    pivots: list[int] = []
    for j in range(room.shape[1]):
        p = first_of_largest(residual, room.dtype)
        if residual[p] <= least:
            break
        root = np.sqrt(residual[p])
        column = candidates.column(p)
        column -= room[:, :j] @ room[p, :j]
        column /= root
        column[pivots] = 0  # left by rounding
        column[p] = root
        room[:, j] = column
        residual -= np.square(column, dtype=np.float64)
        np.maximum(residual, 0, out=residual)
        residual[p] = 0
        pivots.append(p)
    return np.array(pivots, dtype=np.int64), residual


def first_of_largest(residual: Array, dtype: np.dtype[Any]) -> int:
    """Return the first entry that rounding cannot tell from the largest.

    The last bits of products depend on the number of threads; the choice must not.
    """
    slack = float(np.sqrt(np.finfo(dtype).eps))
    return int(np.argmax(residual >= (1 - slack) * residual.max()))


def best_of_samples(
    kernel: Kernel, X: Any, settings: IncompleteCholesky, random: np.random.RandomState
) -> Pivots:
    """Choose each pivot as the candidate with the largest residual in a random subset."""
    n, rank = X.shape[0], min(settings.rank, X.shape[0])
    size = min(settings.sample or n, n)
    least = settings.tol * float(np.max(kernel.diagonal(X), initial=0.0))
    triangle = np.zeros((rank, rank))
    pivots: list[int] = []
    misses = 0
    while len(pivots) < rank and misses < DRAWS:
        j = len(pivots)
        drawn = random.choice(n, size, replace=False)
        observations = widened(X[drawn])
        rows = np.zeros((size, 0))
        if j:
            cross = kernel.block(observations, widened(X[pivots]))
            rows = scipy.linalg.solve_triangular(triangle[:j, :j], cross.T, lower=True).T
        residual = kernel.diagonal(observations) - np.square(rows).sum(axis=1)
        residual[np.isin(drawn, pivots)] = 0
        best = first_of_largest(residual, np.dtype(np.float64))
        if residual[best] <= least:
            misses += 1
            continue
        misses = 0
        triangle[j, :j] = rows[best]
        triangle[j, j] = np.sqrt(residual[best])
        pivots.append(int(drawn[best]))
    return Pivots(np.array(pivots, dtype=np.int64), triangle[: len(pivots), : len(pivots)])
