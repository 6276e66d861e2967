"""The log loss, with or without a task cost inside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..errors import InfeasibleError
from ..structures import Blocks, CovarianceOracle, Scores, StructureBatch, SumOracle
from ._base import BlockLoss, LossValue, blocks_of


class Log(BlockLoss):
    """The negative log-likelihood, the loss of conditional random fields,

        g(θ + Δ) − ⟨θ, parts(y)⟩,        gradient  μ(θ + Δ) − parts(y).

    Without ``cost`` Δ is zero and this is −log p(y|x). A cost Δ(y, ·) over vertices, zero at the
    observed labels, makes it the *softmax-margin* loss [altun2006, 1.5]: labellings that cost more
    must be less likely by more. Convex either way.

    Parameters
    ----------
    structure : SumOracle
        The batch.
    labels : (N,) integers
        The observed label of every vertex.
    weights : (S,) array, optional
        How many times each instance counts.
    cost : (N, L) array, optional
        Δ, the cost of each label at each vertex.
    """

    convex = True

    def __init__(
        self,
        structure: StructureBatch,
        labels: Array,
        weights: Array | None = None,
        cost: Array | None = None,
    ) -> None:
        if not isinstance(structure, SumOracle):
            raise TypeError(f"The log loss sums over labellings, which {type(structure).__name__} cannot do.")
        self.structure: SumOracle = structure
        self.labels = np.ascontiguousarray(labels, dtype=np.int32)
        self.weights = weights
        self.cost = cost

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by one sweep of marginals."""
        observed = self.structure.score(scores, self.labels)
        require_allowed(observed)
        log_partition, gradient = self.structure.marginals(self._augmented(scores), self.weights)
        self.structure.subtract_parts(gradient, self.labels, self.weights)
        values = log_partition - observed
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        return LossValue(values, float(total), gradient)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ + Δ)·d."""
        if not isinstance(self.structure, CovarianceOracle):
            raise TypeError(f"{type(self.structure).__name__} does not differentiate its marginals.")
        return self.structure.covariance(self._augmented(scores), direction, self.weights)

    def blocks(self, scores: Scores) -> dict[str, Blocks]:
        """Cov(θ + Δ) without the covariances between cliques."""
        return blocks_of(self.structure, self._augmented(scores), self.weights)

    def take(self, ids: npt.ArrayLike) -> Log:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        rows = rows_of(self.structure.offsets, ids)
        weights = None if self.weights is None else self.weights[ids]
        cost = None if self.cost is None else self.cost[rows]
        return Log(self.structure.take(ids), self.labels[rows], weights, cost)

    def _augmented(self, scores: Scores) -> Scores:
        if self.cost is None:
            return scores
        node = scores["node"]  # its precision decides; solvers multiply gradients with scores
        return {**scores, "node": node + self.cost.astype(node.dtype, copy=False)}


def require_allowed(observed: Array) -> None:
    """Refuse observed labellings that the scores forbid."""
    forbidden = np.flatnonzero(observed == -np.inf)
    if len(forbidden):
        raise InfeasibleError(f"The labels of sequence {forbidden[0]} are forbidden by the constraints.")
