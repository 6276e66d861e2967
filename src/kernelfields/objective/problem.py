"""R as a function on the sum of the spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..losses import Loss
from ..native import add_multiples
from ..spaces import Curved, Euclidean
from ..structures import Scores, SumOracle
from .counts import Counts, counts_of
from .point import Point
from .rounding import Rounding
from .terms import Term, represented, slices_of, sum_scores

UNEVEN = 1e4
"""Ratio of the squares of scales from which on they matter more than how often features occur."""


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
    def certain(self) -> Rounding | None:
        """What certificates give way by; None where something is in single precision, and nothing certain."""
        kinds = [self.dtype, self.element_dtype, *(term.space.precision for term in self.terms)]
        return Rounding.of(self) if all(kind == np.float64 for kind in kinds) else None

    @cached_property
    def thresholds(self) -> Array | None:
        """κ of every coordinate over the weight of its space; None without an ℓ1 part."""
        if not any(term.l1 for term in self.terms):
            return None
        kappa = [np.full(term.space.size, term.l1 / term.metric) for term in self.terms]
        return np.concatenate(kappa).astype(self.element_dtype)

    @cached_property
    def uneven(self) -> bool:
        """Whether features, or penalties, have such different scales that a search has to know of it."""
        sizes = [(term.space.sizes, term.metric) for term in self.terms if isinstance(term.space, Curved)]
        if len(sizes) < len(self.terms):
            return False  # nobody could tell it
        known = [
            (one[0] * one[0] / metric, one[1] * one[1] / metric) for one, metric in sizes if one is not None
        ]
        high = max((high for _, high in known), default=1.0)
        low = min((low for low, _ in known), default=1.0)
        return len(known) < len(sizes) or (high > UNEVEN * low and high * self.structure.n_vertices > 1)

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
        """Return the same element with every image computed anew."""
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
        term is left out. None also where coordinates are so alike that it would not help.
        """
        if not isinstance(self.structure, SumOracle) or not self.uneven:
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
        """Return the problem in some spaces, the others frozen as they are in ``element``."""
        names = set(names)
        frozen = element.copy()
        for name, part in self.slices.items():
            if name in names:
                frozen[part] = 0
        offset = self.with_offset(self.scores(frozen))
        kept = [term for term in self.terms if term.name in names]
        return Problem(self.loss, kept, offset, self.dtype, self.element_dtype)

    def take(self, ids: npt.ArrayLike) -> Problem:
        """Return the problem on some instances only, on the same elements."""
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
        """Return the problem on some instances, with penalties in proportion to their number.

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
        """Return what iterative scaling needs to know of the features; a refusal if some are negative."""
        return counts_of(self)

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
        """Return the same in double."""
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
