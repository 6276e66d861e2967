"""Generalised iterative scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop, require_smooth

NEWTON_STEPS = 60


@dataclass(frozen=True)
class IterativeScaling(Solver):
    """Generalised iterative scaling with a Gaussian prior [darroch1972generalized; chen2000survey].

    For the log loss and features that are not negative, of which no labelling of an instance has more
    than C in all. Then, E_k being what is expected of feature k and O_k what is observed,

        R(w + δ) − R(w) ≤ Σ_k E_k (e^{C δ_k} − 1)/C − O_k δ_k + (λ_k/2)((w_k + δ_k)² − w_k²),

    and every weight goes by itself to the minimum of its part of the right-hand side, the zero of
    E_k e^{C δ} − O_k + λ_k (w_k + δ). R falls in every iteration, without a line search; but steps are of
    the order of 1/C, and C grows with the length of sequences: the slowest of all solvers, here because it
    was the first. Features that are negative are refused in one sentence.
    """

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        counting: Any = problem
        observed, most, penalty = counting.counts()
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        try:
            while reason is None:
                damping = penalty * point.element
                expected = np.maximum(penalty * point.gradient - damping + observed, 0.0)
                moved = point.element + scaling_step(expected, observed - damping, penalty, most)
                point = problem.at(moved.astype(start.dtype, copy=False))
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)


def scaling_step(expected: Array, wanted: Array, penalty: Array, most: float) -> Array:
    """Solve E e^{Cδ} + λ δ = wanted for every feature, by Newton's method on u = Cδ.

    The left-hand side is convex and rises: from a start above the zero, Newton's steps come down to it
    and never pass it.
    """
    slope = penalty / most
    up = wanted > expected
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        above = np.minimum(np.log(wanted / expected), (wanted - expected) / slope)
    u = np.where(up, above, 0.0)
    for _ in range(NEWTON_STEPS):
        grown = expected * np.exp(u)
        step = (grown + slope * u - wanted) / (grown + slope)
        u -= step
        if np.abs(step).max(initial=0.0) <= 1e-13 * (1 + np.abs(u).max(initial=0.0)):
            break
    return u / most
