"""Hinge losses with any cost, as far as the search can prove what it found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import require_not_negative, require_whole
from ..errors import InputError, UnsupportedError
from ..structures import KBestOracle, Scores, StructureBatch
from ._hinge_base import Hinge, Planes

Callback = Callable[[Array, Array], float]
"""Cost of two arrays, the true and the predicted labels of one instance."""

FIRST, MORE = 16, 4
"""Labellings that are looked at in the first round, and how many times more in every other."""


class CallbackHinge(Hinge):
    """A hinge loss whose cost is a function of whole outputs, such as 1 − F1, never above a bound B.

    Labellings are looked at from the best score down. None beyond the k-th can have a larger loss than
    B + score_k − score(y) (margin rescaling), or B·(1 + score_k − score(y)) (slack rescaling): once that
    is not above what was found, the search is exact. Where ``limit`` labellings do not suffice, it is
    refused: a smaller bound, or fewer labellings in reach, is what it needs.

    Parameters
    ----------
    structure : KBestOracle
        The batch.
    outputs : integers
        What was observed, flat: the label of every vertex where vertices are labelled.
    cost : callable
        Δ(y, ŷ) ≥ 0 of two integer arrays, 0 for y itself.
    bound : float
        B; a cost above it is refused.
    slack : bool
        Whether to rescale slacks; else margins.
    weights : (S,) array, optional
        How many times each instance counts.
    limit : int
        Labellings to look at before giving up.
    """

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        cost: Callback,
        bound: float = 1.0,
        slack: bool = False,
        weights: Array | None = None,
        limit: int = 4096,
    ) -> None:
        if not isinstance(structure, KBestOracle):
            raise UnsupportedError(
                f"A cost by callback needs the k best outputs, which {type(structure).__name__} "
                "does not give."
            )
        self._set_up(structure, outputs, weights)
        self.cost = cost
        self.bound = require_not_negative("bound", bound)
        self.slack = slack
        self.limit = require_whole("limit", limit)

    def planes(self, scores: Scores) -> Planes:
        """By lists of labellings that grow until every search is proved."""
        observed = self._observed(scores)
        outputs, level = self.outputs.copy(), np.zeros(len(observed))
        open_ids, k = np.arange(len(observed)), FIRST
        while len(open_ids):
            if k > self.limit:
                first = f"{self.structure.words.item} {open_ids[0]}"
                raise InputError(
                    f"The search for the worst labelling of {first} is not exact: "
                    f"{self.limit} labellings do not prove it."
                )
            left = [s for s in open_ids if not self._settle(scores, int(s), k, observed[s], outputs, level)]
            open_ids, k = np.array(left, dtype=np.int64), MORE * k
        scale = level if self.slack else np.ones(len(level))
        return self._planes(scores, outputs, level, scale, observed)

    def take(self, ids: npt.ArrayLike) -> CallbackHinge:
        """Return the loss of some instances only."""
        structure, outputs, weights = self._cut(np.asarray(ids, dtype=np.int64))
        return CallbackHinge(structure, outputs, self.cost, self.bound, self.slack, weights, self.limit)

    def _settle(self, scores: Scores, s: int, k: int, observed: float, outputs: Array, level: Array) -> bool:
        """Look at the k best labellings of one instance; whether the largest loss is among them."""
        one = self.structure.take([s])
        assert isinstance(one, KBestOracle)
        found, value = one.kbest(self.structure.cut(scores, [s]), k)
        there = np.isfinite(value[0])
        mine = slice(*self.structure.output_offsets[s : s + 2].tolist())
        costs = np.array([self._priced(self.outputs[mine], row) for row in found[there]])
        losses = self._loss(costs, value[0][there] - observed)
        best = int(np.argmax(losses))
        if losses[best] > 0:
            outputs[mine], level[s] = found[best], costs[best]
        if not there.all():
            return True  # these were all of them
        beyond = self._loss(np.array([self.bound]), value[0][-1:] - observed)[0]
        return bool(beyond <= max(losses[best], 0.0))

    def _loss(self, cost: Array, above: Array) -> Array:
        return cost * (1 + above) if self.slack else cost + above

    def _priced(self, true: Array, guess: Array) -> float:
        cost = float(self.cost(true, guess))
        if not 0 <= cost <= self.bound:
            raise InputError(f"The cost {cost} is not between 0 and the bound, {self.bound}.")
        if cost > 0 and np.array_equal(true, guess):
            raise InputError(f"The observed labelling costs {cost}; it must cost nothing.")
        return cost
