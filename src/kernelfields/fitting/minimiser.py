"""The minimum of an objective, certified in double, with a warning where the search fell short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..data.training import warn_of
from ..losses import Loss, Minimiser
from ..objective import ArrayData, Certificate, Dual, Point, Problem
from ..solvers import Observer, Progress, Reason, Result, Solver, Stop
from ..structures import warn_of_unsettled

ROUNDS = 5
"""How often at most a search goes on because its arithmetic had promised too much."""


class Found(NamedTuple):
    """Where a search ended."""

    point: Any
    """In double."""
    element: Array
    """In the precision in which it was found, and is kept."""
    iterations: int
    reason: Reason
    certificate: Certificate | None
    path: tuple[float, ...] = ()
    """The objective before every step of EM, and at the end; empty for other searches."""

    @property
    def value(self) -> float:
        """The objective there."""
        return float(self.point.value)

    def add_rounds(self, iterations: int, path: tuple[float, ...] = ()) -> Found:
        """Return the same with earlier iterations counted, and the objective before each step of EM."""
        return self._replace(iterations=iterations + self.iterations, path=path)


class ProblemMinimiser(Minimiser[Found]):
    """Minimises a problem, and the same with other losses on its structure and spaces.

    Parameters
    ----------
    problem : Problem
        With the loss of the fit.
    solver, stop, observer
        How to search.
    exact : callable
        Makes the same problem in double, where what was found is certified.
    """

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        stop: Stop,
        observer: Observer | None,
        exact: Callable[[], Problem],
    ) -> None:
        self.problem, self.exact = problem, exact
        self.solver, self.stop, self.observer = solver, stop, observer
        self.iterations, self.tolerance = stop.iterations, stop.gradient

    def minimise(self, loss: Loss, start: Array) -> Found:
        """Search to the end."""

        def exact() -> Problem:
            return self._with_loss(loss, self.exact())

        return minimise(
            self._with_loss(loss, self.problem), start, self.solver, self.stop, self.observer, exact
        )

    def advance(self, loss: Loss, start: Array, count: int) -> tuple[Array, int]:
        """Return the element after a few iterations, and their number."""
        # No gap is small enough: where a step begins, the touching function is often within it already.
        part = Stop(0.0, self.stop.gradient, min(count, self.stop.iterations))
        result = self.solver.minimize(self._with_loss(loss, self.problem), start, part, self.observer)
        return result.point.element, result.progress.iteration

    def scores(self, element: Array) -> dict[str, Array]:
        """Return θ, fixed scores included."""
        data = self.problem.arrays
        return data.with_offset(data.scores(element))

    def refresh(self, element: Array) -> Array:
        """Return an element whose images are computed again."""
        return self.problem.refreshed(element)

    def at(self, element: Array) -> Point:
        """Return the objective at an element."""
        return self.problem.at(element)

    def slope(self, point: Point) -> float:
        """Return the norm of the gradient at a point."""
        slope = self.problem.steepest(point)
        return float(np.sqrt(max(self.problem.inner(slope, slope), 0.0)))

    def _with_loss(self, loss: Loss, problem: Problem) -> Problem:
        """Return a problem with another loss; that of the fit keeps its fast path."""
        if loss is self.problem.loss:
            return problem
        data = problem.arrays
        return Problem(problem.geometry, ArrayData(loss, data.spaces, data.offset, data.dtype))


def minimise(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
    exact: Callable[[], Problem],
) -> Found:
    """Minimise; ending with a larger gap than was asked for is a `ConvergenceWarning`.

    What is believed in the end is the certificate in double, of the element that is kept: images are sums
    of products and drift, bounds of single precision are guesses. Where that gap is too large, or single
    precision has come to its limit, the search goes on from there in double, in the problem that
    ``exact`` makes.
    """
    done, precise, target = 0, None, stop.gap

    def count_on(progress: Progress, point: Any) -> bool | None:
        assert observer is not None
        return observer(progress._replace(iteration=done + progress.iteration), point)

    for _ in range(ROUNDS):
        left = Stop(target, stop.gradient, max(stop.iterations - done, 0))
        result = solver.minimize(problem, start, left, None if observer is None else count_on)
        done += result.progress.iteration
        last, precise = problem is precise, precise or exact()
        point = precise.at(_in_double(precise, result))
        certificate = exact_certificate(point, result, stop.gap)
        reason = _verdict(result.reason, certificate, stop)
        if reason is not Reason.STUCK or (last and result.reason is not Reason.GAP):
            break
        target = 0.5 * target if last else stop.gap
        problem, start = precise, point.element
    if not reason.converged:
        warn_of(reason, result.progress, certificate)
    warn_of_unsettled(problem.structure, point.evaluation.unsettled)
    return Found(point, result.point.element, done, reason, certificate)


def _in_double(precise: Problem, result: Result) -> Array:
    """Return the element where a search ended, image and all, in double."""
    from ..objective import ExpectedParts  # which imports kernels

    if isinstance(result.dual, ExpectedParts):
        return result.dual.element(precise)
    return precise.refreshed(result.point.element.astype(np.float64))


def _verdict(reason: Reason, certificate: Certificate | None, stop: Stop) -> Reason:
    """Return why a search ended, seen in double: STUCK where the gap is larger than was asked for."""
    if certificate is None or reason in (Reason.LIMIT, Reason.OBSERVER, Reason.INTERRUPTED):
        return reason
    return Reason.GAP if certificate.relative_gap <= stop.gap else Reason.STUCK


def exact_certificate(point: Any, result: Result, gap: float = 0.0) -> Certificate | None:
    """Return the value at a point in double with the best bound that a search to it has proved.

    That of the point itself; of a search in the dual that of the distributions behind it; of another search
    in double also that of the mixture of dual points, its image computed anew, or, where elements have no
    images, that of the best iteration. No loss is negative.

    A mixture of dual points in single precision proves nothing. Every point has a bound, though, and the
    same mixture of points one that is about as good: averages have a smaller gradient than the last point of
    a search. That one is evaluated in double where the last point leaves more than ``gap``.
    """
    from ..objective import ExpectedParts  # which imports kernels

    certificate: Certificate | None = point.certificate
    if certificate is None:
        return None
    bounds, searched = [0.0, certificate.lower_bound], result.point.problem
    if isinstance(result.dual, ExpectedParts):
        bounds.append(result.dual.at(point).bound(point.problem))
    elif searched.certain is not None:
        if result.dual is not None:
            mismatch = point.problem.refreshed(result.dual.mismatch.astype(np.float64))
            bounds.append(Dual(result.dual.level, mismatch).bound(point.problem))
        elif searched.orthogonal:
            bounds.append(result.progress.lower_bound)
    elif certificate.relative_gap > gap and result.dual is not None and result.dual.element is not None:
        bounds.append(_bound_at(point.problem, result.dual.element))
    return certificate._replace(lower_bound=min(max(bounds), certificate.value))


def _bound_at(problem: Problem, element: Array) -> float:
    """Return the lower bound that an element proves in double."""
    certificate = problem.at(problem.refreshed(element.astype(np.float64))).certificate
    return -np.inf if certificate is None else certificate.lower_bound
