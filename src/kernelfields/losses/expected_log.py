"""The log loss with expected parts in place of observed ones: what EM minimises in a step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..structures import ApproximateSum, Blocks, CovarianceOracle, Scores, SumOracle
from ._base import BlockLoss, LossValue, blocks_of, undifferentiated
from .log import unsettled
from .partial_log import PartialLog


class ExpectedLog(BlockLoss):
    """A convex function that touches a `PartialLog` from above at some scores θ₀,

        g(θ) − g_r(θ₀) − ⟨θ − θ₀, μ_r(θ₀)⟩,        gradient  μ(θ) − μ_r(θ₀),

    g_r and μ_r being log-partition and marginals of the outputs that agree with what was observed. As g_r is
    convex, its tangent is nowhere above it: a step that lowers this function lowers the partial log loss by
    at least as much. The marginals μ_r(θ₀) are the E-step, the minimum of this function is the M-step
    [dempster1977]; as a difference of convex functions the same is the concave-convex procedure [yuille2003].

    Parameters
    ----------
    partial : PartialLog
        The loss of what was observed.
    scores : scores
        θ₀, where both are equal.
    """

    def __init__(self, partial: PartialLog, scores: Scores) -> None:
        self.partial, self.touching = partial, scores
        self.structure: SumOracle | ApproximateSum = partial.structure
        self.weights, self.exact = partial.weights, partial.exact
        self.convex = self.exact or bool(getattr(partial.structure, "convex", True))
        expected = self.structure.marginals(partial.restricted(scores), self.weights)
        self.targets = expected.parts
        """μ_r(θ₀), times weights, summed over cliques that share a score."""
        self._level = expected.log_partition

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by one sweep of marginals.

        Where cliques share scores, the linear part is known as a sum only: instances have equal shares in it.
        """
        free = self.structure.marginals(scores, self.weights)
        gradient = {clique: parts - self.targets[clique] for clique, parts in free.parts.items()}
        values = free.log_partition - self._level
        total = values.sum() if self.weights is None else np.dot(values, self.weights)
        linear = self._linear(scores)
        count = len(values) if self.weights is None else self.weights.sum()
        values = values - (linear / count if count else 0.0)
        return LossValue(values, float(total) - linear, gradient, *unsettled(free, self.weights))

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Cov(θ)·d."""
        if not isinstance(self.structure, CovarianceOracle):
            raise undifferentiated(self.structure)
        return self.structure.covariance(scores, direction, self.weights)

    def blocks(self, scores: Scores) -> dict[str, Blocks]:
        """Cov(θ) without the covariances between cliques."""
        return blocks_of(self.structure, scores, self.weights)

    def take(self, ids: npt.ArrayLike) -> ExpectedLog:
        """Return the loss of some instances only."""
        return ExpectedLog(self.partial.take(ids), self.structure.cut(self.touching, ids))

    def _linear(self, scores: Scores) -> float:
        """⟨θ − θ₀, μ_r(θ₀)⟩; what is forbidden has no part in it."""
        total = 0.0
        for clique, target in self.targets.items():
            seen = target != 0
            moved = scores[clique][seen].astype(np.float64) - self.touching[clique][seen]
            total += float(np.dot(moved, target[seen].astype(np.float64)))
        return total
