"""The expected loss under Gaussian noise of the scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..losses import LogLoss, Loss, LossValue
from ..structures import Scores


class AveragedLoss(Loss):
    """(1/S) Σ_s loss(θ + z_s): the expectation of −log p(y|x) under noise z of the scores, by some draws.

    Convex in θ, as a mean of convex functions.

    Parameters
    ----------
    loss : LogLoss
        Of the structure and what was observed.
    noises : sequence of scores
        z_s, in the shapes of θ.
    """

    convex = True

    def __init__(self, loss: LogLoss, noises: Sequence[Scores]) -> None:
        self.loss = loss
        self.structure = loss.structure
        self.noises = list(noises)

    def at(self, scores: Scores) -> LossValue:
        """Value and gradient, by a sweep for every draw."""
        found = [self.loss.at(_sum(scores, noise)) for noise in self.noises]
        share = 1.0 / len(found)
        gradient = {
            clique: np.asarray(share * np.sum([one.gradient[clique] for one in found], axis=0))
            for clique in found[0].gradient
        }
        values = share * np.sum([one.values for one in found], axis=0)
        return LossValue(values, share * sum(one.value for one in found), gradient)

    def curvature(self, scores: Scores, direction: Scores) -> dict[str, Array]:
        """Return the mean of Cov(θ + z_s)·d."""
        found = [self.loss.curvature(_sum(scores, noise), direction) for noise in self.noises]
        return {clique: np.mean([one[clique] for one in found], axis=0) for clique in found[0]}

    def take(self, ids: npt.ArrayLike) -> AveragedLoss:
        """Return the loss of some instances only."""
        return AveragedLoss(self.loss.take(ids), [self.structure.cut(noise, ids) for noise in self.noises])


def _sum(scores: Scores, noise: Scores) -> dict[str, Array]:
    return {clique: values + noise[clique] for clique, values in scores.items()}
