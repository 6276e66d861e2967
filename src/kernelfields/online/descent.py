"""Stochastic gradient descent on the log loss, and how to choose its step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_not_negative
from ..objective import Problem
from ._base import OnlineRule
from .examples import Examples
from .sweep import Sweep

NEGLIGIBLE = 1e-7


@dataclass(frozen=True)
class Descent(OnlineRule):
    """One step along the gradient of every sequence [bottou2010large],

        w ← (w − η_t ∇loss_i(w)) / (1 + η_t λ/S),        η_t = η / (1 + η (λ/S) t),

    t the number of sequences seen before. It needs one pass to come near the optimum and for ever to
    reach it: a start for L-BFGS.

    Parameters
    ----------
    step : float
        η; `calibrated_step` finds one.
    least : float
        Positions where no label's probability is wrong by more are passed over.
    """

    forgets: ClassVar[bool] = True

    step: float
    least: float = NEGLIGIBLE
    _checks: ClassVar[Mapping[str, Check]] = {"step": require_not_negative, "least": require_not_negative}

    def learn(self, sweep: Sweep, order: Array) -> float:
        """Descend."""
        return sweep.core.descend(order, self.step, *sweep.decays, sweep.steps, self.least)


def calibrated_step(sweep: Sweep, random: np.random.Generator, sample: int = 500) -> float:
    """Return half the step with which one pass through a sample ends at the lowest objective.

    Steps are tried by factors of two, up or down, until the objective of the sample rises. Half of the
    best: what suits one pass through a few sequences is too long for several through all of them.
    """
    ids = random.permutation(sweep.examples.n_instances)[:sample]
    trial = _Trial(sweep.examples.take(ids), sweep.decays)
    step, value = 0.1, trial.value(0.1)
    while not np.isfinite(value) and step > 1e-12:
        step, value = step / 8, trial.value(step / 8)
    first = step
    for factor in (2.0, 0.5):
        while (next_value := trial.value(step * factor)) < value:
            step, value = step * factor, next_value
        if step > first:
            break
    return step / 2


class _Trial:
    """One pass through a sample, from zero."""

    def __init__(self, examples: Examples, decays: tuple[float, float]) -> None:
        self.examples = examples
        self.decays = decays

    def value(self, step: float) -> float:
        """Return the objective of the sample after it."""
        if not 1e-12 < step < 1e6:
            return np.inf
        core, order = self.examples.core(), np.arange(self.examples.n_instances)
        core.descend(order, step, *self.decays, 0, NEGLIGIBLE)
        weights, free = core.weights()
        node, edge = (0.5 * len(order) * decay for decay in self.decays)
        penalty = (
            node * (np.square(weights).sum() + np.square(free[:3]).sum()) + edge * np.square(free[3:]).sum()
        )
        value = core.descend(order, 0.0, *self.decays, 0, NEGLIGIBLE) + penalty
        return float(value) if np.isfinite(value) else np.inf


def descend_first(problem: Problem, epochs: int, seed: int, *, average: bool = True) -> Array:
    """Return a start for a solver: some passes of `Descent`, the last one averaged."""
    sweep, random = Sweep.of(problem), np.random.default_rng(seed)
    rule = Descent(calibrated_step(sweep, random))
    for epoch in range(epochs):
        if average and epoch == epochs - 1:
            sweep.begin_average()
        sweep.learn(rule, random.permutation(sweep.examples.n_instances))
    return sweep.average()
