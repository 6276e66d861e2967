"""Kernel models that need no expansion over all observations: those of few features, or in a subspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import sparse

from ..approximation import Approximation, FourierMap, ObservationMap
from ..arrays import Array
from ..data.seeds import random_state
from ..errors import InputError
from ..kernels import Kernel, Linear
from ..kernels.feature_map import features_of
from ..objective import Problem, Term
from ..observations import in_precision
from ..spaces import LinearFeatures, LowRank
from .kernel_training import KernelTraining
from .terms import answer_features

SPAN = 1e-10
"""Share of the largest pivot below which features count as linearly dependent."""


class WeightMap(ObservationMap):
    """x ↦ φ(x): what weights are multiplied with."""

    def __init__(self, features: Callable[[Any], Any], size: int) -> None:
        self.features, self.size = features, size

    def columns(self, X: Any) -> Any:
        """Return the features."""
        return self.features(X)


class Spanned(NamedTuple):
    """Observations whose features span those of all: weights are an expansion over them."""

    observations: Any
    features: Array
    """(n, m), linearly independent rows."""

    def coefficients(self, weights: Array) -> Array:
        """Return α with Φᵀα = w: Σ_o k(x, x_o) α_o = ⟨φ(x), w⟩."""
        return np.asarray(scipy.linalg.lstsq(self.features.T, weights)[0])


def feature_map(kernel: Kernel) -> Callable[[Any], Any] | None:
    """Return φ with k(x, x′) = ⟨φ(x), φ(x′)⟩; None for kernels that do not say one."""
    return (lambda X: X) if type(kernel) is Linear else features_of(kernel)


def unit_vectors(like: Any) -> Any:
    """Return one for each feature of some observations, stored as these are."""
    if sparse.issparse(like):
        return sparse.identity(like.shape[1], dtype=like.dtype, format="csr")
    return np.eye(like.shape[1], dtype=like.dtype)


def takes_weights(data: KernelTraining) -> bool:
    """Whether a model with one kernel has fewer features than there are observations.

    Both spaces hold the same functions with the same norm; m weights take m/N of the time and memory of N
    coefficients.
    """
    recipe, observations = data.recipe, data.observations
    plain = data.edge_kernel is None and not recipe.further_looks and recipe.label_kernel is None
    one = len(data.kernels.groups) == 1 and data.kernels.groups[0].labels is None
    if not (plain and one and recipe.approximation is None and observations.ndim == 2):
        return False
    linear, features = type(data.kernels.kernel) is Linear, feature_map(data.kernels.kernel)
    if features is None or (recipe.norms and not linear):
        return False
    return bool(features(observations[:1]).shape[1] < observations.shape[0])


def weights_problem(data: KernelTraining) -> Problem:
    """Return the objective of a linear kernel, a function of weights and of the scores of labels alone."""
    dtype = data.precision
    # rounded as an expansion over observations is, whatever the search works in
    rounded = in_precision(data.training.inputs.features, data.observations.dtype)
    features = in_precision(rounded, dtype)
    space = answer_features(data.training.batch, features, fast=True)
    return data.problem([Term("kernel", space, data.kernels.penalty)], dtype)


def features_problem(data: KernelTraining, features: Array, dtype: np.dtype[Any]) -> Problem:
    """Return the same for the features of observations, (n, m)."""
    batch = data.training.batch
    space = LinearFeatures(batch, batch.answer, features.astype(dtype, copy=False), data.rows)
    return data.problem([Term("kernel", space, data.kernels.penalty)], dtype)


def spanned(observations: Any, features: Array) -> Spanned:
    """Choose observations by the pivots of a QR factorisation: each adds most to the span of the others."""
    triangle, pivots = scipy.linalg.qr(features.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    rank = int((sizes > SPAN * sizes.max(initial=0.0)).sum())
    chosen = np.sort(pivots[:rank])
    return Spanned(observations[chosen], features[chosen])


def low_rank_problem(
    data: KernelTraining, approximation: Approximation
) -> tuple[Problem, tuple[ObservationMap, ...]]:
    """Return the objective on the subspaces of an approximation, with the map of each of its first terms."""
    recipe = data.recipe
    random = random_state(recipe.random_state)
    found = {
        key: approximation.on(kernel, data.observations, random, recipe.run.memory_limit)
        for key, kernel in data.distinct_kernels.items()
    }
    maps = tuple(found[id(kernel)].map for kernel in data.every_kernel)
    if len(set(maps)) > 1 and isinstance(maps[0], FourierMap):
        raise InputError("Random Fourier features stand for one kernel only, not for several.")
    factors = {key: one.factor for key, one in found.items()}
    return data.problem(data.terms(LowRank, factors)), maps
