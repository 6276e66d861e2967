"""A problem whose answer is known, and checks that every solver must pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..arrays import Array
from ..objective import Certificate
from ..solvers import Progress, Reason, Solver, Stop


@dataclass(frozen=True)
class Quadratic:
    """½⟨x − c, A(x − c)⟩ + height on R^n with the inner product ⟨u, v⟩ = uᵀMv.

    With A − I positive semi-definite in that inner product the function is 1-strongly convex, so
    that value − ½‖gradient‖² bounds its minimum from below. It has two blocks, its halves.
    """

    A: Array
    M: Array
    center: Array
    height: float = 1.0
    thresholds: Array | None = None
    second_order: bool = True
    rounding: float = 0.0
    orthogonal: bool = False
    n_instances: int = 1

    @property
    def smooth(self) -> bool:
        """Whether there is no ℓ1 part."""
        return self.thresholds is None

    @property
    def data(self) -> Quadratic:
        """Itself."""
        return self

    def steepest(self, point: QuadraticPoint) -> Array:
        """Return the gradient."""
        return point.gradient

    def levelled(self, scales: Array) -> Array:
        """Return the scales."""
        return scales

    def shrunk(self, element: Array, step: float, scales: Array | None = None) -> Array:
        """Return the element; an ℓ1 part has no simple proximal map in this metric."""
        if self.thresholds is not None:
            raise TypeError("The coordinates are not orthogonal.")
        return element

    def moving(self, element: Array) -> Array:
        """Return that everything moves."""
        return np.ones(len(element), dtype=bool)

    @property
    def slices(self) -> dict[str, slice]:
        """First and second half."""
        n = len(self.center)
        return {"first": slice(0, n // 2), "second": slice(n // 2, n)}

    @property
    def blocks(self) -> tuple[tuple[str, ...], ...]:
        """Either half by itself."""
        return (("first",), ("second",))

    def only(self, names: Iterable[str], element: Array) -> Quadratic:
        """Return the function of one half: in matrices, with B = MA,

        B_bb (x_b − c_b) + B_bo (x_o − c_o) = 0 at the new centre.
        """
        (name,) = names
        mine = np.zeros(len(self.center), dtype=bool)
        mine[self.slices[name]] = True
        M, B = self.M, self.M @ self.A
        away = np.where(mine, 0.0, element - self.center)
        center = self.center[mine] - np.linalg.solve(B[np.ix_(mine, mine)], (B @ away)[mine])
        lowest = element.copy()
        lowest[mine] = center
        metric = M[np.ix_(mine, mine)]
        A = np.linalg.solve(metric, B[np.ix_(mine, mine)])
        return Quadratic(A, metric, center, self.at(lowest).value)

    def sampled(self, ids: object) -> Quadratic:
        """Return it all: there is one instance."""
        return self

    def inner(self, left: Array, right: Array) -> float:
        """uᵀMv."""
        return float(left @ self.M @ right)

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """uᵀMv for several u."""
        return np.array([self.inner(one, right) for one in left])

    def add_multiples(self, element: Array, elements: Sequence[Array], weights: Array) -> None:
        """X += Σ_k weight_k x_k."""
        for weight, one in zip(weights, elements, strict=True):
            element += weight * one

    def curvatures(self, point: object, *, even: bool = False) -> Array | None:
        """Unknown."""
        return None

    def hessian_model(self, point: object, curvatures: Array) -> None:
        """Return nothing: there is none."""

    def at(self, element: Array) -> QuadraticPoint:
        """Return the point at x."""
        return QuadraticPoint(self, element)

    @classmethod
    def random(cls, n: int, rng: np.random.Generator, condition: float = 1e4) -> Quadratic:
        """A badly scaled one: by its condition in the metric, and the metric itself has 10³.

        The halves are orthogonal, as spaces of a model are.
        """
        M = block_diag(*(_symmetric(np.geomspace(1, 1e3, m), rng) for m in (n // 2, n - n // 2)))
        root = np.linalg.cholesky(M)
        symmetric = _symmetric(np.geomspace(1, condition, n), rng)
        A = np.linalg.solve(root.T, symmetric @ root.T)  # self-adjoint in M
        return cls(A, M, rng.normal(size=n))


def _symmetric(eigenvalues: Array, rng: np.random.Generator) -> Array:
    """A random symmetric matrix with these eigenvalues."""
    basis = np.linalg.qr(rng.normal(size=(len(eigenvalues), len(eigenvalues))))[0]
    return basis @ np.diag(eigenvalues) @ basis.T


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

    dual = None

    def hessian_product(self, direction: Array) -> Array:
        """A d."""
        return self.problem.A @ direction

    def block_hessian_product(self, direction: Array) -> Array:
        """A d without what one half does to the other."""
        B = self.problem.M @ self.problem.A
        halves = np.zeros_like(B)
        for place in self.problem.slices.values():
            halves[place, place] = B[place, place]
        return np.linalg.solve(self.problem.M, halves @ direction)

    def along(self, direction: Array) -> QuadraticLine:
        """Return the function on a ray."""
        return QuadraticLine(self, direction)


class QuadraticLine(NamedTuple):
    """The quadratic on a ray."""

    start: QuadraticPoint
    direction: Array

    def at(self, step: float) -> QuadraticPoint:
        """Return the point at x + t d."""
        return QuadraticPoint(self.start.problem, self.start.element + step * self.direction)

    def slope(self, point: QuadraticPoint) -> float:
        """⟨gradient, d⟩."""
        return self.start.problem.inner(point.gradient, self.direction)


def check_solver(solver: Solver, rng: np.random.Generator, condition: float = 1e4) -> None:
    """Check that a solver finds a known minimum, reports truly, and stops for each reason.

    Solvers of linear convergence are put to it with a smaller ``condition`` of the Hessian.
    """
    problem = Quadratic.random(12, rng, condition)
    seen: list[Progress] = []
    stop = Stop(gap=1e-10, iterations=2000)
    result = solver.minimize(problem, np.zeros(12), stop, lambda progress, _: seen.append(progress))
    assert result.reason is Reason.GAP
    assert result.point.value - problem.height <= 1e-10 * result.point.value
    np.testing.assert_allclose(result.point.element, problem.center, atol=1e-3)
    values = [progress.value for progress in seen]
    assert all(after <= before for before, after in pairwise(values[:-1]))
    # a flatter point that certifies the gap may end the search, higher by less than the gap
    assert values[-1] <= values[-2] * (1 + stop.gap)
    assert all(progress.lower_bound <= problem.height + 1e-12 for progress in seen)
    assert [progress.iteration for progress in seen] == list(range(len(seen)))
    assert solver.minimize(problem, np.zeros(12), Stop(gap=1e-10, iterations=1)).reason is Reason.LIMIT
    until_two = solver.minimize(
        problem, np.zeros(12), Stop(gap=1e-10), lambda progress, _: progress.iteration == 2
    )
    assert until_two.reason is Reason.OBSERVER
    assert until_two.progress.iteration == 2
    _check_interruption(solver, problem)
    _check_smoothness(solver, problem)


def _check_interruption(solver: Solver, problem: Quadratic) -> None:
    """Ctrl-C keeps the point reached."""

    def interrupt(progress: Any, point: Any) -> None:
        if progress.iteration == 2:
            raise KeyboardInterrupt

    result = solver.minimize(problem, np.zeros(12), Stop(gap=1e-10, iterations=50), interrupt)
    assert result.reason is Reason.INTERRUPTED
    assert result.point.value < problem.at(np.zeros(12)).value


def _check_smoothness(solver: Solver, problem: Quadratic) -> None:
    """An ℓ1 part is minimised or refused, never ignored."""
    rough = replace(problem, thresholds=np.ones(12))
    try:
        result = solver.minimize(rough, np.zeros(12), Stop(gap=1e-10, iterations=50))
    except TypeError:
        return
    assert not np.allclose(result.point.element, problem.center, atol=1e-3)
