"""What hinge losses share: each is the largest of many planes."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..structures import Scores, StructureBatch
from ._base import Loss, LossValue
from .log import require_allowed


class Planes(NamedTuple):
    """The planes that hinge losses touch at some scores θ, one per instance.

    Every output ŷ is a plane below the loss, b + s·(⟨θ, parts(ŷ)⟩ − ⟨θ, parts(y)⟩): a constraint of
    the structured SVM. That of y itself is zero.
    """

    outputs: Array
    """ŷ, flat: one label per vertex of the batch where vertices are labelled."""
    level: Array
    """b of every instance."""
    scale: Array
    """s of every instance."""
    value: Array
    """The plane at θ: the loss, where the search for the largest plane is exact."""
    excess: Array | None = None
    """At most how far the loss is above that, where the search is not exact; None for zero."""


class Hinge(Loss):
    """max_ŷ b(ŷ) + s(ŷ)·(score(ŷ) − score(y)), the loss of structured support vector machines.

    Convex and piecewise linear; its gradient is s·(parts(ŷ) − parts(y)) at the maximiser, its curvature
    zero wherever it has one.
    """

    convex = True
    maximum = True
    outputs: Array
    """y, what was observed."""
    weights: Array | None

    def _set_up(self, structure: StructureBatch, outputs: Array, weights: Array | None) -> None:
        """Take over what a constructor was given."""
        self.structure = structure
        self.outputs = np.ascontiguousarray(outputs, dtype=np.int32)
        self.weights = weights

    @abstractmethod
    def planes(self, scores: Scores) -> Planes:
        """Return the plane that is largest at some scores, for every instance."""

    @abstractmethod
    def take(self, ids: npt.ArrayLike) -> Self:
        """Return the loss of some instances only."""

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by one search for the largest plane of every instance."""
        planes = self.planes(scores)
        value, gradient = self.weighted(planes.value), self.gradient(planes)
        slack = 0.0 if planes.excess is None else self.weighted(planes.excess)
        return LossValue(planes.value, value, gradient, slack)

    def gradient(self, planes: Planes) -> dict[str, Array]:
        """Σ_i weight_i s_i (parts(ŷ) − parts(y)), in the shapes of the scores."""
        factor = planes.scale if self.weights is None else planes.scale * self.weights
        result = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        self.structure.subtract_parts(result, planes.outputs, -factor)
        self.structure.subtract_parts(result, self.outputs, factor)
        return result

    def weighted(self, values: Array) -> float:
        """Σ_i weight_i values_i."""
        return float(values.sum() if self.weights is None else np.dot(values, self.weights))

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Zero, but where two planes meet."""
        return {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}

    def _observed(self, scores: Scores) -> Array:
        """⟨θ, parts(y)⟩, allowed for every instance."""
        observed = self.structure.score(scores, self.outputs)
        require_allowed(observed, self.structure.words)
        return observed

    def _planes(self, scores: Scores, outputs: Array, level: Array, scale: Array, observed: Array) -> Planes:
        """Planes of given outputs; that of y wherever it is higher."""
        above = self.structure.score(scores, outputs) - observed
        value = level + scale * above
        used = value > 0
        return Planes(
            np.where(self.structure.per_output(used), outputs, self.outputs),
            np.where(used, level, 0.0),
            np.where(used, scale, 0.0),
            np.where(used, value, 0.0),
        )

    def _cut(self, ids: Array) -> tuple[StructureBatch, Array, Array | None]:
        """Structure, outputs and weights of some instances."""
        weights = None if self.weights is None else self.weights[ids]
        return self.structure.take(ids), self.structure.cut_outputs(self.outputs, ids), weights
