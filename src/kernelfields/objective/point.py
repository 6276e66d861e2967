"""The objective near one element, and on a ray from it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..losses import LossValue
from ._base import LossPoint, SecondDerivatives
from .array_data import ArrayLossPoint
from .certificate import Certificate, Dual, certify

if TYPE_CHECKING:
    from .problem import Problem


class Point:
    """R near one element."""

    def __init__(self, problem: Problem, element: Array, evaluation: LossPoint) -> None:
        self.problem = problem
        self.element = element
        self.evaluation = evaluation
        """The loss there."""
        self._mismatch: Array | None = None

    @property
    def theta(self) -> dict[str, Array]:
        """The scores, without fixed ones; for data that keep them."""
        return self._scored.theta

    @property
    def loss(self) -> LossValue:
        """The loss of every instance and its gradient in the scores; for data that keep scores."""
        return self._scored.loss

    @property
    def _scored(self) -> ArrayLossPoint:
        if not isinstance(self.evaluation, ArrayLossPoint):
            raise TypeError(f"{type(self.problem.data).__name__} keeps no scores.")
        return self.evaluation

    @cached_property
    def value(self) -> float:
        """R(f)."""
        return self.evaluation.value + self.problem.penalty(self.element)

    @property
    def mismatch(self) -> Array:
        """Riesz element of the loss's gradient: expected minus observed features, over λ."""
        if self._mismatch is not None:
            return self._mismatch
        if "gradient" in self.__dict__:  # which has taken its place
            return self.gradient - self.problem.damped(self.element)
        self._mismatch = self.problem.geometry.divided(self.evaluation.mismatch())
        return self._mismatch

    @cached_property
    def gradient(self) -> Array:
        """∇R(f) without the norms, an element."""
        damped = self.problem.damped(self.element)
        if self.problem.data.mixes:
            return damped + self.mismatch
        _ = self.certificate, self.mismatch  # the last one to see the mismatch itself
        gradient, self._mismatch = self.mismatch, None
        gradient += damped
        return gradient

    @cached_property
    def steepest(self) -> Array:
        """The shortest subgradient of R, norms included."""
        return self.problem.geometry.steepest(self.element, self.gradient)

    @cached_property
    def certificate(self) -> Certificate | None:
        """A lower bound of min R; None where there is none."""
        loss = self.evaluation
        return certify(self.problem, self.element, self.mismatch, loss.value, self.value, loss.slack)

    @property
    def dual(self) -> Dual | None:
        """The point of the dual problem that belongs to this one; None where mixtures prove nothing."""
        problem = self.problem
        if not (problem.data.mixes and problem.certifiable and problem.smooth):
            return None
        if not np.isfinite(self.evaluation.slack):
            return None
        level = self.evaluation.value - problem.inner(self.element, self.mismatch)
        if problem.certain is not None:
            level -= problem.certain.of_level(problem.geometry, self.element)
        return Dual(level, self.mismatch)

    def hessian_product(self, direction: Array) -> Array:
        """∇²R(f)·d, an element; self-adjoint in the inner product."""
        curvature = self._second_order.curvature(direction)
        return self.problem.damped(direction) + self.problem.geometry.divided(curvature)

    def block_hessian_product(self, direction: Array) -> Array:
        """∇²R(f)·d with covariances inside single cliques only [altun2004exp, eq. 30], an element.

        Never negative, but no majoriser of ∇²R either.
        """
        curvature = self._second_order.block_curvature(direction)
        return self.problem.damped(direction) + self.problem.geometry.divided(curvature)

    @property
    def _second_order(self) -> SecondDerivatives:
        if not isinstance(self.evaluation, SecondDerivatives):
            raise TypeError(f"{type(self.problem.data).__name__} has no second derivatives.")
        return self.evaluation

    def along(self, direction: Array) -> Line:
        """R on the ray from here along a direction."""
        return Line(self, direction)


class Line:
    """R(f + t d) for several t."""

    def __init__(self, start: Point, direction: Array) -> None:
        self.start = start
        self.direction = direction
        self._ray = start.evaluation.along(direction)

    def at(self, step: float) -> Point:
        """Return the point f + t d."""
        problem, element = self.start.problem, self.start.element + step * self.direction
        if self._ray is None:
            return problem.at(element)
        return Point(problem, element, self._ray.at(step))

    def slope(self, point: Point) -> float:
        """Return the derivative of R, without the norms, along the direction at one of its points."""
        problem = self.start.problem
        if self._ray is None or point is self.start:
            return problem.inner(point.gradient, self.direction)
        steepness = self._ray.slope(point.evaluation)
        return steepness + problem.inner(problem.damped(point.element), self.direction)
