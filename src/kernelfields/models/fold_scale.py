"""How much of a posterior to take, and at which temperature: what makes out-of-fold labels most probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..structures import MixedScores, Scores

SCALES = (0.0, 0.03, 0.1, 0.3, 1.0)
"""Shares of the covariance that are tried."""
BOUNDS = (np.log(0.2), np.log(5.0))
"""Logarithms of temperatures between which is searched."""


class FoldScores(NamedTuple):
    """Sequences of a fold, scored by functions that were fitted to the other folds."""

    batch: Any
    scores: MixedScores
    labels: Array
    """Outputs; negative ones do not count."""

    def log_likelihood(self, scale: float, temperature: float) -> float:
        """Return Σ_t log p(y_t|x), p the mean over functions of which a share of the variance is taken."""
        seen = np.flatnonzero(self.labels >= 0)
        mean = np.zeros(len(seen))
        several = scaled_components(self.scores, scale, temperature)
        for one in several:
            parts = self.batch.marginals(one).parts[self.batch.answer]
            mean += parts[seen, self.labels[seen]] / len(several)
        return float(np.log(np.maximum(mean, 1e-300)).sum())


def scaled_components(scores: MixedScores, scale: float, temperature: float) -> list[Scores]:
    """Return θ̂ + √scale (θ_s − θ̂) over the temperature, for every function drawn; θ̂ alone for none of it."""
    if scale == 0.0:
        return [{clique: values / temperature for clique, values in scores.items()}]
    share, inverse = np.sqrt(scale), 1.0 / temperature
    return [
        {clique: inverse * _between(values, one[clique], share) for clique, values in scores.items()}
        for one in scores.components
    ]


def _between(mode: Array, other: Array, share: float) -> Array:
    # What is forbidden is so in all functions; the difference of two −inf is none.
    allowed = np.isfinite(mode)
    return np.where(allowed, mode + share * (other - np.where(allowed, mode, 0.0)), mode)


class ChosenScale(NamedTuple):
    """What was chosen, and what it is worth out of fold."""

    scale: float
    temperature: float
    before: float
    """Mean log p(y_t|x) of the mode alone."""
    after: float
    """The same with scale and temperature."""


def choose_scale(folds: Sequence[FoldScores]) -> ChosenScale:
    """Return the share of the variance, and the temperature, with the highest out-of-fold likelihood."""
    count = max(sum(int((fold.labels >= 0).sum()) for fold in folds), 1)

    def likelihood(scale: float, temperature: float) -> float:
        return sum(fold.log_likelihood(scale, temperature) for fold in folds) / count

    best: ChosenScale | None = None
    before = likelihood(0.0, 1.0)
    for scale in SCALES:
        found = scipy.optimize.minimize_scalar(
            lambda x, scale=scale: -likelihood(scale, float(np.exp(x))),
            bounds=BOUNDS,
            method="bounded",
            options={"xatol": 0.02},
        )
        if best is None or -found.fun > best.after:
            best = ChosenScale(scale, float(np.exp(found.x)), before, -float(found.fun))
        elif -found.fun < best.after - 0.05:
            break  # with more of it, what this much already costs would only grow
    assert best is not None
    return best
