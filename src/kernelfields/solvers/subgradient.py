"""Stochastic subgradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import Check, whole
from ._base import Monitor, Observer, Reason, Result, Stop
from ._margin_base import BestPoint, BlockDualLike, MarginSolver, settled
from .frank_wolfe import IterateAverage


@dataclass(frozen=True)
class Subgradient(MarginSolver):
    """Stochastic subgradient descent with steps 1/t [shalevshwartz2011].

    At one instance after the other, w ← (1 − 1/t) w − (S/t) r(g), g its largest plane, S the number of
    instances. With these steps, and every instance once in each pass, w after p passes is minus the mean
    over passes of Σ_i r(g_i): a point of the dual too, so that there is a certified gap. Cheap and
    without settings, but slow to come close; block-coordinate Frank-Wolfe takes the same searches and
    chooses its steps.

    Parameters
    ----------
    averaging : bool
        Whether the weighted average of the points after every pass is looked at as well.
    seed : int
        Of the order.
    """

    averaging: bool = True
    seed: int = 0
    _checks: ClassVar[Mapping[str, Check]] = {"seed": whole(0, 2**63 - 1)}

    def maximize(self, dual: BlockDualLike, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is: a start counts as one pass."""
        best = BestPoint(Monitor(dual.problem, stop, observer))
        random = np.random.default_rng(self.seed)
        average = IterateAverage()
        iteration = 0
        reason = best.look(iteration, dual.reached(0))
        passes = int(any(mixture.any() for mixture in dual.mixtures))
        try:
            while reason is None:
                self._pass(dual, random, passes)
                passes += 1
                iteration += 1
                now = dual.reached(0)
                reason = best.look(iteration, now)
                if self.averaging and reason is None:
                    mean = average.with_next(now)
                    if mean.value < best.point.value:
                        best.point = mean
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return settled(best.monitor, best.point, [dual.element], reason)

    @staticmethod
    def _pass(dual: BlockDualLike, random: np.random.Generator, passes: int) -> None:
        """Visit every instance once.

        Meanwhile the dual holds sums over all visits so far instead of their mean: w is a multiple.
        """
        _scale(dual, float(passes))
        for t, i in enumerate(random.permutation(dual.size).tolist(), start=passes * dual.size):
            scores = dual.scores(i) * (dual.size / max(t, 1))
            plane = dual.plane(i, scores)
            dual.move(i, plane.level, plane.direction)
        _scale(dual, 1.0 / (passes + 1))


def _scale(dual: BlockDualLike, factor: float) -> None:
    dual.element *= factor
    dual.levels *= factor
    for mixture in dual.mixtures:
        mixture *= factor
