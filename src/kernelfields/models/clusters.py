"""First guesses of clusters, and what neighbours of a cluster are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ..constraints import Constraints
from ..data.base_measure import CliqueMeasures
from ..data.state_starts import k_means
from ..gram import unique_observations
from ..kernels import Kernel

LANDMARKS = 200
"""Observations that guesses compare all others with."""
LEAST = 1e-8
"""Share of the largest eigenvalue below which directions are rounding."""


def kernel_points(kernel: Kernel, observations: Any, random: np.random.RandomState) -> Array:
    """Return observations as points of a Euclidean space, (N, r), whose inner products are about the kernel.

    They are projections on the span of some observations, drawn at random.
    """
    distinct, rows = unique_observations(observations)
    n = distinct.shape[0]
    landmarks = distinct[np.sort(random.choice(n, min(n, LANDMARKS), replace=False))]
    values, vectors = scipy.linalg.eigh(np.asarray(kernel.block(landmarks, landmarks), dtype=np.float64))
    kept = values > LEAST * max(float(values[-1]), 0.0)
    cross = np.asarray(kernel.block(distinct, landmarks), dtype=np.float64)
    return np.asarray((cross @ (vectors[:, kept] / np.sqrt(values[kept])))[rows])


def guessed_clusters(
    points: Array, count: int, offsets: Array | None, random: np.random.RandomState
) -> Array:
    """Return the cluster of every point by k-means; with offsets, one for each sequence, of its mean."""
    if offsets is None:
        return k_means(points, count, random)
    lengths = np.diff(offsets)
    sums = np.vstack([np.zeros(points.shape[1]), np.cumsum(points, axis=0)])
    means = (sums[offsets[1:]] - sums[offsets[:-1]]) / np.maximum(lengths, 1)[:, None]
    return np.repeat(k_means(means, count, random), lengths)


def random_clusters(size: int, count: int, offsets: Array | None, random: np.random.RandomState) -> Array:
    """Return a cluster at random for every point; with offsets, one for each sequence."""
    if offsets is None:
        return np.asarray(random.randint(count, size=size))
    return np.repeat(random.randint(count, size=len(offsets) - 1), np.diff(offsets))


def persistence(stay: float, count: int) -> CliqueMeasures:
    """Return log-probabilities of neighbours: equal with probability ``stay``, else any other cluster."""
    leave = np.log((1.0 - stay) / max(count - 1, 1))
    return CliqueMeasures(edge=np.where(np.eye(count, dtype=bool), np.log(stay), leave))


def no_change(count: int) -> Constraints:
    """Return the rule that all vertices of an instance are in one cluster."""
    return Constraints([(a, b) for a in range(count) for b in range(count) if a != b])
