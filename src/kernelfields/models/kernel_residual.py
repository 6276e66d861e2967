"""What a basis of kernel functions cannot say about new observations: the rest of the prior."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..errors import ScoreError
from ..kernels import Kernel
from ..observations import in_precision
from .model import ScoredBatch
from .vertex_kernels import VertexKernels

JITTER = 1e-6
LONGEST = 256
"""Positions that are drawn together: of longer sequences, pieces of this length are independent."""
TOGETHER = 1024
"""Positions whose products with the basis are computed at once."""


class KernelResidual(NamedTuple):
    """k(x, x′) − k_B(x)ᵀ K_BB⁻¹ k_B(x′): the covariance of what is orthogonal to all functions of the basis.

    A posterior does not change it, since no observed score depends on it.
    """

    kernel: Kernel
    basis: Any
    factor: Array
    """C with C Cᵀ = K_BB."""
    penalty: float

    @classmethod
    def of(cls, model: Any) -> KernelResidual | None:
        """Return that of a fitted model; None where it has no kernel expansion with one kernel."""
        known = vars(model)
        if "_residual" in known:
            kept: KernelResidual | None = known["_residual"]
            return kept
        kernels, basis = known.get("_kernels"), known.get("basis_")
        if not isinstance(kernels, VertexKernels) or basis is None:
            return None
        found = None
        if kernels.groups[0].labels is None:
            K = np.asarray(kernels.kernel.block(basis, basis), dtype=np.float64)
            K[np.diag_indices(len(K))] += JITTER * max(float(np.trace(K)) / max(len(K), 1), 1e-300)
            found = cls(kernels.kernel, basis, np.linalg.cholesky(K), kernels.penalty)
        known["_residual"] = found
        return found

    def factors(self, scored: ScoredBatch) -> ResidualNoise:
        """Return what noise at the observations of a batch is made of."""
        observations = in_precision(scored.inputs.features, self.basis.dtype)
        roots: list[Array] = []
        for group in _groups(scored.batch.offsets):
            first, last = group[0][0], group[-1][1]
            inside = self._inside(observations[first:last])
            for begin, end in group:
                roots.append(self._root(observations[begin:end], inside[:, begin - first : end - first]))
        return ResidualNoise(roots)

    def _inside(self, observations: Any) -> Array:
        """C⁻¹ k_B(x), (n, N)."""
        across = np.asarray(self.kernel.block(observations, self.basis), dtype=np.float64)
        return np.asarray(scipy.linalg.solve_triangular(self.factor, across.T, lower=True))

    def _root(self, observations: Any, inside: Array) -> Array:
        """Return a root of the covariance at some observations."""
        here = np.asarray(self.kernel.block(observations, observations), dtype=np.float64)
        rest = (here - inside.T @ inside) / self.penalty
        if not np.isfinite(rest).all():
            raise ScoreError("The covariance of the posterior is NaN or infinite at some observations.")
        values, vectors = np.linalg.eigh(rest)  # rounding leaves eigenvalues just below zero
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _groups(offsets: Array) -> Iterator[list[tuple[int, int]]]:
    """Yield pieces of sequences, as many at a time as make a product with the factor worth its while."""
    group: list[tuple[int, int]] = []
    for begin, end in pairwise(offsets.tolist()):
        for first in range(begin, end, LONGEST):
            group.append((first, min(first + LONGEST, end)))
            if group[-1][1] - group[0][0] >= TOGETHER:
                yield group
                group = []
    if group:
        yield group


class ResidualNoise(NamedTuple):
    """Roots of the covariances of pieces of sequences."""

    roots: list[Array]

    def drawn(self, number: int, seed: int, shape: tuple[int, ...]) -> Array:
        """Return noise for every position and label.

        Pieces of one draw have the same white noise, so that what is said of a sequence does not depend on
        what else is in the batch.
        """
        width = int(np.prod(shape[1:]))
        longest = max((len(root) for root in self.roots), default=0)
        white = np.random.default_rng([seed, number]).standard_normal((longest, width))
        pieces = [root @ white[: len(root)] for root in self.roots]
        return np.concatenate([np.zeros((0, width)), *pieces]).reshape(shape)
