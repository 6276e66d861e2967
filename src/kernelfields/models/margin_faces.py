"""The two kinds of functions that a structured SVM can have: linear ones, and kernel expansions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.training import Training
from ..gram import unique_observations
from ..objective import L1Norm, Point, Problem, Term
from ..structures import EdgeBatch
from .expansion import Expanded, expand, gather
from .kernel_recipe import KernelRecipe, KernelTraining, fixed_scores, in_precision
from .linear_problem import LinearWeights
from .terms import answer_features, free_weights, sibling_terms
from .vertex_kernels import VertexKernels


@dataclass(frozen=True)
class Face(ABC):
    """How functions of the input are learnt, kept, and asked."""

    recipe: KernelRecipe

    @abstractmethod
    def expanded(self, training: Training) -> Expanded:
        """Return the objective."""

    @abstractmethod
    def keep(self, model: Any, point: Point, expanded: Expanded, classes: Array) -> None:
        """Make what was found attributes of the model."""


@dataclass(frozen=True)
class LinearFace(Face):
    """⟨w_y, x⟩: the model has ``coef_``."""

    l1: bool = False
    """Whether penalties are λ‖w‖₁ instead of (λ/2)‖w‖²."""

    def expanded(self, training: Training) -> Expanded:
        """Return the objective."""
        offset = fixed_scores(self.recipe, training)
        terms = self._terms(training.chain, as_doubles(training.inputs.features))
        problem = Problem.of(training.loss, terms, offset)
        return Expanded(problem, problem.exact)

    def keep(self, model: Any, point: Point, expanded: Expanded, classes: Array) -> None:
        """Make the weights attributes of the model."""
        LinearWeights.of(point.problem, point.element, len(classes)).put(model)

    def _terms(self, chain: EdgeBatch, features: Any) -> list[Term]:
        nodes = Term("features", answer_features(chain, features), self.recipe.penalties.node)
        terms = [nodes, *self.recipe.free_terms(chain), *sibling_terms(chain, self.recipe.penalties)]
        return [replace(term, penalty=0.0, norm=L1Norm(term.penalty)) for term in terms] if self.l1 else terms


class KernelFace(Face):
    """Σ_o k(x, x_o) α_{o,y}: the model has ``basis_`` and ``dual_coef_``."""

    def expanded(self, training: Training) -> Expanded:
        """Return the objective."""
        recipe = self.recipe.on(self.recipe.observations(training))
        kernels = VertexKernels.of(recipe.kernel, recipe.penalty, training.encoded.classes)
        observations, rows = unique_observations(in_precision(training.inputs.features, recipe.dtype))
        # support vectors are what a linear kernel is asked for here: without a kernel there are weights
        return expand(KernelTraining(recipe, training, observations, rows, kernels), weights=False)

    def keep(self, model: Any, point: Point, expanded: Expanded, classes: Array) -> None:
        """Make the support vectors and their coefficients attributes of the model."""
        assert expanded.kernels is not None
        model._kernels = expanded.kernels
        model.kernel_ = model._kernels.by_label(classes)
        model.basis_, model.dual_coef_, _ = gather(point, expanded.bases)
        for name, value in free_weights(point.element, point.problem.slices, len(classes)).items():
            setattr(model, f"{name}_", value)


def as_doubles(features: Any) -> Any:
    """Return features in double precision."""
    return features.astype(np.float64, copy=False)
