"""Where the eigenvalues of a large Laplacian lie, from products with a few random vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from .products import LaplacianProducts

STEPS, MOST = 80, 1280
"""Steps of Lanczos' recursion, at first and at most: near the ends, s steps resolve (π/s)²/4 of the range."""
VECTORS = 8
"""Random vectors; a count of n has a standard deviation of √(2n/VECTORS)."""


class SpectrumEstimate(NamedTuple):
    """A distribution of eigenvalues, those of the null space left out."""

    nodes: Array
    """Eigenvalues, rising."""
    counts: Array
    """How many eigenvalues there are up to each node, about."""
    upper: float
    """Bound of the largest eigenvalue."""

    def value_at(self, count: float) -> float:
        """Return the eigenvalue below which there are about so many."""
        return float(np.interp(count, self.counts, self.nodes))


def spectrum_of(products: LaplacianProducts, count: float, rng: np.random.Generator) -> SpectrumEstimate:
    """Estimate the spectrum so well that the eigenvalue with ``count`` below it can be told from 0."""
    steps = STEPS
    while True:
        found = _estimate(products, min(steps, products.size - products.nullity - 1), rng)
        if found.value_at(count) > 10 * found.upper / steps**2 or steps >= MOST:
            return found
        steps *= 4


def _estimate(products: LaplacianProducts, steps: int, rng: np.random.Generator) -> SpectrumEstimate:
    """Return Gauss quadrature by Lanczos' tridiagonal matrices [golub1969; ubaru2017]."""
    q = products.orthogonal_to_null(rng.normal(size=(products.size, VECTORS)))
    q /= np.linalg.norm(q, axis=0)
    before, beta = np.zeros_like(q), np.zeros(VECTORS)
    diagonals, sides = [], []
    for _ in range(steps):
        r = products.times(q) - beta * before
        alpha = np.einsum("ij,ij->j", q, r)
        r -= alpha * q
        beta = np.linalg.norm(r, axis=0)
        diagonals.append(alpha)
        sides.append(beta)
        before, q = q, r / np.maximum(beta, np.finfo(float).tiny)
    return _quadrature(np.array(diagonals), np.array(sides), products.size - products.nullity)


def _quadrature(diagonals: Array, sides: Array, total: int) -> SpectrumEstimate:
    nodes, weights, upper = [], [], 0.0
    for alpha, beta in zip(diagonals.T, sides.T, strict=True):
        values, vectors = scipy.linalg.eigh_tridiagonal(alpha, beta[:-1])
        nodes.append(values)
        weights.append(vectors[0] ** 2 * total / VECTORS)
        upper = max(upper, float(values[-1] + beta[-1] * abs(vectors[-1, -1])))
    where, counts = np.concatenate(nodes), np.concatenate(weights)
    order = np.argsort(where)
    return SpectrumEstimate(where[order], np.cumsum(counts[order]), upper)
