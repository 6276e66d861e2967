"""The hinge loss with margin rescaling."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..structures import MaxOracle, Scores, StructureBatch, bounded_argmax, require_max
from ._hinge_base import Hinge, Planes
from .augmented import AugmentedScores


class MarginHinge(Hinge):
    """Margin rescaling: what costs more must score less by more,

        max_ŷ [Δ(y, ŷ) + score(ŷ)] − score(y),      gradient  parts(ŷ) − parts(y).

    The cost adds up over cliques, so that the search is an argmax of θ + Δ. Never below the cost of
    the best output argmax θ. Without a cost this is the loss of the perceptron.

    Where the structure only looks for its best output, the planes it finds are still below the loss, and
    the bounds of the search above it [finley2008training]: ``slack`` says how far apart they are, so that
    certificates stand for the loss itself, with a gap that only outputs proved best can close.

    Parameters
    ----------
    structure : MaxOracle or ApproximateMax
        The batch.
    outputs : integers
        What was observed, flat: the label of every vertex where vertices are labelled.
    cost : scores, optional
        Δ(y, ·) of every label at a vertex, ``"node"`` (N, L), of every pair at an edge, ``"edge"``
        (E, L, L), also where edges share scores, and of whatever other cliques the structure has, with a
        row for each or in the shape of their scores; what is not given costs nothing. It is counted from
        the cost of what was observed.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        cost: Scores | None = None,
        weights: Array | None = None,
    ) -> None:
        self._set_up(structure, outputs, weights)
        self._search = AugmentedScores(
            require_max(structure, "Margin rescaling"), {} if cost is None else cost
        )
        self.cost = self._search.cost
        self._own_cost = self._search.total(self.outputs)

    def planes(self, scores: Scores) -> Planes:
        """By one cost-augmented search."""
        observed = self._observed(scores)
        found = bounded_argmax(self._search.structure, self._search.of(scores))
        there = np.isfinite(found.value)
        outputs = np.where(self.structure.per_output(there), found.labels, self.outputs)
        planes = self._planes(scores, outputs, self.total_cost(outputs), np.ones(len(observed)), observed)
        if isinstance(self.structure, MaxOracle):
            return planes
        above = np.maximum(found.bound - self._own_cost - observed - planes.value, 0.0)
        return planes._replace(excess=np.where(found.certified, 0.0, above))

    def total_cost(self, outputs: Array) -> Array:
        """Δ(y, ŷ) of every instance."""
        return self._search.total(np.ascontiguousarray(outputs, dtype=np.int32)) - self._own_cost

    def take(self, ids: npt.ArrayLike) -> MarginHinge:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        structure, outputs, weights = self._cut(ids)
        return MarginHinge(structure, outputs, self._search.take(ids), weights)
