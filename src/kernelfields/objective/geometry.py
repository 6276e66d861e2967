"""The space of a model: a sum of named spaces, each with a penalty and perhaps a norm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..native import add_multiples
from ..spaces import BoundSpace, Curved, Euclidean, places_of
from .norms import L1Norm, Norm

UNEVEN = 1e4
"""Ratio of the squares of scales from which on they matter more than how often features occur."""


@dataclass(frozen=True)
class Term:
    """A space of the model, by name, with its penalty (λ/2)‖f‖², plus a norm that is not squared."""

    name: str
    space: BoundSpace
    penalty: float
    norm: Norm | None = None

    def __post_init__(self) -> None:
        if self.norm is not None:
            self.norm.require(self.name, self.space)

    @property
    def metric(self) -> float:
        """Weight of the space in the inner product."""
        return self.penalty if self.penalty > 0 else 1.0

    @property
    def threshold(self) -> float:
        """Weight of the norm over that of the space: gradients up to it keep an element at 0."""
        return 0.0 if self.norm is None else self.norm.weight / self.metric

    def scaled(self, share: float) -> Term:
        """Return the same with a share of its penalty."""
        norm = None if self.norm is None else replace(self.norm, weight=share * self.norm.weight)
        return replace(self, penalty=share * self.penalty, norm=norm)


def slices_of(terms: Sequence[Term]) -> dict[str, slice]:
    """Return the place of each space in an element."""
    places = places_of([term.space for term in terms])
    return {term.name: place for term, place in zip(terms, places, strict=True)}


class Geometry:
    """The sum of the spaces, with the inner product Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ and the penalty.

    Knows nothing of the data but what the spaces do: solvers add, scale and multiply elements here.

    Parameters
    ----------
    terms : sequence of Term
        The spaces; several may feed one clique type.
    dtype : dtype
        Precision of elements. Sums are always float64.
    """

    def __init__(self, terms: Sequence[Term], dtype: npt.DTypeLike = np.float64) -> None:
        self.terms = tuple(terms)
        self.dtype = np.dtype(dtype)
        self.slices = slices_of(self.terms)
        self.size = sum(term.space.size for term in self.terms)
        self.parts = tuple(zip(self.terms, self.slices.values(), strict=True))
        """Every term with its place."""

    def on(self, spaces: Sequence[BoundSpace], dtype: npt.DTypeLike | None = None) -> Geometry:
        """Return the same penalties on other spaces: the same functions on other instances, or more exact."""
        pairs = zip(self.terms, spaces, strict=True)
        return Geometry(
            [replace(term, space=space) for term, space in pairs], self.dtype if dtype is None else dtype
        )

    def scaled(self, share: float) -> Geometry:
        """Return the same spaces with a share of every penalty."""
        return Geometry([term.scaled(share) for term in self.terms], self.dtype)

    @property
    def certifiable(self) -> bool:
        """Whether every space has a penalty or a norm, without which no lower bound is known."""
        return all(term.penalty > 0 or term.threshold > 0 for term in self.terms)

    @cached_property
    def smooth(self) -> bool:
        """Whether all penalties are squared."""
        return all(term.norm is None for term in self.terms)

    @cached_property
    def thresholds(self) -> Array | None:
        """κ of every coordinate over the weight of its space; None unless all norms, at least one, are ℓ1."""
        norms = [term.norm for term in self.terms if term.norm is not None]
        if not norms or not all(isinstance(norm, L1Norm) for norm in norms):
            return None
        kappa = [np.full(term.space.size, term.threshold) for term in self.terms]
        return np.concatenate(kappa).astype(self.dtype)

    @property
    def orthogonal(self) -> bool:
        """Whether elements are orthonormal coordinates, up to one factor for each space."""
        return all(isinstance(term.space, Euclidean) for term in self.terms)

    @cached_property
    def blocks(self) -> tuple[tuple[str, ...], ...]:
        """The names of the spaces, those that feed one clique type together."""
        cliques = dict.fromkeys(term.space.clique for term in self.terms)
        return tuple(
            tuple(term.name for term in self.terms if term.space.clique == clique) for clique in cliques
        )

    def uneven(self, n_vertices: int) -> bool:
        """Whether features, or penalties, have such different scales that a search has to know of it."""
        sizes = [(term.space.sizes, term.metric) for term in self.terms if isinstance(term.space, Curved)]
        if len(sizes) < len(self.terms):
            return False  # nobody could tell it
        known = [
            (one[0] * one[0] / metric, one[1] * one[1] / metric) for one, metric in sizes if one is not None
        ]
        high = max((high for _, high in known), default=1.0)
        low = min((low for low, _ in known), default=1.0)
        return len(known) < len(sizes) or (high > UNEVEN * low and high * n_vertices > 1)

    def zero(self) -> Array:
        """The element f = 0."""
        return np.zeros(self.size, self.dtype)

    def inner(self, left: Array, right: Array) -> float:
        """Σ_τ λ_τ ⟨u_τ, v_τ⟩_τ."""
        return sum(term.metric * term.space.inner(left[place], right[place]) for term, place in self.parts)

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one."""
        result = np.zeros(len(left))
        for term, place in self.parts:
            result += term.metric * term.space.inners([one[place] for one in left], right[place])
        return result

    def add_multiples(self, element: Array, elements: Sequence[Array], weights: Array) -> None:
        """Element += Σ_k weight_k · element_k, in place."""
        add_multiples(element, list(elements), weights.astype(element.dtype))

    def divided(self, element: Array) -> Array:
        """Divide an element by the weights of the spaces, in place: the plain Riesz element of a gradient
        becomes that of the weighted inner product.
        """
        for term, place in self.parts:
            element[place] /= term.metric
        return element

    def refreshed(self, element: Array) -> Array:
        """Return the same element with every image computed anew."""
        if self.orthogonal:
            return element
        return np.concatenate([term.space.refreshed(element[place]) for term, place in self.parts])

    def penalty(self, element: Array) -> float:
        """Σ_τ (λ_τ / 2) ‖f_τ‖² + κ_τ N_τ(f_τ)."""
        damped = self.damped(element)
        total = 0.5 * self.inner(damped, damped)
        for term, place in self.parts:
            if term.norm is not None:
                total += term.norm.weight * term.norm.of(term.space, element[place])
        return total

    def damped(self, element: Array) -> Array:
        """Gradient of the squared penalty: the element itself, or 0 where λ is 0."""
        if all(term.penalty > 0 for term in self.terms):
            return element
        result = element.copy()
        for term, place in self.parts:
            if term.penalty == 0:
                result[place] = 0
        return result

    def shrunk(self, element: Array, step: float, scales: Array | None = None) -> Array:
        """argmin_u ½‖u − f‖² + step · Σ_τ κ_τ N_τ(u_τ): the proximal map of the norms.

        With ``scales``, levelled, ‖·‖² counts every coordinate as often as its scale says.
        """
        if self.smooth:
            return element
        result = element.copy()
        for term, place in self.parts:
            if term.norm is not None:
                by = step * term.threshold / (1.0 if scales is None else scales[place])
                result[place] = term.norm.shrunk(term.space, element[place], by)
        return result

    def levelled(self, scales: Array) -> Array:
        """Return scales of coordinates, one for all that a norm holds together: their largest."""
        result = scales.copy()
        for term, place in self.parts:
            if term.norm is not None:
                result[place] = term.norm.levelled(term.space, scales[place])
        return result

    def steepest(self, element: Array, gradient: Array) -> Array:
        """Return the shortest element of gradient + Σ_τ κ_τ ∂N_τ: minus the direction of steepest descent."""
        if self.smooth:
            return gradient
        result = gradient.copy()
        for term, place in self.parts:
            if term.norm is not None:
                result[place] = term.norm.steepest(
                    term.space, element[place], gradient[place], term.threshold
                )
        return result

    def moving(self, element: Array) -> npt.NDArray[np.bool_]:
        """Return the coordinates around which the norms are smooth; the others are held at 0."""
        result = np.ones(self.size, dtype=bool)
        for term, place in self.parts:
            if term.norm is not None:
                result[place] = term.norm.moving(term.space, element[place])
        return result
