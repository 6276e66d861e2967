"""The log loss, with or without a task cost inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InfeasibleError, UnsupportedError
from ..structures import (
    ApproximateMarginals,
    ApproximateSum,
    Blocks,
    CovarianceOracle,
    Marginals,
    Scores,
    StructureBatch,
    SumOracle,
    Words,
)
from ._base import BlockLoss, LossValue, blocks_of, undifferentiated
from .augmented import AugmentedScores


class LogLoss(BlockLoss):
    """The negative log-likelihood, the loss of conditional random fields,

        g(θ + Δ) − ⟨θ, parts(y)⟩,        gradient  μ(θ + Δ) − parts(y).

    Without ``cost`` Δ is zero and this is −log p(y|x). A cost Δ(y, ·), counted from that of the observed
    output, makes it the *softmax-margin* loss [altun2006, 1.5]: outputs that cost more must be less likely by
    more. Convex either way.

    On a structure that only approximates sums, g and μ are what stands for them: a *surrogate*, which is
    convex if the structure says so.

    Parameters
    ----------
    structure : SumOracle or ApproximateSum
        The batch.
    outputs : integers
        What was observed, flat: the label of every vertex where vertices are labelled.
    weights : (S,) array, optional
        How many times each instance counts.
    cost : scores, optional
        Δ, which adds up over cliques, for some clique types: of every label at a vertex, ``"node"``
        (N, L), of every label pair at an edge, ``"edge"`` (E, L, L), also where edges share scores, and of
        whatever other cliques the structure has. What is not given costs nothing.
    """

    single = True

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        weights: Array | None = None,
        cost: Scores | None = None,
    ) -> None:
        self.structure: SumOracle | ApproximateSum = require_sums(structure)
        self.exact = isinstance(structure, SumOracle)
        self.convex = not isinstance(structure, ApproximateSum) or structure.convex
        self.outputs = np.ascontiguousarray(outputs, dtype=np.int32)
        self.weights = weights
        self.cost = cost
        self.likelihood = cost is None
        self._augmented = None if cost is None else AugmentedScores(self.structure, cost)
        self._own_cost = 0.0 if self._augmented is None else self._augmented.total(self.outputs)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by one sweep of marginals."""
        observed = self.structure.score(scores, self.outputs)
        require_allowed(observed, self.structure.words)
        each, theta = self._with_cost(scores)
        expected = each.marginals(theta, self.weights)
        gradient = self.structure.gathered(expected.parts)
        self.structure.subtract_parts(gradient, self.outputs, self.weights)
        values = expected.log_partition - observed - self._own_cost
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        return LossValue(values, float(total), gradient, *unsettled(expected, self.weights))

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ + Δ)·d."""
        each, theta = self._with_cost(scores)
        if not isinstance(each, CovarianceOracle):
            raise undifferentiated(self.structure)
        along = direction if each is self.structure else each.spread(direction)
        return self.structure.gathered(each.covariance(theta, along, self.weights))

    def blocks(self, scores: Scores) -> dict[str, Blocks]:
        """Cov(θ + Δ) without the covariances between cliques."""
        each, theta = self._with_cost(scores)
        found = blocks_of(each, theta, self.weights)
        cliques = self.structure.cliques
        return {name: replace(block, shared=cliques[name].shared) for name, block in found.items()}

    def take(self, ids: npt.ArrayLike) -> LogLoss:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        cost = None if self._augmented is None else self._augmented.take(ids)
        return LogLoss(self.structure.take(ids), self.structure.cut_outputs(self.outputs, ids), weights, cost)

    def _with_cost(self, scores: Scores) -> tuple[SumOracle | ApproximateSum, Scores]:
        """Where to sum, and θ + Δ there."""
        if self._augmented is None:
            return self.structure, scores
        return self._augmented.structure, self._augmented.of(scores)


def require_sums(structure: StructureBatch) -> SumOracle | ApproximateSum:
    """Return a structure that sums over its outputs, or approximately so; a plain refusal of others."""
    if not isinstance(structure, SumOracle | ApproximateSum):
        reason = f": {structure.no_sums}" if structure.no_sums else ""
        raise UnsupportedError(
            f"The log loss sums over outputs, which {type(structure).__name__} cannot do{reason}."
        )
    return structure


def unsettled(expected: Marginals | ApproximateMarginals, weights: Array | None) -> tuple[float, int]:
    """Return how far the sum of log-partitions may be too low, and how many did not converge."""
    if isinstance(expected, Marginals):
        return 0.0, 0
    slack = expected.convergence.slack
    counted = slack if weights is None else slack[weights > 0] * weights[weights > 0]
    return float(counted.sum()), int((~expected.convergence.converged).sum())


def require_allowed(observed: Array, words: Words) -> None:
    """Refuse observed labellings that the scores forbid."""
    forbidden = np.flatnonzero(observed == -np.inf)
    if len(forbidden):
        raise InfeasibleError(f"The labels of {words.item} {forbidden[0]} are forbidden by the constraints.")
