"""L-BFGS for an objective with an ℓ1 part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, whole
from ..errors import UnsupportedError
from ._base import Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop
from .lbfgs import History

Mask = npt.NDArray[np.bool_]

SUFFICIENT = 1e-4
FLATTER = 0.8
"""Share of the squared slope below which a step counts though its value is that of rounding."""


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
    _checks: ClassVar[Mapping[str, Check]] = {"memory": whole(0)}

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        monitor = Monitor(problem, stop, observer)
        kappa = problem.thresholds
        if kappa is None:
            raise UnsupportedError("OWLQN needs an ℓ1 penalty, and no other norm that is not squared.")
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        curvatures = problem.curvatures(point) if reason is None else None
        history = History(problem, self.memory, curvatures)
        try:
            while reason is None:
                steepest = problem.steepest(point)
                direction = history.apply(-steepest)
                self._align(problem, direction, steepest, (kappa > 0) & (point.element == 0))
                known = history or curvatures is not None
                found = self._search(problem, point, direction, steepest, 1.0 if known else None)
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

    @staticmethod
    def _align(problem: ProblemLike, direction: Array, steepest: Array, pinned: Mask) -> None:
        """Leave out what points away from the orthant: at zeros only, unless the rest would not descend.

        Elsewhere the function is smooth; to cut the step there makes nearly parallel features crawl.
        """
        away = np.asarray(direction * steepest >= 0)
        direction[away & pinned] = 0
        if not problem.inner(direction, steepest) < 0:
            direction[away] = 0

    def _search(
        self, problem: ProblemLike, point: Any, direction: Array, steepest: Array, first: float | None
    ) -> Any:
        """Backtrack along the projected ray until the whole objective falls enough."""
        norm = float(np.sqrt(problem.inner(direction, direction)))  # NumPy's own would widen elements
        if norm == 0:
            return None
        step = min(1.0, 1.0 / norm) if first is None else first
        assert problem.thresholds is not None
        bound = np.asarray(problem.thresholds > 0)
        orthant = np.where(point.element != 0, np.sign(point.element), -np.sign(steepest))
        for _ in range(30):
            moved = point.element + step * direction
            moved[(moved * orthant <= 0) & bound] = 0
            if np.array_equal(moved, point.element):
                return None  # rounding has eaten the step: nothing would change for ever
            trial = problem.at(moved)
            if trial.value <= point.value + SUFFICIENT * problem.inner(steepest, moved - point.element):
                return trial
            if _flatter(problem, trial, point, steepest):
                return trial
            step *= 0.5
        return None


def _flatter(problem: ProblemLike, trial: Any, point: Any, steepest: Array) -> bool:
    """Whether a value differs by rounding only, and the slope says that the step was a good one.

    Near the minimum values drown in rounding long before slopes do.
    """
    if trial.value > point.value + problem.rounding * abs(point.value):
        return False
    slope = problem.steepest(trial)
    return problem.inner(slope, slope) <= FLATTER * problem.inner(steepest, steepest)
