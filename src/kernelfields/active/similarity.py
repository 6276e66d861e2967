"""How alike positions or whole sequences are, by a kernel of observations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..arrays import Array, rows_of
from ..kernels import Kernel

CHUNK = 2000
"""Rows of a block at a time, so that no block of a large pool is ever whole."""


class Similarity(ABC):
    """Cosines in the space of a kernel, between the things that can be asked."""

    def block(self, left: Array, right: Array) -> Array:
        """Return ⟨φ_i, φ_j⟩/(‖φ_i‖‖φ_j‖) for all pairs; 0 where something is 0."""
        scale = np.sqrt(np.outer(self.squares[left], self.squares[right]))
        raw = self._products(left, right)
        return np.divide(raw, scale, out=np.zeros_like(scale), where=scale > 0)

    @property
    @abstractmethod
    def squares(self) -> Array:
        """‖φ_i‖² of everything."""

    @abstractmethod
    def _products(self, left: Array, right: Array) -> Array:
        """Return ⟨φ_i, φ_j⟩."""


class PositionSimilarity(Similarity):
    """Of positions: k(x_t, x_u), normalised.

    Parameters
    ----------
    kernel : Kernel
        k.
    features : (N, D) array or matrix
        All positions.
    """

    def __init__(self, kernel: Kernel, features: Any) -> None:
        self._kernel, self._features = kernel, features
        self._squares = np.asarray(kernel.diagonal(features), dtype=np.float64)

    @property
    def squares(self) -> Array:
        """k(x, x)."""
        return self._squares

    def _products(self, left: Array, right: Array) -> Array:
        return np.asarray(self._kernel.block(self._features[left], self._features[right]), dtype=np.float64)


class SequenceSimilarity(Similarity):
    """Of sequences: inner products of their mean maps, (1/TT′) Σ_t Σ_u k(x_t, x′_u), normalised.

    Parameters
    ----------
    kernel : Kernel
        k.
    features : (N, D) array or matrix
        All positions.
    offsets : (S + 1,) array
        Where sequences start.
    """

    def __init__(self, kernel: Kernel, features: Any, offsets: Array) -> None:
        self._kernel, self._features, self._offsets = kernel, features, offsets
        self._squares = np.array([self._square(s) for s in range(len(offsets) - 1)])

    @property
    def squares(self) -> Array:
        """Squared norms of the mean maps."""
        return self._squares

    def _square(self, s: int) -> float:
        rows = self._features[int(self._offsets[s]) : int(self._offsets[s + 1])]
        return float(np.mean(self._kernel.block(rows, rows))) if rows.shape[0] else 0.0

    def _products(self, left: Array, right: Array) -> Array:
        result = np.zeros((len(left), len(right)))
        rows = self._features[rows_of(self._offsets, right)]
        ends = np.cumsum(self._lengths(right))
        for i, s in enumerate(left.tolist()):
            own = self._features[int(self._offsets[s]) : int(self._offsets[s + 1])]
            if own.shape[0] and rows.shape[0]:
                means = np.asarray(self._kernel.block(own, rows), dtype=np.float64).mean(axis=0)
                sums = np.diff(np.concatenate([[0.0], np.cumsum(means)])[np.concatenate([[0], ends])])
                result[i] = sums / np.maximum(self._lengths(right), 1)
        return result

    def _lengths(self, ids: Array) -> Array:
        return np.diff(self._offsets)[ids]


def mean_similarity(similarity: Similarity, ids: Array, reference: Array) -> Array:
    """Return the mean similarity of each of some things to others, a piece at a time."""
    pieces = [similarity.block(ids[a : a + CHUNK], reference).mean(axis=1) for a in range(0, len(ids), CHUNK)]
    return np.concatenate(pieces) if pieces else np.zeros(0)
