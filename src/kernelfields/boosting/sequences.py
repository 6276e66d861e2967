"""AdaBoost for label sequences, round by round."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..fitting.run import Observer
from ..solvers import Progress
from .boosting import DONE, INTERRUPTED
from .exponential import ExponentialLoss
from .sequence_features import SequenceFeatures
from .step_bounds import best_steps

FIRST, AT_ONCE = 16, 256
"""Features whose bounds are computed together: enough for arrays, few enough to stop early."""
VANISHED = -30.0
"""Logarithm of a loss per unit of weight that is nothing but rounding."""

NO_GAIN = "No feature promises to lower the loss by tol."
SEPARATED = "The loss has vanished: every right labelling is far ahead of all others."


class BoostingStep(NamedTuple):
    """A feature, and how far to go along it."""

    part: int
    """Which of the sets of candidates."""
    k: int
    """Which feature of this set."""
    step: float
    bound: float
    """Of the factor by which the loss is multiplied."""


class SequenceBoosting:
    """A function F = Σ_k w_k f_k of labelled sequences that lowers R(F) feature by feature.

    A round takes the feature whose bound of R(F + δf_k)/R(F), minimised over |δ| ≤ longest, is the lowest
    of all [altun2003discriminative, Section 4]. Bounds are convex and have slope s_k at 0, so that none is
    below 1 − |s_k|·longest; nor below 1 − |s_k|·(1 − exp(−longest)) where features are whole numbers, because
    1 − exp(−δd) ≤ d·(1 − exp(−δ)) for d ≥ 1. Features are tried in the order of |s_k|, until none that is
    left can win.

    Parameters
    ----------
    loss : ExponentialLoss
        R.
    parts : list of SequenceFeatures
        Features.
    longest : float
        The longest step. A feature that occurs with one label only would go to infinity at once.
    tried : int, optional
        How many features of each set have a bound, those with the largest |s_k|; if not given, all.
    """

    def __init__(
        self, loss: ExponentialLoss, parts: list[SequenceFeatures], longest: float, tried: int | None = None
    ) -> None:
        self.loss, self.parts, self.longest, self.tried = loss, parts, longest, tried
        self.scores = {clique: np.zeros(shape) for clique, shape in loss.chain.shapes.items()}
        self.wrong = loss.at(self.scores)

    def best(self) -> BoostingStep:
        """Return the step that promises the most."""
        found = BoostingStep(0, 0, 0.0, 1.0)
        for part in range(len(self.parts)):
            found = self._better(part, found)
        return found

    def take(self, chosen: BoostingStep) -> None:
        """Go a step along a feature."""
        self.parts[chosen.part].add(chosen.k, chosen.step, self.scores)
        self.wrong = self.loss.at(self.scores)

    def _better(self, part: int, found: BoostingStep) -> BoostingStep:
        """Return a better step along some feature of a set, or the one found before."""
        candidates = self.parts[part]
        reach = -np.expm1(-self.longest) if candidates.whole else self.longest
        most = np.abs(candidates.slopes(self.wrong)) * reach
        left = np.flatnonzero(most > 1.0 - found.bound)
        left = _largest_first(left, most, FIRST if self.tried is None else self.tried)[: self.tried]
        count = FIRST
        while len(left):
            found = self._best_of(part, left[:count], found)
            left = left[count:]
            left = left[most[left] > 1.0 - found.bound]
            left, count = left[np.argsort(-most[left], kind="stable")], AT_ONCE
        return found

    def _best_of(self, part: int, ids: Array, found: BoostingStep) -> BoostingStep:
        steps, bounds = best_steps(self.parts[part].chords(self.wrong, ids), len(ids), self.longest)
        k = int(bounds.argmin())
        if not bounds[k] < found.bound:
            return found
        return BoostingStep(part, int(ids[k]), float(steps[k]), float(bounds[k]))


def _largest_first(ids: Array, values: Array, count: int) -> Array:
    """Return ids with those of the largest values in front, in no order among themselves."""
    return ids if len(ids) <= count else ids[np.argpartition(-values[ids], count - 1)]


class BoostingHistory(NamedTuple):
    """What the rounds did."""

    log_losses: list[float]
    """log R before the first round, and after every one."""
    bounds: list[float]
    """The factors that were promised."""
    reason: str


def boost(boosting: SequenceBoosting, rounds: int, tol: float, report: Observer | None) -> BoostingHistory:
    """Do some rounds; Ctrl-C keeps what was reached."""
    log_losses, started = [boosting.wrong.log_loss], time.perf_counter()
    bounds: list[float] = []
    nothing = VANISHED + _log_sum(boosting.loss.log_weights)
    try:
        for k in range(1, rounds + 1):
            if boosting.wrong.log_loss <= nothing:
                return BoostingHistory(log_losses, bounds, SEPARATED)
            chosen = boosting.best()
            if 1.0 - chosen.bound < tol:
                return BoostingHistory(log_losses, bounds, NO_GAIN)
            boosting.take(chosen)
            bounds.append(chosen.bound)
            log_losses.append(boosting.wrong.log_loss)
            if report is not None:
                seconds = time.perf_counter() - started
                report(Progress(k, log_losses[-1], np.nan, -np.inf, seconds), None)
    except KeyboardInterrupt:
        return BoostingHistory(log_losses, bounds, INTERRUPTED)
    return BoostingHistory(log_losses, bounds, DONE)


def _log_sum(values: Array) -> float:
    highest = values.max(initial=-np.inf)
    return float(highest + np.log(np.exp(values - highest).sum())) if highest > -np.inf else float(highest)
