"""Fields by brute force: every labelling, and its score from tables."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np


def labellings(count: int, labels: int = 2) -> np.ndarray:
    return np.array(list(product(range(labels), repeat=count)))


def pair_scores(Z: np.ndarray, edges: Any, b: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Σ_v b[v, z_v] + Σ_e V[e, z_u, z_v], one number per labelling."""
    total = b[np.arange(Z.shape[1]), Z].sum(axis=1)
    for (u, v), table in zip(edges, V, strict=True):
        total = total + table[Z[:, u], Z[:, v]]
    return total


def ising(edges: Any, fields: Any, couplings: Any) -> np.ndarray:
    """p(z) ∝ exp(Σ h_v s_v + Σ J_e s_u s_v), s = ±1, over all labellings."""
    s = 2 * labellings(len(fields)) - 1
    score = s @ np.asarray(fields) + sum(
        J * s[:, u] * s[:, v] for (u, v), J in zip(edges, couplings, strict=True)
    )
    p = np.exp(score - score.max())
    return p / p.sum()


def couplings_of(tables: np.ndarray) -> np.ndarray:
    """J of pair tables: what is left when fields are taken out."""
    return (tables[..., 0, 0] + tables[..., 1, 1] - tables[..., 0, 1] - tables[..., 1, 0]) / 4
