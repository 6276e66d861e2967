"""Newton's method, each step by conjugate gradients in the inner product of the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._base import Array, Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop
from .line_search import wolfe


@dataclass(frozen=True)
class NewtonCG(Solver):
    """Truncated Newton with exact Hessian products [altun2004exp, 5.1].

    Converges quadratically near the optimum; for tight gaps, or where Hessian products are cheap
    beside gradients. Negative curvature, possible for losses that are not convex, ends the inner
    iteration; the direction found so far still descends.

    Parameters
    ----------
    inner_iterations : int
        Limit of conjugate-gradient iterations per step.
    """

    inner_iterations: int = 250

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        try:
            while reason is None:
                found = wolfe(point.along(self._direction(problem, point)), point)
                if found is None:
                    reason = Reason.STUCK
                    break
                point = found.point
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)

    def _direction(self, problem: ProblemLike, point: Any) -> Array:
        """Solve ∇²R d = −∇R up to a residual of min(½, √‖∇R‖)·‖∇R‖."""
        residual = -point.gradient
        square = problem.inner(residual, residual)
        enough = square * min(0.25, np.sqrt(square))
        solution = np.zeros_like(residual)
        search = residual.copy()
        for k in range(self.inner_iterations):
            image = point.hessian_product(search)
            curvature = problem.inner(search, image)
            if curvature <= 0:
                return search if k == 0 else solution
            step = square / curvature
            solution += step * search
            residual = residual - step * image
            before, square = square, problem.inner(residual, residual)
            if square <= enough:
                break
            search = residual + (square / before) * search
        return solution
