"""The objective that solvers see: a loss plus a penalty for every space.

    R(f) = Σ_i loss(θ(f); y^i) + Σ_τ (λ_τ / 2) ‖f_τ‖² + Σ_τ κ_τ ‖w_τ‖₁,    θ(f) = offset + Σ_τ scores(f_τ)

Points are flat arrays, the elements of the spaces one behind the other. All geometry is that of the
λ-weighted inner product ⟨u, v⟩ = Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ (weight 1 where λ_τ = 0): the gradient is an
element, not an array of partial derivatives, and the certified gap is half its squared norm. Gradients
leave out the ℓ1 part, which has none; solvers that can deal with it ask for ``thresholds``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .losses import BlockLoss, Log, Loss, LossValue
from .native import add_multiples, score_dot
from .spaces import BoundSpace, Counted, Curved, Euclidean, Joint
from .structures import Blocks, MaxOracle, Scores, Structure, SumOracle
from .structures._base import Array


class Certificate(NamedTuple):
    """What is known about the optimum from one point [altun2004exp, Lemma 9]."""

    value: float
    """R(f)."""
    lower_bound: float
    """No f' has R(f') below this: R(f) − Σ_τ ‖∇_τ R(f)‖² / (2 λ_τ)."""

    @property
    def gap(self) -> float:
        """How far R(f) can be above the optimum."""
        return self.value - self.lower_bound

    @property
    def relative_gap(self) -> float:
        """The gap over the value."""
        return self.gap / max(abs(self.value), np.finfo(float).tiny)


class Counts(NamedTuple):
    """What is counted of features that are never negative."""

    observed: Array
    """Of each feature, in the training set."""
    most: float
    """What all features of one instance add up to at most, over its labellings."""
    penalty: Array
    """λ of each coordinate."""


@dataclass(frozen=True)
class Term:
    """A space of the model, by name, with its penalty (λ/2)‖f‖² + κ Σ_k |w_k|.

    The second part is for spaces with orthonormal coordinates; it is a penalty on them, not on f.
    """

    name: str
    space: BoundSpace
    penalty: float
    l1: float = 0.0

    @property
    def metric(self) -> float:
        """Weight of the space in the inner product."""
        return self.penalty if self.penalty > 0 else 1.0


def slices_of(terms: Sequence[Term]) -> dict[str, slice]:
    """Give the place of each space in an element."""
    ends = np.cumsum([0, *(term.space.size for term in terms)]).tolist()
    return {term.name: slice(a, b) for term, a, b in zip(terms, ends[:-1], ends[1:], strict=True)}


def sum_scores(
    structure: Structure, terms: Sequence[Term], element: Array, dtype: npt.DTypeLike
) -> dict[str, Array]:
    """θ(f): the scores of all spaces, added up by clique type."""
    theta = {clique: np.zeros(shape, dtype) for clique, shape in structure.shapes.items()}
    slices = slices_of(terms)
    for term in terms:
        part = element[slices[term.name]]
        if isinstance(term.space, Joint):
            term.space.feed(part, theta)
        else:
            term.space.add_scores(part, theta[term.space.clique])
    return theta


def represented(space: BoundSpace, gradient: Scores) -> Array:
    """Riesz element of a gradient in the scores."""
    if isinstance(space, Joint):
        return space.represent(gradient)
    return space.representer(gradient[space.clique])


class Problem:
    """R as a function on the sum of the spaces.

    Parameters
    ----------
    loss : Loss
        Bound to the structure and the observed labels.
    terms : sequence of Term
        The spaces; several may feed one clique type and add up.
    offset : scores, optional
        Fixed scores: a base measure, −inf for what is forbidden.
    dtype : dtype
        Precision of the scores.
    element_dtype : dtype
        Precision of elements. Values, and sums that lead to them, are always float64.
    """

    def __init__(
        self,
        loss: Loss,
        terms: Sequence[Term],
        offset: Scores | None = None,
        dtype: npt.DTypeLike = np.float64,
        element_dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self.loss = loss
        self.structure = loss.structure
        self.terms = tuple(terms)
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.element_dtype = np.dtype(element_dtype)
        self.slices = slices_of(self.terms)
        self.size = sum(term.space.size for term in self.terms)

    @property
    def certifiable(self) -> bool:
        """Whether a lower bound is known: a convex loss, and a penalty on every space."""
        return self.loss.convex and all(term.penalty > 0 or term.l1 > 0 for term in self.terms)

    @cached_property
    def thresholds(self) -> Array | None:
        """κ of every coordinate over the weight of its space; None without an ℓ1 part."""
        if not any(term.l1 for term in self.terms):
            return None
        return np.concatenate([np.full(term.space.size, term.l1 / term.metric) for term in self.terms])

    @cached_property
    def blocks(self) -> tuple[tuple[str, ...], ...]:
        """The names of the spaces, those that feed one clique type together."""
        cliques = dict.fromkeys(term.space.clique for term in self.terms)
        return tuple(
            tuple(term.name for term in self.terms if term.space.clique == clique) for clique in cliques
        )

    @property
    def rounding(self) -> float:
        """Share of R below which differences may be rounding: some units of the precision of scores."""
        return 32 * float(np.finfo(self.dtype).eps)

    def zero(self) -> Array:
        """The element f = 0."""
        return np.zeros(self.size, self.element_dtype)

    def inner(self, left: Array, right: Array) -> float:
        """Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ."""
        return sum(
            term.metric * term.space.inner(left[place], right[place])
            for term, place in zip(self.terms, self.slices.values(), strict=True)
        )

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one."""
        result = np.zeros(len(left))
        for term, place in zip(self.terms, self.slices.values(), strict=True):
            result += term.metric * term.space.inners([one[place] for one in left], right[place])
        return result

    def add_multiples(self, element: Array, elements: Sequence[Array], weights: Array) -> None:
        """Element += Σ_k weight_k · element_k, in place."""
        add_multiples(element, list(elements), weights.astype(element.dtype))

    def refreshed(self, element: Array) -> Array:
        """Give the same element with every image computed anew."""
        pieces = [
            term.space.refreshed(element[place])
            for term, place in zip(self.terms, self.slices.values(), strict=True)
        ]
        return np.concatenate(pieces) if pieces else element

    def scores(self, element: Array) -> dict[str, Array]:
        """θ without the offset."""
        return sum_scores(self.structure, self.terms, element, self.dtype)

    def curvatures(self, point: Point) -> Array | None:
        """About the diagonal of the Hessian at a point; None where coordinates are not orthogonal.

        1 plus the curvature of the loss over λ, as if cliques were independent; with λ = 0 the first
        term is left out.
        """
        if not isinstance(self.structure, SumOracle):
            return None
        if not all(isinstance(term.space, Curved) for term in self.terms):
            return None
        expected = self.structure.marginals(self.with_offset(point.theta)).parts
        pieces = []
        for term in self.terms:
            assert isinstance(term.space, Curved)
            part = term.space.curvatures(expected[term.space.clique]) / term.metric
            part += 1 if term.penalty > 0 else np.finfo(float).eps * (1 + part.max(initial=0))
            pieces.append(part)
        return np.concatenate(pieces).astype(self.element_dtype) if pieces else None

    def at(self, element: Array) -> Point:
        """R, its gradient and its curvature at an element."""
        return Point(self, element, self.scores(element))

    def only(self, names: Iterable[str], element: Array) -> Problem:
        """Give the problem in some spaces, the others frozen as they are in ``element``."""
        names = set(names)
        frozen = element.copy()
        for name, part in self.slices.items():
            if name in names:
                frozen[part] = 0
        offset = self.with_offset(self.scores(frozen))
        kept = [term for term in self.terms if term.name in names]
        return Problem(self.loss, kept, offset, self.dtype, self.element_dtype)

    def take(self, ids: npt.ArrayLike) -> Problem:
        """Give the problem on some instances only, on the same elements."""
        loss = self.loss.take(ids)
        terms = [replace(term, space=term.space.take(loss.structure, ids)) for term in self.terms]
        offset = None if self.offset is None else self.structure.cut(self.offset, ids)
        return Problem(loss, terms, offset, self.dtype, self.element_dtype)

    @property
    def orthogonal(self) -> bool:
        """Whether elements are orthonormal coordinates, up to one factor for each space."""
        return all(isinstance(term.space, Euclidean) for term in self.terms)

    @property
    def n_instances(self) -> int:
        """How many instances the loss is a sum over."""
        return self.structure.n_instances

    def sampled(self, ids: npt.ArrayLike) -> Problem:
        """Give the problem on some instances, with penalties in proportion to their number.

        Gradients and Hessian products, elements in the inner product of this problem too, are then
        unbiased estimates of those of R, if the instances were drawn and every λ > 0.
        """
        if any(term.penalty == 0 for term in self.terms):
            raise TypeError("Samples of a problem need every penalty to be above 0.")
        part = self.take(ids)
        share = part.n_instances / self.n_instances
        terms = [replace(term, penalty=share * term.penalty, l1=share * term.l1) for term in part.terms]
        return Problem(part.loss, terms, part.offset, self.dtype, self.element_dtype)

    def counts(self) -> Counts:
        """Give what iterative scaling needs to know of the features; a refusal if some are negative."""
        if not isinstance(self.loss, Log) or self.loss.cost is not None:
            raise TypeError("Iterative scaling is for the log loss without a cost.")
        for term in self.terms:
            if not isinstance(term.space, Counted) or term.space.least < 0 or term.penalty == 0:
                raise TypeError(
                    "Iterative scaling needs features that are not negative and penalties above 0, "
                    f"which {term.name!r} has not."
                )
        parts = self.structure.parts(self.loss.labels, self.loss.weights)
        observed = [term.space.adjoint(parts[term.space.clique]) for term in self.terms]
        penalty = np.repeat([term.penalty for term in self.terms], [term.space.size for term in self.terms])
        if not isinstance(self.structure, MaxOracle):
            raise TypeError(
                f"{type(self.structure).__name__} does not find the labelling with most features."
            )
        most = self.structure.argmax(self.scores(np.ones(self.size, self.element_dtype))).value
        return Counts(np.concatenate(observed), float(most.max(initial=0.0)), penalty)

    def with_offset(self, theta: Scores) -> dict[str, Array]:
        """θ with the offset added."""
        if self.offset is None:
            return dict(theta)
        return {clique: values + self.offset[clique] for clique, values in theta.items()}

    def representer(self, gradient: Scores) -> Array:
        """Riesz element of a gradient in the scores, in the λ-weighted inner product."""
        result = np.empty(self.size, self.element_dtype)
        for term, place in zip(self.terms, self.slices.values(), strict=True):
            result[place] = represented(term.space, gradient)
            result[place] /= term.metric
        return result

    def exact(self) -> Problem:
        """Give the same in double."""
        offset = self.offset
        if offset is not None:
            offset = {clique: values.astype(np.float64) for clique, values in offset.items()}
        terms = [replace(term, space=term.space.precise()) for term in self.terms]
        return Problem(self.loss, terms, offset)

    def penalty(self, element: Array) -> float:
        """Σ_τ (λ_τ / 2) ‖f_τ‖² + κ_τ ‖w_τ‖₁."""
        damped = self.damped(element)
        total = 0.5 * self.inner(damped, damped)
        for term in self.terms:
            if term.l1:
                total += term.l1 * float(np.abs(element[self.slices[term.name]]).sum(dtype=np.float64))
        return total

    def damped(self, element: Array) -> Array:
        """Gradient of the penalty: the element itself, or 0 where λ is 0."""
        if all(term.penalty > 0 for term in self.terms):
            return element
        result = element.copy()
        for term in self.terms:
            if term.penalty == 0:
                result[self.slices[term.name]] = 0
        return result


