"""L-BFGS for an objective with an ℓ1 part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._base import Array, Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop
from .lbfgs import History

SUFFICIENT = 1e-4


@dataclass(frozen=True)
class OWLQN(Solver):
    """Orthant-wise limited-memory quasi-Newton, for f(w) + Σ_k κ_k |w_k| in orthonormal coordinates.

    Inside one orthant the ℓ1 part is linear. Each step takes the quasi-Newton direction for the
    steepest descent of the whole, keeps the orthant that this points into, and sets to zero what would
    leave it; the curvature comes from the smooth part alone. Gives exact zeros.

    Parameters
    ----------
    memory : int
        Number of past steps kept.
    """

    memory: int = 10

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        monitor = Monitor(problem, stop, observer)
        kappa = problem.thresholds
        assert kappa is not None
        point = problem.at(start)
        history = History(problem, self.memory)
        iteration = 0
        reason = monitor.look(iteration, point)
        try:
            while reason is None:
                steepest = pseudo_gradient(point, kappa)
                direction = history.apply(-steepest)
                direction[direction * steepest >= 0] = 0
                found = self._search(problem, point, direction, steepest, 1.0 if history else None)
                if found is None and history:
                    history.clear()
                    continue
                if found is None:
                    reason = Reason.STUCK
                    break
                history.add(found.element - point.element, found.gradient - point.gradient)
                point = found
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)

    def _search(
        self, problem: ProblemLike, point: Any, direction: Array, steepest: Array, first: float | None
    ) -> Any:
        """Backtrack along the projected ray until the whole objective falls enough."""
        norm = float(np.sqrt(problem.inner(direction, direction)))  # NumPy's own would widen elements
        if norm == 0:
            return None
        step = min(1.0, 1.0 / norm) if first is None else first
        orthant = np.where(point.element != 0, np.sign(point.element), -np.sign(steepest))
        for _ in range(30):
            moved = point.element + step * direction
            moved[moved * orthant <= 0] = 0
            trial = problem.at(moved)
            if trial.value <= point.value + SUFFICIENT * problem.inner(steepest, moved - point.element):
                return trial
            step *= 0.5
        return None


def pseudo_gradient(point: Any, kappa: Array) -> Array:
    """The subgradient of least norm, coordinate by coordinate."""
    gradient, element = point.gradient, point.element
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - kappa, 0.0)
    return np.where(element == 0, at_zero, gradient + kappa * np.sign(element))
