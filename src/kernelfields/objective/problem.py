"""R as a function on the sum of the spaces, near one element, and on a ray: a geometry and a loss on data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..losses import Loss, LossValue
from ..structures import Scores
from ._base import DataTerm, LossPoint, SecondDerivatives
from .array_data import ArrayData, ArrayLossPoint
from .certificate import Certificate, Dual, Rounding, certify
from .counts import Counts, counts_of
from .geometry import Geometry, Term
from .hessian_model import CURVED, HessianModel

if TYPE_CHECKING:
    from .entropy_dual import EntropyDual


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
            raise UnsupportedError(f"{type(self.problem.data).__name__} keeps no scores.")
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
        return Dual(level, self.mismatch, self.element)

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
            raise UnsupportedError(f"{type(self.problem.data).__name__} has no second derivatives.")
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


class Problem:
    """R(f) = loss(f) + penalty(f), what solvers see; `Problem.of` makes the usual one.

    Parameters
    ----------
    geometry : Geometry
        The spaces, their inner product and their penalties.
    data : DataTerm
        The loss on data, on the same spaces.
    """

    def __init__(self, geometry: Geometry, data: DataTerm) -> None:
        self.geometry = geometry
        self.data = data
        self.terms, self.slices, self.size = geometry.terms, geometry.slices, geometry.size
        self.smooth, self.thresholds = geometry.smooth, geometry.thresholds
        self.blocks, self.orthogonal = geometry.blocks, geometry.orthogonal
        self.zero, self.refreshed = geometry.zero, geometry.refreshed
        self.inner, self.inners, self.add_multiples = geometry.inner, geometry.inners, geometry.add_multiples
        self.penalty, self.damped = geometry.penalty, geometry.damped
        self.shrunk, self.levelled, self.moving = geometry.shrunk, geometry.levelled, geometry.moving
        self.element_dtype = geometry.dtype
        self.loss, self.structure = data.loss, data.structure
        self.second_order = data.second_order

    @classmethod
    def of(
        cls,
        loss: Loss,
        terms: Sequence[Term],
        offset: Scores | None = None,
        dtype: npt.DTypeLike = np.float64,
        element_dtype: npt.DTypeLike = np.float64,
    ) -> Problem:
        """Return the problem of any structure, loss and spaces, by whole arrays of scores.

        Parameters
        ----------
        loss : Loss
            Bound to the structure and the observed outputs.
        terms : sequence of Term
            The spaces; several may feed one clique type and add up.
        offset : scores, optional
            Fixed scores: a base measure, −inf for what is forbidden.
        dtype : dtype
            Precision of the scores.
        element_dtype : dtype
            Precision of elements. Values, and sums that lead to them, are always float64.
        """
        geometry = Geometry(terms, element_dtype)
        return cls(geometry, ArrayData(loss, [term.space for term in terms], offset, dtype))

    @property
    def arrays(self) -> ArrayData:
        """The loss as a function of whole arrays of scores."""
        return self.data.arrays

    @property
    def certifiable(self) -> bool:
        """Whether a lower bound is known: a convex loss, and a penalty on every space."""
        return self.loss.convex and self.geometry.certifiable

    @property
    def certain(self) -> Rounding | None:
        """What certificates give way by; None where something is in single precision, and nothing certain."""
        return self.data.certain if self.element_dtype == np.float64 else None

    @property
    def rounding(self) -> float:
        """Share of R below which differences may be rounding: some units of the precision of scores."""
        return 32 * float(np.finfo(self.data.dtype).eps)

    @property
    def n_instances(self) -> int:
        """How many instances the loss is a sum over."""
        return self.structure.n_instances

    def at(self, element: Array) -> Point:
        """R, its gradient and its curvature at an element."""
        element = element.astype(self.element_dtype, copy=False)
        return Point(self, element, self.data.at(element))

    def steepest(self, point: Any) -> Array:
        """Return the shortest subgradient of R at a point, norms included."""
        return point.gradient if self.smooth else point.steepest

    @cached_property
    def _uneven(self) -> bool:
        return self.geometry.uneven(self.structure.n_vertices)

    def curvatures(self, point: Point, *, even: bool = False) -> Array | None:
        """About the diagonal of the Hessian at a point; None where coordinates are not orthogonal.

        1 plus the curvature of the loss over λ, as if cliques were independent; with λ = 0 the first
        term is left out. None unless features have different scales, or the steps that the diagonal
        suggests are small: from afar, curvatures say little about the optimum. ``even`` asks for them
        nevertheless.
        """
        if not (even or self.data.near or self._uneven):
            return None
        result = point.evaluation.variances()
        if result is None:
            return None
        self.geometry.divided(result)
        for term, place in self.geometry.parts:
            part = result[place]
            part += 1 if term.penalty > 0 else np.finfo(result.dtype).eps * (1 + part.max(initial=0))
        return result if even or self._uneven or self._near(point, result) else None

    def _near(self, point: Point, curvatures: Array) -> bool:
        """Whether a step divided by curvatures, ½⟨∇R, ∇R / curvatures⟩ lower, promises little.

        The certified gap, ½‖∇R‖², would not tell: it overrates the distance along each coordinate by its
        curvature, which grows with the data.
        """
        gradient = point.gradient
        return 0.5 * self.inner(gradient, gradient / curvatures) <= self.data.near * abs(point.value)

    def hessian_model(self, point: Point, curvatures: Array) -> HessianModel | None:
        """Return more about the Hessian than a diagonal, where labellings can be drawn at little cost."""
        places = np.flatnonzero(curvatures > CURVED)
        differences = point.evaluation.differences(places)
        if differences is None:
            return None
        weights = np.ones(len(places))
        for term, place in self.geometry.parts:
            weights[(place.start <= places) & (places < place.stop)] = term.metric
        return HessianModel(places, differences, curvatures[places], weights)

    def entropy_dual(self) -> EntropyDual:
        """Return the dual as a distribution for every instance; a refusal where the core has none."""
        from .entropy_dual import EntropyDual  # which imports this

        if not EntropyDual.suits(self):
            raise UnsupportedError(
                "ExponentiatedGradient is for the log loss on chains, with one kernel whose Gram matrix fits "
                "into memory twice and scores of labels alone, all with squared penalties; use LBFGS."
            )
        return EntropyDual(self)

    def only(self, names: Iterable[str], element: Array) -> Problem:
        """Return the problem in some spaces, the others frozen as they are in ``element``."""
        names, arrays = set(names), self.arrays
        frozen = element.copy()
        for name, part in self.slices.items():
            if name in names:
                frozen[part] = 0
        offset = arrays.with_offset(arrays.scores(frozen))
        kept = [term for term in self.geometry.on(arrays.spaces).terms if term.name in names]
        return Problem.of(self.loss, kept, offset, arrays.dtype, self.element_dtype)

    def take(self, ids: npt.ArrayLike) -> Problem:
        """Return the problem on some instances only, on the same elements."""
        data = self.data.take(ids)
        return Problem(self.geometry.on(data.spaces), data)

    def sampled(self, ids: npt.ArrayLike) -> Problem:
        """Return the problem on some instances, with penalties in proportion to their number.

        Gradients and Hessian products, elements in the inner product of this problem too, are then
        unbiased estimates of those of R, if the instances were drawn and every λ > 0.
        """
        if any(term.penalty == 0 for term in self.terms):
            raise UnsupportedError("Samples of a problem need every penalty to be above 0.")
        part = self.take(ids)
        return Problem(part.geometry.scaled(part.n_instances / self.n_instances), part.data)

    def exact(self) -> Problem:
        """Return the same in double."""
        data = self.data.exact()
        return Problem(self.geometry.on(data.spaces, np.float64), data)

    def representer(self, gradient: Scores) -> Array:
        """Riesz element of a gradient in the scores, in the λ-weighted inner product."""
        return self.geometry.divided(self.arrays.representer(gradient, self.element_dtype))

    def counts(self) -> Counts:
        """Return what iterative scaling needs to know of the features; a refusal if some are negative."""
        return counts_of(self)
