"""The hinge loss over the local polytope of graphs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import GraphBatch, MergedCliques, Scores, StructureBatch, relaxed_argmax
from ._base import Loss, LossValue
from .augmented import AugmentedScores
from .log import require_allowed


class RelaxedMarginHinge(Loss):
    """Margin rescaling over the local polytope: its points are labellings, and more where there are cycles,

        max_μ ⟨θ + Δ, μ⟩ − score(y),      gradient  μ − parts(y).

    A *surrogate* of `MarginHinge`: never below it, equal on forests, and convex, so that its own optimum is
    certified [finley2008training]. Training with it teaches scores whose relaxation is a labelling.

    Parameters
    ----------
    structure : GraphBatch
        The batch; how it would find best labellings does not matter.
    outputs : (N,) integers
        The observed label of every vertex.
    cost : scores, optional
        Δ, as in `MarginHinge`.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    convex = True
    exact = False

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        cost: Scores | None = None,
        weights: Array | None = None,
    ) -> None:
        if not isinstance(structure, GraphBatch):
            raise UnsupportedError(
                f"The local polytope is of graphs, which {type(structure).__name__} is not."
            )
        self.structure: GraphBatch = structure
        self.outputs = np.ascontiguousarray(outputs, dtype=np.int32)
        self.weights = weights
        self._search = AugmentedScores(structure, {} if cost is None else cost)
        self.cost = self._search.cost
        self._cliques = MergedCliques(self._search.structure)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by a linear program for every instance."""
        observed = self.structure.score(scores, self.outputs)
        require_allowed(observed, self.structure.words)
        best = relaxed_argmax(self._cliques, self._search.of(scores), self.weights)
        gradient = self.structure.gathered(best.parts)
        self.structure.subtract_parts(gradient, self.outputs, self.weights)
        values = best.value - observed
        slack = self._weighted(best.bound - best.value)
        return LossValue(values, self._weighted(values), gradient, slack)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Zero, but where two corners of the polytope are as good."""
        return {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}

    def take(self, ids: npt.ArrayLike) -> RelaxedMarginHinge:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        outputs = self.structure.cut_outputs(self.outputs, ids)
        return RelaxedMarginHinge(self.structure.take(ids), outputs, self._search.take(ids), weights)

    def _weighted(self, values: Array) -> float:
        return float(values.sum() if self.weights is None else np.dot(values, self.weights))
