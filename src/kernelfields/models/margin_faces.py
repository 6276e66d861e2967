"""The two kinds of functions that a structured SVM can have: linear ones, and kernel expansions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.training import Training
from ..gram import unique_observations
from ..objective import L1Norm, Point, Problem
from ..observations import in_precision
from ..structures import StructureBatch
from .attributes import keep_scorers
from .expansion import Expanded, expand, gather
from .kernel_recipe import KernelRecipe, KernelTraining, fixed_scores
from .parts import BoundParts, LinearScores, Part, PartData, Parts, compose, feature_parts, free_parts
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
        features, random = as_doubles(training.inputs.features), self.recipe.random_state
        data = PartData(training.chain, features, random=random, fast=False)
        parts = BoundParts.of(self._parts(training.chain), data)
        problem = Problem.of(training.loss, parts.terms(), offset)
        return Expanded(problem, problem.exact, others=parts)

    def keep(self, model: Any, point: Point, expanded: Expanded, classes: Array) -> None:
        """Make the weights attributes of the model."""
        assert expanded.others is not None
        keep_scorers(model, expanded.others.scorers(point.problem, point.element), len(classes))

    def _parts(self, batch: StructureBatch) -> dict[str, Part]:
        given = Parts({**self.recipe.further, "features": self.recipe.parts.get("features", LinearScores())})
        defaults = {"features": LinearScores(), **free_parts(batch), **feature_parts(batch)}
        parts = compose(defaults, given, self.recipe.first_penalty)
        if not self.l1:
            return parts
        return {
            name: replace(one, penalty=0.0, norm=L1Norm(float(one.penalty or 0.0)))
            for name, one in parts.items()
        }


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
        assert expanded.others is not None
        keep_scorers(model, expanded.others.scorers(point.problem, point.element), len(classes))


def as_doubles(features: Any) -> Any:
    """Return features in double precision."""
    return features.astype(np.float64, copy=False)
