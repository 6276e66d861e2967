"""The objective near one element, and on a ray from it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..arrays import Array
from ..losses import BlockLoss, LossValue
from ..native import score_dot
from ..structures import Blocks
from .certificate import Certificate, Dual, certify

if TYPE_CHECKING:
    from .problem import Problem


class Point:
    """R near one element; keeps its scores and marginals."""

    def __init__(self, problem: Problem, element: Array, theta: dict[str, Array]) -> None:
        self.problem = problem
        self.element = element
        self.theta = theta

    @cached_property
    def loss(self) -> LossValue:
        """The loss and its gradient in the scores."""
        return self.problem.loss.at(self.problem.with_offset(self.theta))

    @cached_property
    def value(self) -> float:
        """R(f)."""
        return self.loss.value + self.problem.penalty(self.element)

    @cached_property
    def mismatch(self) -> Array:
        """Riesz element of the loss's gradient: expected minus observed features, over λ."""
        return self.problem.representer(self.loss.gradient)

    @cached_property
    def gradient(self) -> Array:
        """∇R(f), an element."""
        return self.problem.damped(self.element) + self.mismatch

    @cached_property
    def certificate(self) -> Certificate | None:
        """A lower bound of min R; None where there is none."""
        return certify(self.problem, self.element, self.mismatch, self.loss.value, self.value)

    @property
    def dual(self) -> Dual | None:
        """The point of the dual problem that belongs to this one; None where mixtures prove nothing."""
        problem = self.problem
        if not problem.certifiable or any(term.l1 or not term.penalty for term in problem.terms):
            return None
        level = self.loss.value - problem.inner(self.element, self.mismatch)
        if problem.certain is not None:
            level -= problem.certain.of_level(problem, self.element)
        return Dual(level, self.mismatch)

    def hessian_product(self, direction: Array) -> Array:
        """∇²R(f)·d, an element; self-adjoint in the inner product."""
        problem = self.problem
        curvature = problem.loss.curvature(problem.with_offset(self.theta), problem.scores(direction))
        return problem.damped(direction) + problem.representer(curvature)

    @cached_property
    def blocks(self) -> dict[str, Blocks]:
        """The curvature of the loss inside single cliques."""
        loss = self.problem.loss
        if not isinstance(loss, BlockLoss):
            raise TypeError(f"{type(loss).__name__} has no block for every clique; use another solver.")
        return loss.blocks(self.problem.with_offset(self.theta))

    def block_hessian_product(self, direction: Array) -> Array:
        """∇²R(f)·d with covariances inside single cliques only [altun2004exp, eq. 30], an element.

        Spaces that feed one clique type stay coupled. Never negative, but no majoriser of ∇²R either.
        """
        along = self.problem.scores(direction)
        curvature = {clique: block.times(along[clique]) for clique, block in self.blocks.items()}
        return self.problem.damped(direction) + self.problem.representer(curvature)

    def along(self, direction: Array) -> Line:
        """R on the ray from here along a direction."""
        return Line(self, direction)


class Line:
    """R(f + t d) for several t: scores are linear in t, so that no trial needs a product with inputs."""

    def __init__(self, start: Point, direction: Array) -> None:
        self.start = start
        self.direction = direction
        self._theta = start.problem.scores(direction)

    def at(self, step: float) -> Point:
        """Return the point f + t d."""
        start = self.start
        theta = {clique: step * values for clique, values in self._theta.items()}
        for clique, values in theta.items():
            values += start.theta[clique]
        return Point(start.problem, start.element + step * self.direction, theta)

    def slope(self, point: Point) -> float:
        """Return the derivative of R along the direction at one of its points.

        At new points from the scores: their gradient in the spaces may never be asked for.
        """
        problem = self.start.problem
        if point is self.start:
            return problem.inner(point.gradient, self.direction)
        gradient = point.loss.gradient
        steepness = sum(score_dot(gradient[clique], values) for clique, values in self._theta.items())
        return steepness + problem.inner(problem.damped(point.element), self.direction)
