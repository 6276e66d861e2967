"""What one step of Newton's method gains with further functions."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..objective import Point, Problem
from .atoms import Atoms
from .task import View, element_of

LEAST = 1e-12
"""Share of the largest curvature below which a direction counts as flat, and is not followed."""


class NewtonGains:
    """R(f) − R(f + d), d the step of Newton's method in the span of selected functions, free scores and h.

    The Hessian of what is selected is inverted once; each candidate borders it by its own rows. Directions
    of negative curvature, possible where losses are not convex, are followed as if it were positive.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        problem = view.task.problem(view.state.grown)
        if not problem.second_order:
            raise InputError(f"Newton's method needs second derivatives, which {problem.loss} does not have.")
        point = problem.at(element_of(problem, view.state.parts))
        self.value = point.value
        self.inverse = _inverse(_columns(point, np.arange(problem.size)))

    def of(self, name: str, functions: Atoms) -> float:
        """Return the gain of some functions of a pool, added together; 0 if they are nothing new."""
        task, state = self.view.task, self.view.state
        added = state.grown[name].appended(functions)
        if not len(added.kept):
            return 0.0
        problem = task.problem(state.grown | {name: added.grown})
        point = problem.at(element_of(problem, state.parts))
        end = problem.slices[name].stop
        new = np.arange(end - len(added.kept), end)
        step = self._step(point, new)
        return max(0.0, self.value - problem.at(point.element + step).value)

    def _step(self, point: Point, new: Array) -> Array:
        """Return −H⁻¹∇R by elimination of all coordinates but the new ones."""
        problem = point.problem
        old = np.setdiff1d(np.arange(problem.size), new)
        border, slopes = _columns(point, new), _metric(problem) * point.gradient
        across = self.inverse @ border[old]
        corner = _inverse(border[new] - border[old].T @ across)
        step = np.zeros(problem.size)
        step[new] = -corner @ (slopes[new] - across.T @ slopes[old])
        step[old] = -self.inverse @ slopes[old] - across @ step[new]
        return step


def _metric(problem: Problem) -> Array:
    """Return the weight of every coordinate in the inner product; coordinates are orthogonal."""
    return np.concatenate([np.full(term.space.size, term.metric) for term in problem.terms])


def _columns(point: Point, which: Array) -> Array:
    """Return columns of the matrix of second derivatives of R."""
    result, direction = np.empty((point.problem.size, len(which))), point.problem.zero()
    for j, coordinate in enumerate(which):
        direction[coordinate] = 1.0
        result[:, j] = point.hessian_product(direction)
        direction[coordinate] = 0.0
    return result * _metric(point.problem)[:, None]


def _inverse(matrix: Array) -> Array:
    """Return the inverse of a symmetric matrix, of absolute curvatures; 0 along flat directions."""
    if not len(matrix):
        return matrix
    curvatures, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    size = np.abs(curvatures)
    steep = size > LEAST * size.max()
    inverted = np.where(steep, 1 / np.where(steep, size, 1.0), 0.0)
    return np.asarray((directions * inverted) @ directions.T)
