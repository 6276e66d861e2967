"""Slack rescaling where only the best output is known, with a bound of what the search may have missed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import MaxOracle, Scores, StructureBatch
from ._hinge_base import Hinge, Planes
from .augmented import AugmentedScores

ROUNDS = 40
"""Searches of the whole batch at most; each but the first few halves what is left, or ends it."""
FACTOR = 4.0
"""By how much λ changes while it is not known on which side the best one is."""


class SearchedSlackHinge(Hinge):
    """Slack rescaling for any structure that finds its best output, and a cost that adds up over cliques,

        max_ŷ Δ(y, ŷ) [1 + score(ŷ) − score(y)],      gradient  Δ(y, ŷ) (parts(ŷ) − parts(y)).

    With h = 1 + score(ŷ) − score(y), no output is above the line h + λΔ = V through the one that is best by
    θ + λΔ, so that Δh ≤ V²/(4λ) for every λ > 0 [sarawagi2008accurate]. The search looks for the λ with the
    least such bound; the best output it meets is a plane of the loss, the bound is above it. Their difference
    goes into certificates, as that of other searches that are not exact. Where outputs with the largest Δh
    are corners of the hull of all (Δ, h) both are equal.

    Parameters
    ----------
    structure : MaxOracle
        The batch.
    outputs : integers
        What was observed, flat.
    cost : scores
        Δ of cliques, counted from that of what was observed, as in `MarginHinge`.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    structure: MaxOracle

    def __init__(
        self, structure: StructureBatch, outputs: Array, cost: Scores, weights: Array | None = None
    ) -> None:
        if not isinstance(structure, MaxOracle):
            name = type(structure).__name__
            raise UnsupportedError(
                f"Slack rescaling needs the best output, which {name} does not find exactly."
            )
        self._set_up(structure, outputs, weights)
        self._search = AugmentedScores(structure, cost)
        self.cost = self._search.cost
        self._own_cost = self._search.total(self.outputs)

    def planes(self, scores: Scores) -> Planes:
        """By searches with more and less of the cost, of the whole batch at a time."""
        observed = self._observed(scores)
        search = _Search(self, scores, observed)
        for _ in range(ROUNDS):
            if not search.open.any():
                break
            search.step()
        cost = search.best_cost
        planes = self._planes(scores, search.best, cost, cost, observed)
        return planes._replace(excess=np.maximum(search.bound - planes.value, 0.0))

    def total_cost(self, outputs: Array) -> Array:
        """Δ(y, ŷ) of every instance."""
        return self._search.total(np.ascontiguousarray(outputs, dtype=np.int32)) - self._own_cost

    def take(self, ids: npt.ArrayLike) -> SearchedSlackHinge:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        structure, outputs, weights = self._cut(ids)
        return SearchedSlackHinge(structure, outputs, self._search.take(ids), weights)


class _Search:
    """The search for λ, all instances side by side.

    ``low`` and ``high`` are λ between which the best one is; ``left`` and ``right`` the points (Δ, h) that
    are best there. Once both are known, the next λ is the slope of the line between them: either the point
    that is best there is beyond the line, or the line is an edge of the hull and there is nothing left.
    """

    def __init__(self, loss: SearchedSlackHinge, scores: Scores, observed: Array) -> None:
        self.loss, self.scores, self.observed = loss, scores, observed
        count = len(observed)
        self.ratio = np.ones(count)
        self.low, self.high = np.zeros(count), np.full(count, np.inf)
        self.left, self.right = np.full((2, count), np.nan), np.full((2, count), np.nan)
        self.best, self.best_cost, self.value = loss.outputs.copy(), np.zeros(count), np.zeros(count)
        self.bound = np.full(count, np.inf)
        self.open = np.ones(count, dtype=bool)

    def step(self) -> None:
        """Search once more, and cut off one side of λ."""
        structure, ratio = self.loss.structure, self.ratio
        theta = self._with_cost(ratio)
        found = structure.argmax(theta)
        cost = self.loss.total_cost(found.labels)
        margin = 1.0 + structure.score(self.scores, found.labels) - self.observed
        level = margin + ratio * cost
        self._keep(found.labels, cost, margin)
        self.bound = np.where(self.open, np.minimum(self.bound, np.square(level) / (4 * ratio)), self.bound)
        more = margin > ratio * cost  # the point with the largest product has more of the cost
        self._narrow(np.stack([cost, margin]), more, level)

    def _with_cost(self, ratio: Array) -> dict[str, Array]:
        structure, cost = self.loss.structure, self.loss.cost
        theta = {name: np.array(values, dtype=np.float64) for name, values in self.scores.items()}
        for name, values in cost.items():
            each = np.repeat(ratio, np.diff(structure.cliques[name].offsets))
            theta[name] += values * each.reshape(-1, *(1 for _ in values.shape[1:]))
        return theta

    def _keep(self, outputs: Array, cost: Array, margin: Array) -> None:
        """Take outputs with a larger product than those before."""
        better = self.open & (cost > 0) & (cost * margin > self.value)
        self.value = np.where(better, cost * margin, self.value)
        self.best_cost = np.where(better, cost, self.best_cost)
        self.best = np.where(self.loss.structure.per_output(better), outputs, self.best)

    def _narrow(self, point: Array, more: Array, level: Array) -> None:
        """Choose the next λ; instances without any are closed."""
        above = self.left[1] + self.ratio * self.left[0] - level
        on_edge = np.abs(above) <= 1e-9 * np.maximum(1.0, np.abs(level))
        on_edge &= np.isfinite(self.right[0])
        # A corner is best for all λ from one side of it to the other; if h/Δ is among them, Δh is the bound.
        self._bound_by(self.left, self.low, np.where(on_edge, self.ratio, self.low))
        self._bound_by(self.right, np.where(on_edge, self.ratio, self.high), self.high)
        self.open &= ~on_edge & (self.bound - self.value > 1e-9 * np.maximum(1.0, self.value))
        self.low, self.high = np.where(more, self.ratio, self.low), np.where(more, self.high, self.ratio)
        self.left, self.right = np.where(more, point, self.left), np.where(more, self.right, point)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (self.left[1] - self.right[1]) / (self.right[0] - self.left[0])
            own = point[1] / point[0]
        usual = np.where(more, self.ratio * FACTOR, self.ratio / FACTOR)
        known = np.isfinite(own) & (own > 0)
        following = np.where(np.isfinite(slope), slope, np.where(known, own, usual))
        self.open &= (following > self.low) & (following < self.high)
        self.ratio = np.where(self.open, following, self.ratio)

    def _bound_by(self, corner: Array, low: Array, high: Array) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            own = corner[1] / corner[0]
            within = self.open & (corner[0] > 0) & (own >= low) & (own <= high)
        self.bound = np.where(within, np.minimum(self.bound, corner[0] * corner[1]), self.bound)
