"""L-BFGS in the inner product of the problem."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ._base import Array, Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop, refuse_l1
from .line_search import wolfe

LARGE = 2**17
"""Numbers from which on an element counts as large."""


@dataclass(frozen=True)
class LBFGS(Solver):
    """Limited-memory quasi-Newton.

    The two-loop recursion needs of the space its inner product only; in the space's own geometry it
    takes tens of iterations where Euclidean coordinates of a kernel expansion take a thousand. For
    large smooth problems; the default.

    A problem that knows about how curved it is along each coordinate (``curvatures``) is asked once, at
    the start: the first guess of the Hessian is then that diagonal, scaled, instead of a multiple of
    the identity. On text, where some features are ten thousand times as frequent as others, that saves
    two thirds of the iterations.

    Parameters
    ----------
    memory : int, optional
        Number of past steps kept; if not given, 10, or 5 where elements are large: each step kept takes
        two vectors of memory and four passes over them in every iteration.
    """

    memory: int | None = None

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        refuse_l1(problem, self)
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        memory = (10 if len(start) < LARGE else 5) if self.memory is None else self.memory
        history = History(problem, memory, problem.curvatures(point))
        try:
            while reason is None:
                direction = history.apply(-point.gradient)
                first = 1.0 if history else min(1.0, 1.0 / monitor.gradient_norm)
                found = wolfe(point.along(direction), point, first, rounding=problem.rounding)
                if found is None and history:
                    history.clear()  # once more along the gradient itself
                    continue
                if found is None:
                    reason = Reason.STUCK
                    break
                history.add(found.point.element - point.element, found.point.gradient - point.gradient)
                point = found.point
                iteration += 1
                reason = monitor.look(iteration, point)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)


class History:
    """Past steps s and changes of the gradient y, and the inverse Hessian they suggest.

    Parameters
    ----------
    problem : ProblemLike
        Its inner product.
    memory : int
        Number of pairs kept.
    curvatures : array, optional
        A diagonal that resembles the Hessian, where no pair says better.
    """

    def __init__(self, problem: ProblemLike, memory: int, curvatures: Array | None = None) -> None:
        self._inner = problem.inner
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=memory)
        self._curvatures = curvatures
        self._scale = 1.0

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def clear(self) -> None:
        """Forget everything."""
        self._pairs.clear()

    def add(self, step: Array, change: Array) -> None:
        """Remember a step and the change of the gradient along it."""
        curvature = self._inner(step, change)
        size = self._inner(change, self._divided(change))
        if curvature > 1e-12 * size:  # else the pair would make the metric indefinite
            self._pairs.append((step, change, curvature))
            self._scale = curvature / size

    def apply(self, vector: Array) -> Array:
        """Multiply by the inverse Hessian: the two-loop recursion."""
        result, work = vector.copy(), np.empty_like(vector)
        shares = []
        for step, change, curvature in reversed(self._pairs):
            share = self._inner(step, result) / curvature
            result -= np.multiply(change, share, out=work)
            shares.append(share)
        result = self._divided(result)
        if self._pairs:
            result *= self._scale
        for (step, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            share -= self._inner(change, result) / curvature
            result += np.multiply(step, share, out=work)
        return result

    def _divided(self, vector: Array) -> Array:
        return vector if self._curvatures is None else vector / self._curvatures
