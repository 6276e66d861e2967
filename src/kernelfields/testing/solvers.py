"""A problem whose answer is known, and checks that every solver must pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..objective import Certificate
from ..solvers import Progress, Reason, Solver, Stop
from ..structures._base import Array


@dataclass(frozen=True)
class Quadratic:
    """½⟨x − c, A(x − c)⟩ + height on R^n with the inner product ⟨u, v⟩ = uᵀMv.

    With A − I positive semi-definite in that inner product the function is 1-strongly convex, so
    that value − ½‖gradient‖² bounds its minimum from below.
    """

    A: Array
    M: Array
    center: Array
    height: float = 1.0
    thresholds: Array | None = None

    def inner(self, left: Array, right: Array) -> float:
        """uᵀMv."""
        return float(left @ self.M @ right)

    def curvatures(self, element: Array) -> Array | None:
        """Unknown."""
        return None

    def at(self, element: Array) -> QuadraticPoint:
        """Give the point at x."""
        return QuadraticPoint(self, element)

    @classmethod
    def random(cls, n: int, rng: np.random.Generator) -> Quadratic:
        """A badly scaled one: condition 10⁴ in the metric, and the metric itself 10³."""
        basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
        M = basis @ np.diag(np.logspace(0, 3, n)) @ basis.T
        root = np.linalg.cholesky(M)
        inner_basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
        symmetric = inner_basis @ np.diag(np.logspace(0, 4, n)) @ inner_basis.T
        A = np.linalg.solve(root.T, symmetric @ root.T)  # self-adjoint in M
        return cls(A, M, rng.normal(size=n))


@dataclass(frozen=True)
class QuadraticPoint:
    """The quadratic near one x."""

    problem: Quadratic
    element: Array

    @property
    def gradient(self) -> Array:
        """A(x − c), in the metric."""
        return self.problem.A @ (self.element - self.problem.center)

    @property
    def value(self) -> float:
        """The function."""
        return (
            0.5 * self.problem.inner(self.element - self.problem.center, self.gradient) + self.problem.height
        )

    @property
    def certificate(self) -> Certificate:
        """Value and lower bound."""
        return Certificate(self.value, self.value - 0.5 * self.problem.inner(self.gradient, self.gradient))

    def hessian_product(self, direction: Array) -> Array:
        """A d."""
        return self.problem.A @ direction

    def along(self, direction: Array) -> QuadraticLine:
        """Give the function on a ray."""
        return QuadraticLine(self, direction)


class QuadraticLine(NamedTuple):
    """The quadratic on a ray."""

    start: QuadraticPoint
    direction: Array

    def at(self, step: float) -> QuadraticPoint:
        """Give the point at x + t d."""
        return QuadraticPoint(self.start.problem, self.start.element + step * self.direction)

    def slope(self, point: QuadraticPoint) -> float:
        """⟨gradient, d⟩."""
        return self.start.problem.inner(point.gradient, self.direction)


def check_solver(solver: Solver, rng: np.random.Generator) -> None:
    """Check that a solver finds a known minimum, reports truly, and stops for each reason."""
    problem = Quadratic.random(12, rng)
    seen: list[Progress] = []
    result = solver.minimize(
        problem, np.zeros(12), Stop(gap=1e-10, iterations=2000), lambda progress, _: seen.append(progress)
    )
    assert result.reason is Reason.GAP
    assert result.point.value - problem.height <= 1e-10 * result.point.value
    np.testing.assert_allclose(result.point.element, problem.center, atol=1e-3)
    values = [progress.value for progress in seen]
    assert all(after <= before for before, after in pairwise(values))
    assert all(progress.lower_bound <= problem.height + 1e-12 for progress in seen)
    assert [progress.iteration for progress in seen] == list(range(len(seen)))
    assert solver.minimize(problem, np.zeros(12), Stop(gap=1e-10, iterations=1)).reason is Reason.LIMIT
    until_two = solver.minimize(
        problem, np.zeros(12), Stop(gap=1e-10), lambda progress, _: progress.iteration == 2
    )
    assert until_two.reason is Reason.OBSERVER
    assert until_two.progress.iteration == 2
    _check_interruption(solver, problem)


def _check_interruption(solver: Solver, problem: Quadratic) -> None:
    """Ctrl-C keeps the point reached."""

    def interrupt(progress: Any, point: Any) -> None:
        if progress.iteration == 2:
            raise KeyboardInterrupt

    result = solver.minimize(problem, np.zeros(12), Stop(gap=1e-10, iterations=50), interrupt)
    assert result.reason is Reason.INTERRUPTED
    assert result.point.value < problem.at(np.zeros(12)).value
