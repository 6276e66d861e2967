"""The log loss, with or without a task cost inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InfeasibleError
from ..structures import Blocks, CovarianceOracle, Scores, StructureBatch, SumOracle, Words
from ._base import BlockLoss, LossValue, blocks_of
from .augmented import AugmentedScores


class Log(BlockLoss):
    """The negative log-likelihood, the loss of conditional random fields,

        g(θ + Δ) − ⟨θ, parts(y)⟩,        gradient  μ(θ + Δ) − parts(y).

    Without ``cost`` Δ is zero and this is −log p(y|x). A cost Δ(y, ·), zero for the observed output,
    makes it the *softmax-margin* loss [altun2006, 1.5]: outputs that cost more must be less likely by
    more. Convex either way.

    Parameters
    ----------
    structure : SumOracle
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

    convex = True

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        weights: Array | None = None,
        cost: Scores | None = None,
    ) -> None:
        if not isinstance(structure, SumOracle):
            raise TypeError(f"The log loss sums over outputs, which {type(structure).__name__} cannot do.")
        self.structure: SumOracle = structure
        self.outputs = np.ascontiguousarray(outputs, dtype=np.int32)
        self.weights = weights
        self.cost = cost
        self._augmented = None if cost is None else AugmentedScores(structure, cost)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by one sweep of marginals."""
        observed = self.structure.score(scores, self.outputs)
        require_allowed(observed, self.structure.words)
        each, theta = self._with_cost(scores)
        log_partition, parts = each.marginals(theta, self.weights)
        gradient = self.structure.gathered(parts)
        self.structure.subtract_parts(gradient, self.outputs, self.weights)
        values = log_partition - observed
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        return LossValue(values, float(total), gradient)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ + Δ)·d."""
        each, theta = self._with_cost(scores)
        if not isinstance(each, CovarianceOracle):
            raise TypeError(f"{type(self.structure).__name__} does not differentiate its marginals.")
        along = direction if each is self.structure else each.spread(direction)
        return self.structure.gathered(each.covariance(theta, along, self.weights))

    def blocks(self, scores: Scores) -> dict[str, Blocks]:
        """Cov(θ + Δ) without the covariances between cliques."""
        each, theta = self._with_cost(scores)
        found = blocks_of(each, theta, self.weights)
        cliques = self.structure.cliques
        return {name: replace(block, shared=cliques[name].shared) for name, block in found.items()}

    def take(self, ids: npt.ArrayLike) -> Log:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        weights = None if self.weights is None else self.weights[ids]
        cost = None if self._augmented is None else self._augmented.take(ids)
        return Log(self.structure.take(ids), self.structure.cut_outputs(self.outputs, ids), weights, cost)

    def _with_cost(self, scores: Scores) -> tuple[SumOracle, Scores]:
        """Where to sum, and θ + Δ there."""
        if self._augmented is None:
            return self.structure, scores
        return self._augmented.structure, self._augmented.of(scores)


def require_allowed(observed: Array, words: Words) -> None:
    """Refuse observed labellings that the scores forbid."""
    forbidden = np.flatnonzero(observed == -np.inf)
    if len(forbidden):
        raise InfeasibleError(f"The labels of {words.item} {forbidden[0]} are forbidden by the constraints.")
