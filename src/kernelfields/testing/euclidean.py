"""The plain route: SciPy's L-BFGS on coordinates, as if they were orthonormal.

What the papers did, kept as a reference for optima and to show what the inner product of a space is
worth. The gradient in the coefficients α of a kernel expansion is K r, r those of the gradient in the
space, so that every evaluation takes two products with K, and the Hessian inherits the condition of K.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..arrays import Array
from ..objective import Point, Problem, Term
from ..solvers import Observer, Progress, Reason, Result
from ..spaces import BoundSpace, Euclidean


def minimize_euclidean(
    problem: Problem,
    *,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    memory: int = 10,
    observer: Observer | None = None,
) -> Result:
    """Minimise a smooth problem from zero by SciPy's L-BFGS-B in the coordinates of its spaces.

    Parameters
    ----------
    problem : Problem
        Its spaces have orthonormal coordinates, or are expansions over all cliques.
    tolerance : float
        Largest partial derivative at which to stop.
    iterations, memory : int
        Limit of iterations; past steps kept.
    observer : callable, optional
        Called with every `Progress`, the norm of the partial derivatives in it, and the point.
    """
    if not problem.smooth:
        raise TypeError("SciPy's L-BFGS-B cannot minimise norms that are not squared.")
    coordinates = Coordinates(problem)
    started = time.perf_counter()
    count = 0

    def report(intermediate_result: Any) -> None:
        nonlocal count
        count += 1
        norm = float(np.linalg.norm(coordinates.slopes))  # SciPy evaluates last where it goes
        seconds = time.perf_counter() - started
        progress = Progress(count, float(intermediate_result.fun), norm, -np.inf, seconds)
        if observer is not None and observer(progress, coordinates.point):
            raise StopIteration

    found = minimize(
        coordinates.value_and_derivatives,
        np.zeros(coordinates.size),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={
            "gtol": tolerance,
            "ftol": 0.0,
            "maxiter": iterations,
            "maxfun": 20 * iterations,
            "maxcor": memory,
        },
    )
    point = problem.at(coordinates.element(found.x))
    norm = float(np.linalg.norm(found.jac))
    progress = Progress(count, point.value, norm, -np.inf, time.perf_counter() - started)
    return Result(point, _reason(found), progress)


class Coordinates:
    """A problem as a function of coordinates."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.counts = [_n_coordinates(term.space) for term in problem.terms]
        self.size = sum(self.counts)
        self.point: Point = problem.at(problem.zero())
        """Where R was last evaluated, and its ``slopes`` there, ∂R/∂(coordinates)."""
        self.slopes = np.zeros(self.size)

    def element(self, coordinates: Array) -> Array:
        """Return the element with these coordinates, images included."""
        parts = np.split(coordinates, np.cumsum(self.counts)[:-1])
        pairs = zip(self.problem.terms, parts, strict=True)
        return np.concatenate([_element(term.space, part) for term, part in pairs])

    def derivatives(self, point: Point) -> Array:
        """∂R/∂(coordinates) at a point."""
        gradient = point.loss.gradient
        return np.concatenate(
            [
                _derivatives(term, point.element[place], gradient[term.space.clique])
                for term, place in zip(self.problem.terms, self.problem.slices.values(), strict=True)
            ]
        )

    def value_and_derivatives(self, coordinates: Array) -> tuple[float, Array]:
        """Return R and ∂R/∂(coordinates)."""
        self.point = self.problem.at(self.element(coordinates))
        self.slopes = self.derivatives(self.point)
        return self.point.value, self.slopes


def _n_coordinates(space: BoundSpace) -> int:
    if isinstance(space, Euclidean):
        return space.size
    return len(space.adjoint(np.zeros(space.structure.shapes[space.clique])))


def _element(space: BoundSpace, coordinates: Array) -> Array:
    """Return an element by its coordinates; those over all cliques represent themselves."""
    if isinstance(space, Euclidean):
        return coordinates
    element = space.representer(coordinates.reshape(space.structure.shapes[space.clique]))
    if not np.array_equal(element[: len(coordinates)], coordinates):
        raise TypeError(f"{type(space).__name__} is no expansion over all cliques.")
    return element


def _derivatives(term: Term, element: Array, gradient: Array) -> Array:
    """Derivatives of loss and penalty, with one product: K(dθ + λα)."""
    if isinstance(term.space, Euclidean):
        return term.space.adjoint(gradient) + term.penalty * element
    alpha = element[: gradient.size].reshape(gradient.shape)
    return term.space.adjoint(gradient + term.penalty * alpha)


def _reason(found: Any) -> Reason:
    if found.status == 0:
        return Reason.GRADIENT
    return Reason.OBSERVER if found.status == 99 else Reason.LIMIT if found.status == 1 else Reason.STUCK