class Dual(NamedTuple):
    """A point of the dual problem, whose value bounds min R: ``level`` − ½‖``mismatch``‖²."""

    level: float
    """Σ_i (loss_i − ⟨θ, ∇loss_i⟩): for the log loss the sum of the entropies of p(·|x^i)."""
    mismatch: Array
    """Expected minus observed features, over λ: an element."""

    def bound(self, problem: Problem) -> float:
        """The lower bound."""
        return self.level - 0.5 * problem.inner(self.mismatch, self.mismatch)

    def mixed(self, other: Dual, problem: Problem) -> Dual:
        """Give the best point on the way to another one.

        A mixture of two distributions has the mixture of their expectations, and at least that of
        their entropies: (1 − t)·level + t·level′ − ½‖(1 − t)·mismatch + t·mismatch′‖² is a bound for
        every t in [0, 1], and a parabola in t. Mismatches of successive iterations point many ways;
        much of them cancels.
        """
        change = other.mismatch - self.mismatch
        size = problem.inner(change, change)
        slope = other.level - self.level - problem.inner(self.mismatch, change)
        t = min(max(slope / size, 0.0), 1.0) if size > 0 else 0.0
        change *= t
        change += self.mismatch
        return Dual((1 - t) * self.level + t * other.level, change)


def certify(
    problem: Problem, element: Array, mismatch: Array, loss: float, value: float
) -> Certificate | None:
    """A lower bound of min R, by the dual objective; None where there is none.

    The dual value is Σ_i (loss_i − ⟨θ, ∇loss_i⟩) − Σ_k (|a_k| − κ)₊² / (2λ), a = Xᵀ∇loss the
    mismatch of the coordinates; for the log loss the first sum is that of the entropies of
    p(·|x^i). Where λ = 0 the dual point must have |a_k| ≤ κ: it is moved towards the observed
    parts, by the factor s; −loss* is concave, so that s times the first sum stands.
    """
    if not problem.certifiable:
        return None
    along = problem.inner(element, mismatch)  # ⟨θ, ∇loss⟩, by the representer
    scale, quadratic = 1.0, 0.0
    for term in problem.terms:
        if term.penalty == 0:
            worst = float(np.abs(mismatch[problem.slices[term.name]]).max(initial=0.0))
            scale = min(scale, term.l1 / worst) if worst > 0 else scale
    for term in problem.terms:
        if term.penalty > 0:
            part = mismatch[problem.slices[term.name]]
            part = part if scale == 1 else scale * part
            if term.l1:
                part = np.maximum(np.abs(part) - term.l1 / term.metric, 0.0)
            quadratic += 0.5 * term.metric * term.space.inner(part, part)
    return Certificate(value, scale * (loss - along) - quadratic)


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
        return Dual(self.loss.value - problem.inner(self.element, self.mismatch), self.mismatch)

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
        """Give the point f + t d."""
        start = self.start
        theta = {clique: step * values for clique, values in self._theta.items()}
        for clique, values in theta.items():
            values += start.theta[clique]
        return Point(start.problem, start.element + step * self.direction, theta)

    def slope(self, point: Point) -> float:
        """Give the derivative of R along the direction at one of its points.

        At new points from the scores: their gradient in the spaces may never be asked for.
        """
        problem = self.start.problem
        if point is self.start:
            return problem.inner(point.gradient, self.direction)
        gradient = point.loss.gradient
        steepness = sum(score_dot(gradient[clique], values) for clique, values in self._theta.items())
        return steepness + problem.inner(problem.damped(point.element), self.direction)
