"""The hinge loss with margin rescaling."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..structures import MaxOracle, Scores, StructureBatch
from ._hinge_base import Hinge, Planes


class MarginHinge(Hinge):
    """Margin rescaling: what costs more must score less by more,

        max_ŷ [Δ(y, ŷ) + score(ŷ)] − score(y),      gradient  parts(ŷ) − parts(y).

    The cost adds up over cliques, so that the search is an argmax of θ + Δ. Never below the cost of
    the best labelling argmax θ. Without a cost this is the loss of the perceptron.

    Parameters
    ----------
    structure : MaxOracle
        The batch.
    labels : (N,) integers
        The observed label of every vertex.
    cost : scores, optional
        Δ(y, ·) of every label at a vertex, ``"node"`` (N, L), of every pair at an edge, ``"edge"``
        (E, L, L), also where edges share scores, and of whatever other cliques the structure has, in the
        shapes of their scores; what is not given costs nothing.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    def __init__(
        self,
        structure: StructureBatch,
        labels: Array,
        cost: Scores | None = None,
        weights: Array | None = None,
    ) -> None:
        if not isinstance(structure, MaxOracle):
            raise TypeError(
                f"Margin rescaling needs the best labelling, which {type(structure).__name__} does not give."
            )
        self._set_up(structure, labels, weights)
        self.cost = {} if cost is None else dict(cost)
        for clique in self.cost.keys() - structure.shapes.keys():
            raise InputError(f"cost has {clique!r}, which {type(structure).__name__} does not have.")
        self._search = self._searched(structure)

    def planes(self, scores: Scores) -> Planes:
        """By one cost-augmented search."""
        observed = self._observed(scores)
        labels = self._search.argmax(self._augmented(scores)).labels
        return self._planes(scores, labels, self.total_cost(labels), np.ones(len(observed)), observed)

    def total_cost(self, labels: Array) -> Array:
        """Δ(y, ŷ) of every instance."""
        cost = {clique: np.ascontiguousarray(values) for clique, values in self._costs().items()}
        return np.asarray(self._search.score(cost, np.ascontiguousarray(labels, dtype=np.int32)))

    def take(self, ids: npt.ArrayLike) -> MarginHinge:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        structure, labels, weights, _ = self._cut(ids)
        parts = self._search.cut(self._costs(), ids)  # of every clique type, whatever the structure has
        return MarginHinge(structure, labels, {clique: parts[clique] for clique in self.cost}, weights)

    def _costs(self) -> dict[str, Array]:
        """Costs of all clique types; zeros that take no memory for those that cost nothing."""
        shapes = self._search.shapes
        return {
            clique: self.cost.get(clique, np.broadcast_to(0.0, shape)) for clique, shape in shapes.items()
        }

    def _searched(self, structure: MaxOracle) -> MaxOracle:
        """Return the structure; with costs on edges one whose edges have scores of their own."""
        if "edge" not in self.cost or not getattr(structure, "shared_edges", False):
            return structure
        return structure.untied(["edge"])

    def _augmented(self, scores: Scores) -> dict[str, Array]:
        result = dict(scores)
        for clique, cost in self.cost.items():
            result[clique] = scores[clique] + cost  # shared scores broadcast over edges
        return result
