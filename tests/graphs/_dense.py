"""Small graphs, and dense solutions that share no code with the package."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def random_graph(n: int, seed: int, *, directed: bool = False, weighted: bool = True) -> sparse.csr_matrix:
    """A few neighbours for every vertex, along a line with some shortcuts."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, n))
    for i in range(n):
        for j in {(i + 1) % n, (i + 2) % n, int(rng.integers(n))} - {i}:
            dense[i, j] = rng.uniform(0.5, 2) if weighted else 1.0
    if not directed:
        dense = np.maximum(dense, dense.T)
    return sparse.csr_matrix(dense)


def indicators(labels: np.ndarray) -> np.ndarray:
    result = np.zeros((len(labels), labels.max() + 1))
    known = np.flatnonzero(labels >= 0)
    result[known, labels[known]] = 1
    return result


def rows_to_one(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return values / values.sum(axis=1, keepdims=True)


def dense_spread(weights: np.ndarray, labels: np.ndarray, alpha: float) -> np.ndarray:
    """(I − α D^−½ A D^−½)⁻¹ y by a dense solver."""
    weights = weights - np.diag(np.diag(weights))
    degrees = weights.sum(axis=0)
    roots = np.sqrt(np.where(degrees > 0, degrees, 1))
    S = weights / roots[:, None] / roots
    return rows_to_one(np.linalg.solve(np.eye(len(S)) - alpha * S, indicators(labels)))


def dense_harmonic(weights: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(D_UU − A_UU)⁻¹ A_UL y_L by a dense solver [zhu2003, (5)]."""
    weights = weights - np.diag(np.diag(weights))
    free, result = labels < 0, indicators(labels)
    L = np.diag(weights.sum(axis=1)) - weights
    known = weights[np.ix_(free, ~free)] @ result[~free]
    result[free] = np.linalg.solve(L[np.ix_(free, free)], known)
    return result
