"""Kernel models whose kernel is linear: the space of weights instead of an expansion over observations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..approximation import ObservationMap
from ..data.training import Training
from ..kernels import Linear
from ..objective import Problem, Term
from .kernel_problem import fixed_scores, in_precision, search_precision
from .kernel_recipe import KernelRecipe
from .norms import read_norms, with_norms
from .terms import answer_features
from .vertex_kernels import VertexKernels


class WeightMap(ObservationMap):
    """x ↦ x: the values of the linear kernel with the unit vectors, which are the basis of a linear model."""

    def __init__(self, n_features: int, like: Any) -> None:
        self.size = n_features
        self.like = like

    @cached_property
    def basis(self) -> Any:
        """The unit vectors, as the observations are stored."""
        if sparse.issparse(self.like):
            return sparse.identity(self.size, dtype=self.like.dtype, format="csr")
        return np.eye(self.size, dtype=self.like.dtype)

    def columns(self, X: Any) -> Any:
        """Return the observations themselves."""
        return X


def takes_weights(recipe: KernelRecipe, kernels: VertexKernels, observations: Any) -> bool:
    """Whether the model is linear in fewer features than there are observations.

    Both spaces hold the same functions with the same norm; D weights take D/N of the time and memory of N
    coefficients.
    """
    plain = (
        recipe.edge_kernel is None
        and not recipe.clique_kernels
        and recipe.label_kernel is None
        and recipe.approximation is None
    )
    if not plain or len(kernels.groups) != 1 or kernels.groups[0].labels is not None:
        return False
    few = observations.ndim == 2 and observations.shape[1] < observations.shape[0]
    return few and type(kernels.kernel) is Linear


def weights_problem(recipe: KernelRecipe, training: Training, kernels: VertexKernels) -> Problem:
    """Return the objective, a function of weights and of the scores of labels alone."""
    chain = training.chain
    dtype = search_precision(recipe, training, training.inputs.features)
    features = in_precision(training.inputs.features, dtype)
    space = answer_features(chain, features, fast=True)
    terms = [Term("kernel", space, kernels.penalty), *recipe.free_terms(chain)]
    offset = fixed_scores(recipe, training)
    if offset is not None:
        offset = {clique: values.astype(dtype) for clique, values in offset.items()}
    return Problem.of(training.loss, with_norms(terms, read_norms(recipe.norms)), offset, dtype, dtype)
