"""Quasi-Newton steps where the function is smooth, proximal steps across its kinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, whole
from ._base import LineLike, Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop
from .lbfgs import History, wolfe

SUFFICIENT = 0.25
"""Share of what a proximal step would gain, were the Hessian 1/t, that it has to gain."""

TRIALS = 40
"""Halvings of a proximal step."""

LONGEST = 16
"""Quasi-Newton steps between two proximal ones, at most."""


@dataclass(frozen=True)
class ProximalQuasiNewton(Solver):
    """Minimises f + h, f smooth and h a sum of norms: of groups, of whole spaces, of single coordinates.

    Two kinds of steps take turns. A proximal one, x ← prox_{th}(x − t∇f(x)), decides which groups are
    zero, and does so for good after finitely many iterations. On those that are not, f + h is smooth: an
    L-BFGS step of the whole function follows there, h with its curvature included. The first alone would
    converge linearly, the second alone would not find the zeros [after bareilles2023newton, with a
    quasi-Newton step]. Proximal steps that change nothing about the zeros become rare, 1 in 16 at last:
    they spoil the directions of the others. t is that of Barzilai and Borwein, halved until the function
    falls.

    It needs of the space an inner product and the proximal map, which for the norm of a Hilbert space is a
    scaling: kernel expansions are no harder than weights.

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
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        curvatures = problem.curvatures(point, even=True) if reason is None else None
        smooth = _SmoothPart(problem, self.memory, problem.moving(start), curvatures)
        scales = None if curvatures is None else problem.levelled(curvatures)
        step = 1.0 if scales is not None or reason is not None else min(1.0, 1.0 / monitor.gradient_norm)
        try:
            while reason is None:
                before = point
                if smooth.settled(point):
                    point = smooth.descend(before, point)
                if point is before:
                    point = _proximal_step(problem, point, step, scales)
                    smooth.wait(before, point)
                    point = smooth.descend(before, point)
                if point is before:
                    reason = Reason.STUCK
                    break
                step = _next_step(problem, before, point, step, scales)
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)


def _proximal_step(problem: ProblemLike, point: Any, step: float, scales: Array | None) -> Any:
    """Return the point after a proximal step that lowers the function, or the same if there is none."""
    scaled = point.gradient if scales is None else point.gradient / scales
    for _ in range(TRIALS):
        moved = problem.shrunk(point.element - step * scaled, step, scales)
        change = moved - point.element
        size = problem.inner(change, change if scales is None else scales * change)
        if not size > 0:
            return point
        found = problem.at(moved)
        if found.value <= point.value - SUFFICIENT / step * size:
            return found
        step *= 0.5
    return point


def _next_step(problem: ProblemLike, before: Any, after: Any, step: float, scales: Array | None) -> float:
    """Return ⟨s, y⟩/⟨y, y⟩ of the way s and the change of the gradient y, the latter scaled."""
    way, change = after.element - before.element, after.gradient - before.gradient
    along = problem.inner(way, change)
    size = problem.inner(change, change if scales is None else change / scales)
    return along / size if along > 0 and size > 0 else step


class _SmoothPart:
    """The function of those coordinates that no norm holds at zero, and what is known of its Hessian."""

    def __init__(self, problem: ProblemLike, memory: int, moving: Any, curvatures: Array | None) -> None:
        self.problem = problem
        self.moving = moving
        self.known = curvatures is not None
        self.pause, self.left = 0, 0
        self.history = History(problem, memory, curvatures)

    def settled(self, point: Any) -> bool:
        """Whether to go on without a proximal step: one was not long ago, and zeros want to stay zero."""
        self.left -= 1
        if self.left < 0 or not np.array_equal(self.problem.moving(point.element), self.moving):
            return False
        held = self.problem.steepest(point) - self._slope(point)
        slope = self._slope(point)
        return self.problem.inner(held, held) <= self.problem.inner(slope, slope)

    def wait(self, before: Any, point: Any) -> None:
        """Set the number of steps until the next proximal one: twice as many if this one taught nothing."""
        same = np.array_equal(self.problem.moving(before.element), self.problem.moving(point.element))
        self.pause = min(max(2 * self.pause, 1), LONGEST) if same else 0
        self.left = self.pause

    def descend(self, before: Any, point: Any) -> Any:
        """Return the point after a quasi-Newton step, or the same if none lowers the function.

        ``before`` is where the proximal step came from: it teaches curvature if it was of the same kind.
        """
        moving = self.problem.moving(point.element)
        if not np.array_equal(moving, self.moving):
            self.moving = moving
            self.history.clear()
        slope = self._slope(point)
        if point is not before and np.array_equal(self.problem.moving(before.element), moving):
            self.history.add(point.element - before.element, slope - self._slope(before))
        size = self.problem.inner(slope, slope)
        if not size > 0:
            return point
        direction = self.history.apply(-slope)
        first = 1.0 if self.history or self.known else min(1.0, 1.0 / float(np.sqrt(size)))
        line = _RoughLine(self.problem, point.along(direction), direction)
        found = wolfe(line, point, first, rounding=self.problem.rounding)
        if found is None:
            self.history.clear()
            return point
        self.history.add(found.point.element - point.element, self._slope(found.point) - slope)
        return found.point

    def _slope(self, point: Any) -> Array:
        """Return the gradient of the whole function, 0 where a norm holds."""
        return np.where(self.moving, self.problem.steepest(point), 0).astype(point.element.dtype, copy=False)


class _RoughLine(NamedTuple):
    """The whole function on a ray."""

    problem: ProblemLike
    line: LineLike
    direction: Array

    def at(self, step: float) -> Any:
        """Return the point at some step."""
        return self.line.at(step)

    def slope(self, point: Any) -> float:
        """Return the derivative, norms included."""
        return self.problem.inner(self.problem.steepest(point), self.direction)
