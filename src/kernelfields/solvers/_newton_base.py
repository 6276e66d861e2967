"""Newton's method with some product for the Hessian."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, whole
from ._base import (
    Monitor,
    Observer,
    ProblemLike,
    Reason,
    Result,
    Solver,
    Stop,
    require_second_order,
    require_smooth,
)
from .lbfgs import wolfe

Product = Callable[[Array], Array]


@dataclass(frozen=True)
class TruncatedNewton(Solver):
    """Steps by conjugate gradients, made shorter or longer by a line search."""

    inner_iterations: int = 250
    _checks: ClassVar[Mapping[str, Check]] = {"inner_iterations": whole()}

    @abstractmethod
    def _hessian(self, point: Any) -> Product:
        """Return the product that stands for the Hessian at a point."""

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        require_second_order(problem, self)
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        try:
            while reason is None:
                direction = newton_direction(problem, point, self._hessian(point), self.inner_iterations)
                found = wolfe(point.along(direction), point, rounding=problem.rounding)
                if found is None:
                    reason = Reason.STUCK
                    break
                point = found.point
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)


def newton_direction(problem: ProblemLike, point: Any, hessian: Product, iterations: int) -> Array:
    """Solve H d = −∇R up to a residual of min(½, √‖∇R‖)·‖∇R‖, by conjugate gradients.

    Negative curvature ends the iteration: with the direction found so far, or, if it is met at once,
    with steepest descent.
    """
    residual = -point.gradient
    square = problem.inner(residual, residual)
    enough = square * min(0.25, np.sqrt(square))
    solution = np.zeros_like(residual)
    search = residual.copy()
    for k in range(iterations):
        image = hessian(search)
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
