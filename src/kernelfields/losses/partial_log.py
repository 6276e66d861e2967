"""The log loss when some labels were not observed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import ApproximateSum, Blocks, CovarianceOracle, Scores, StructureBatch, SumOracle
from ._base import BlockLoss, LossValue, blocks_of, undifferentiated
from .log import require_sums, unsettled


class PartialLog(BlockLoss):
    """The negative log-likelihood of what was observed,

        g(θ) − g(θ restricted to outputs that agree),     gradient  μ(θ) − μ(θ restricted).

    A difference of two convex functions, hence **not convex**: no certificate, and curvature may be
    negative. Equal to `LogLoss` when everything is observed.

    Parameters
    ----------
    structure : SumOracle or ApproximateSum
        The batch.
    allowed : booleans in the shape of the scores of answers
        What agrees with what was observed: for labelled vertices (N, L), all labels of a vertex of which
        nothing was observed.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    convex = False

    def __init__(self, structure: StructureBatch, allowed: Array, weights: Array | None = None) -> None:
        self.structure: SumOracle | ApproximateSum = require_sums(structure)
        self.exact = isinstance(structure, SumOracle)
        self.allowed = allowed
        self.weights = weights

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by a free and a restricted sweep."""
        free = self.structure.marginals(scores, self.weights)
        fixed = self.structure.marginals(self.restricted(scores), self.weights)
        gradient = {clique: parts - fixed.parts[clique] for clique, parts in free.parts.items()}
        values = free.log_partition - fixed.log_partition
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        count = max(unsettled(found, None)[1] for found in (free, fixed))
        return LossValue(values, float(total), gradient, unsettled=count)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ)·d − Cov(θ restricted)·d."""
        if not isinstance(self.structure, CovarianceOracle):
            raise undifferentiated(self.structure)
        free = self.structure.covariance(scores, direction, self.weights)
        fixed = self.structure.covariance(self.restricted(scores), direction, self.weights)
        return {clique: parts - fixed[clique] for clique, parts in free.items()}

    def blocks(self, scores: Scores) -> dict[str, Blocks]:
        """Cov(θ) without the covariances between cliques: of the convex part, lest it be indefinite."""
        return blocks_of(self.structure, scores, self.weights)

    def take(self, ids: npt.ArrayLike) -> PartialLog:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        rows = rows_of(self.structure.cliques[self.structure.answer].offsets, ids)
        return PartialLog(self.structure.take(ids), self.allowed[rows], weights)

    def restricted(self, scores: Scores) -> Scores:
        """Return scores that are −inf for what does not agree with what was observed."""
        answer = self.structure.answer
        return {**scores, answer: np.where(self.allowed, scores[answer], -np.inf)}
