"""Fields without labels, fitted from several starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..checks import (
    Check,
    chosen,
    one_of,
    optional,
    proper_share,
    require_not_negative,
    require_settings,
    shown,
    whole,
)
from ..constraints import Constraints
from ..data.base_measure import CliqueMeasures
from ..data.reading import read_to_fit
from ..data.seeds import random_state
from ..data.state_starts import k_means
from ..data.types import Items, Lengths, Outputs, Weights
from ..errors import InputError
from ..fitting.run import precision_of
from ..fitting.settings import CHECKS
from ..gram import unique_observations
from ..kernels import Kernel, as_kernel
from ..losses import InformationMaximisation
from ..observations import in_precision
from ..tables import APPROXIMATIONS, structure_of
from .parts import FixedScores, Parts
from .vertex_kernels import takes_objects

LANDMARKS = 200
"""Observations that guesses compare all others with."""
LEAST = 1e-8
"""Share of the largest eigenvalue below which directions are rounding."""
CLUSTER_CHECKS: Mapping[str, Check] = {
    **CHECKS,
    "n_clusters": whole(2, 10_000),
    "stay": proper_share,
    "balance": require_not_negative,
    "basis": optional(chosen(APPROXIMATIONS)),
    "start": one_of(["kmeans", "random"]),
}


class Clusters(NamedTuple):
    """What several starts led to."""

    model: Any
    """The one with the lowest objective."""
    objectives: list[float]


def fit_clusters(
    settings: Any,
    make: Callable[..., Any],
    X: Items,
    y: Outputs | None,
    lengths: Lengths,
    sample_weight: Weights,
    *,
    structure: Any,
    stay: float,
) -> Clusters:
    """Fit a model of clusters from every start; with ``stay`` = 1, of whole sequences.

    ``settings`` is the estimator that has them, ``make`` the class of the model.
    """
    name = type(settings).__name__
    if y is not None:
        raise InputError(f"y is {shown(y)}; {name} learns without labels, and takes None only.")
    require_settings(vars(settings), CLUSTER_CHECKS)
    verbatim, count = takes_objects(settings.kernel), settings.n_clusters
    structure = structure_of(structure)
    inputs, _ = read_to_fit(structure, settings.features, X, lengths, verbatim=verbatim)
    whole_ones, random = stay == 1, random_state(settings.random_state)
    items = int((np.diff(inputs.offsets) > 0).sum() if whole_ones else inputs.offsets[-1])
    if items < count:
        what = structure.words.items if whole_ones else structure.words.places
        raise InputError(f"X has {items} {what}, fewer than n_clusters={count}.")
    observations, offsets = in_precision(inputs.features, precision_of(settings.run)), inputs.offsets
    kernel, together = as_kernel(settings.kernel).on(observations), offsets if whole_ones else None
    by_size = settings.start == "random"
    points = None if by_size else kernel_points(kernel, observations, random)
    models = []
    for _ in range(settings.n_init):
        guess = (
            random_clusters(int(offsets[-1]), count, together, random)
            if points is None
            else guessed_clusters(points, count, together, random)
        )
        parts = [one.tolist() for one in np.split(guess, offsets[1:-1])]
        model = make(kernel, **_options(settings, structure, stay))
        guesses = structure.shaped(parts, inputs.links)
        models.append(model.fit(X, guesses, lengths=lengths, sample_weight=sample_weight))
    objectives = [model.objective_ for model in models]
    return Clusters(models[int(np.argmin(objectives))], objectives)


def _options(settings: Any, structure: Any, stay: float) -> dict[str, Any]:
    """Return the settings of a model of clusters."""
    count = settings.n_clusters
    known = {} if stay == 1 else {"stay": FixedScores(persistence(float(stay), count))}
    handed_on = ("penalty", "features", "basis", "tol", "max_iter", "random_state", "run", "verbose")
    return {
        **{name: getattr(settings, name) for name in handed_on},
        "structure": structure,
        "classes": list(range(count)),
        "loss": InformationMaximisation(float(settings.balance), by_instance=stay == 1),
        "parts": Parts(boundaries=None, edges=None, **known),
        "constraints": no_change(count) if stay == 1 else None,
        "decoder": "posterior",
    }


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
