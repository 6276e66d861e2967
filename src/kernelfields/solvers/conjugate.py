"""Nonlinear conjugate gradients in the inner product of the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Array
from ..checks import Check, require_positive
from ._base import Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop, require_smooth
from .lbfgs import wolfe


@dataclass(frozen=True)
class ConjugateGradients(Solver):
    """Nonlinear conjugate gradients, after Polak and Ribière.

        d ← −g + β d,        β = max(0, ⟨g, g − g′⟩ / ⟨g′, g′⟩)

    with g the gradient, g′ the one before, both elements, and the products those of the space. β = 0, a
    fresh start, comes of itself where the last step taught nothing. It keeps three vectors where L-BFGS
    keeps ten or twenty, and pays for that with a line search that has to be more exact.

    Parameters
    ----------
    flatter : float
        Share of its slope that a line search leaves at most.
    """

    flatter: float = 0.1
    _checks: ClassVar[Mapping[str, Check]] = {"flatter": require_positive}

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration, step, slope = 0, 0.0, 0.0
        reason = monitor.look(iteration, point)
        direction, fresh = -point.gradient, True
        try:
            while reason is None:
                before, slope = slope, problem.inner(point.gradient, direction)
                first = min(1.0, 1.0 / monitor.gradient_norm) if step == 0 else step * before / slope
                ray = point.along(direction)
                found = wolfe(ray, point, first, rounding=problem.rounding, flatter=self.flatter)
                if found is None and not fresh:
                    direction, fresh, step = -point.gradient, True, 0.0
                    continue
                if found is None:
                    reason = Reason.STUCK
                    break
                change = found.point.gradient - point.gradient
                share = problem.inner(found.point.gradient, change) / problem.inner(
                    point.gradient, point.gradient
                )
                point, step, iteration = found.point, found.step, iteration + 1
                direction, fresh = max(share, 0.0) * direction - point.gradient, share <= 0
                if problem.inner(point.gradient, direction) >= 0:
                    direction, fresh = -point.gradient, True
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)
