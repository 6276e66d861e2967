"""Hinge losses whose cost is the number of errors, or a function of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..errors import UnsupportedError
from ..structures import ErrorCountOracle, Scores, StructureBatch
from ._hinge_base import Hinge, Planes

Worth = Callable[[Array], Any]
"""From numbers of errors to their cost; no errors cost nothing."""


class CountedHinge(Hinge):
    """A hinge loss with Δ = h(number of errors): the best score of every number of errors is enough."""

    structure: ErrorCountOracle
    errors: Array
    worth: Worth | None

    @abstractmethod
    def _profile(self, cost: Array, above: Array) -> Array:
        """The loss for every number of errors, from its cost and its best score minus that of y."""

    @abstractmethod
    def _scale(self, cost: Array) -> Array:
        """S of planes with these costs."""

    def planes(self, scores: Scores) -> Planes:
        """Best score of every number of errors, then labels for the number with the largest loss."""
        observed = self._observed(scores)
        best = self.structure.best_by_errors(scores, self.errors)
        cost = self._costs(best.shape[1])
        with np.errstate(invalid="ignore"):
            profile = np.where(np.isneginf(best), -np.inf, self._profile(cost, best - observed[:, None]))
        counts = np.argmax(profile, axis=1)  # y itself is among those without errors
        outputs = self.structure.argmax_at_errors(scores, self.errors, counts).labels
        level = cost[counts]
        return self._planes(scores, outputs, level, self._scale(level), observed)

    def _costs(self, levels: int) -> Array:
        counts = np.arange(levels)
        cost = np.asarray(counts if self.worth is None else self.worth(counts), dtype=np.float64)
        if cost.shape != (levels,) or cost[0] != 0 or not (np.isfinite(cost) & (cost >= 0)).all():
            raise ValueError("The cost of a number of errors must be finite, not negative, and 0 for none.")
        return cost

    def _errors_of(self, ids: Array) -> Array:
        return self.errors[rows_of(self.structure.cliques[self.structure.answer].offsets, ids)]

    def _set_errors(
        self,
        structure: StructureBatch,
        outputs: Array,
        errors: Array | None,
        weights: Array | None,
        what: str,
    ) -> None:
        if not isinstance(structure, ErrorCountOracle):
            raise UnsupportedError(
                f"{what} needs the best score for every number of errors, which {type(structure).__name__} "
                "does not give."
            )
        self._set_up(structure, outputs, weights)
        right = structure.parts(self.outputs)[structure.answer]
        self.errors = (1 - right).astype(np.int32) if errors is None else np.asarray(errors)
        if (self.errors * right).any():
            raise ValueError("What was observed counts as an error; it must not.")


class SlackHinge(CountedHinge):
    """Slack rescaling: the violation of a margin of 1 counts as much as the labelling costs,

        max_ŷ Δ(y, ŷ) [1 + score(ŷ) − score(y)],      gradient  Δ(y, ŷ) (parts(ŷ) − parts(y)).

    Unlike margin rescaling it leaves labellings alone that are worse than y by 1, however much they
    cost. Exact for whole-number costs on chains and trees, by a dynamic programme over the number of
    errors: O(T K L²) for T vertices and up to K errors, T times as much as margin rescaling. Long
    sequences are refused where tables would not fit (`ForestErrors`).

    Parameters
    ----------
    structure : ErrorCountOracle
        The batch.
    outputs : integers
        What was observed, flat: the label of every vertex.
    errors : (N, L) whole numbers, optional
        As how many errors each label counts; Hamming, 1 for all but the observed one, if not given.
    weights : (S,) array, optional
        How many times each instance counts.
    worth : callable, optional
        h with Δ = h(number of errors), for an array of numbers; the number itself if not given.
    """

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        errors: Array | None = None,
        weights: Array | None = None,
        worth: Worth | None = None,
    ) -> None:
        self._set_errors(structure, outputs, errors, weights, "Slack rescaling")
        self.worth = worth

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        structure, outputs, weights = self._cut(ids)
        return type(self)(structure, outputs, self._errors_of(ids), weights, self.worth)

    def _profile(self, cost: Array, above: Array) -> Array:
        return cost * (1 + above)

    def _scale(self, cost: Array) -> Array:
        return cost


class CountedMarginHinge(CountedHinge):
    """Margin rescaling with any function of the number of errors as cost, Δ = h(k),

        max_k [h(k) + max score of the labellings with k errors] − score(y).

    For costs that do not add up over vertices, such as min(k, 3) or √k. Parameters as in `SlackHinge`.
    """

    def __init__(
        self,
        structure: StructureBatch,
        outputs: Array,
        errors: Array | None = None,
        weights: Array | None = None,
        worth: Worth | None = None,
    ) -> None:
        self._set_errors(structure, outputs, errors, weights, "A cost of the number of errors")
        self.worth = worth

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return the loss of some instances only."""
        ids = np.asarray(ids, dtype=np.int64)
        structure, outputs, weights = self._cut(ids)
        return type(self)(structure, outputs, self._errors_of(ids), weights, self.worth)

    def _profile(self, cost: Array, above: Array) -> Array:
        return cost + above

    def _scale(self, cost: Array) -> Array:
        return np.ones(len(cost))
