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
from .instances import InstanceSweep
from .sweep import NEGLIGIBLE, Sweep


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


def calibrated_step(sweep: Sweep | InstanceSweep, random: np.random.Generator, sample: int = 500) -> float:
    """Return half the step with which one pass through a sample ends at the lowest objective.

    Steps are tried by factors of two, up or down, until the objective of the sample rises. Half of the
    best: what suits one pass through a few sequences is too long for several through all of them.
    """
    ids = random.permutation(sweep.n_instances)[:sample]
    value_after = sweep.trial(ids)
    step, value = 0.1, value_after(0.1)
    while not np.isfinite(value) and step > 1e-12:
        step, value = step / 8, value_after(step / 8)
    first = step
    for factor in (2.0, 0.5):
        while (next_value := value_after(step * factor)) < value:
            step, value = step * factor, next_value
        if step > first:
            break
    return step / 2


def descend_first(problem: Problem, epochs: int, seed: int, *, average: bool = True) -> Array:
    """Return a start for a solver: some passes of `Descent`, the last one averaged."""
    sweep, random = Sweep.of(problem), np.random.default_rng(seed)
    rule = Descent(calibrated_step(sweep, random))
    for epoch in range(epochs):
        if average and epoch == epochs - 1:
            sweep.begin_average()
        sweep.learn(rule, random.permutation(sweep.n_instances))
    return np.asarray(sweep.average().astype(problem.element_dtype, copy=False))
