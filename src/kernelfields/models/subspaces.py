"""Kernel models that need no expansion over all observations: linear ones, and those in a subspace."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..approximation import FourierMap, ObservationMap
from ..data.seeds import random_state
from ..errors import InputError
from ..objective import Problem, Term
from ..spaces import LowRank
from ..tables import APPROXIMATIONS, choose
from .kernel_recipe import KernelTraining, in_precision
from .terms import answer_features


class WeightMap(ObservationMap):
    """x ↦ x: the values of the linear kernel with the unit vectors, which are the basis of a linear model."""

    def __init__(self, n_features: int) -> None:
        self.size = n_features

    def columns(self, X: Any) -> Any:
        """Return the observations themselves."""
        return X


def unit_vectors(like: Any) -> Any:
    """Return one for each feature of some observations, stored as these are."""
    if sparse.issparse(like):
        return sparse.identity(like.shape[1], dtype=like.dtype, format="csr")
    return np.eye(like.shape[1], dtype=like.dtype)


def takes_weights(data: KernelTraining) -> bool:
    """Whether a model with a linear kernel has fewer features than there are observations.

    Both spaces hold the same functions with the same norm; D weights take D/N of the time and memory of N
    coefficients.
    """
    recipe, shape = data.recipe, data.observations.shape
    plain = data.edge_kernel is None and not recipe.clique_kernels and recipe.label_kernel is None
    one = len(data.kernels.groups) == 1 and data.kernels.groups[0].labels is None
    return plain and one and recipe.approximation is None and len(shape) == 2 and shape[1] < shape[0]


def weights_problem(data: KernelTraining) -> Problem:
    """Return the objective, a function of weights and of the scores of labels alone."""
    dtype = data.precision
    features = in_precision(data.training.inputs.features, dtype)
    space = answer_features(data.training.chain, features, fast=True)
    return data.problem([Term("kernel", space, data.kernels.penalty)], dtype)


def low_rank_problem(data: KernelTraining) -> tuple[Problem, tuple[ObservationMap, ...]]:
    """Return the objective on the subspaces of an approximation, with the map of each of its first terms."""
    recipe = data.recipe
    settings = choose(APPROXIMATIONS, recipe.approximation, "approximation")
    random = random_state(recipe.random_state)
    found = {
        key: settings.on(kernel, data.observations, random, recipe.memory_limit)
        for key, kernel in data.distinct_kernels.items()
    }
    maps = tuple(found[id(kernel)].map for kernel in data.every_kernel)
    if len(set(maps)) > 1 and isinstance(maps[0], FourierMap):
        raise InputError("Random Fourier features stand for one kernel only, not for several.")
    factors = {key: one.factor for key, one in found.items()}
    return data.problem(data.terms(LowRank, factors)), maps
