"""The objective of a linear chain over sparse features, evaluated in one pass over the data.

What `Problem` does with whole arrays of scores and marginals, for any structure, loss and sum of
spaces, is done here a few sequences at a time, in the core, for the case that matters most: a chain of
order one, the log loss, sparse features, and free scores for labels, ends and label pairs. Scores are
not kept; a point of a line is evaluated anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..losses import Log
from ..spaces import Bias, Boundary, FreeEdges, SparseNodes
from ..structures import ChainBatch
from .certificate import Certificate, certify
from .problem import Problem
from .rounding import Rounding
from .terms import Term

NEAR = 0.5
"""Relative gap below which a point is near the optimum."""

PARTS = (SparseNodes, Bias, Boundary, FreeEdges)


class Offsets(NamedTuple):
    """Fixed scores, such as −inf for what is forbidden."""

    small: Array
    """(3, L): of every label, of the first and of the last one."""
    edge: Array
    """(L, L): of label pairs."""


class LinearChainProblem:
    """R of a linear chain: the same function as `Problem` of the same terms, in less time and memory.

    Parameters
    ----------
    loss : Log
        Without a cost, on a chain with shared edges.
    terms : list of Term
        One `SparseNodes` and any of `Bias`, `Boundary` and `FreeEdges`, each at most once.
    offsets : Offsets, optional
        Fixed scores.
    dtype : dtype
        Precision of elements and scores; sums are float64.
    """

    def __init__(self, loss: Log, terms: list[Term], offsets: Offsets | None, dtype: npt.DTypeLike) -> None:
        self.loss = loss
        self.structure = loss.structure
        self.dtype = np.dtype(dtype)
        self.geometry = Problem(loss, terms, None, dtype, dtype)
        if self.dtype == np.float64:  # features are widened, whatever they are kept in
            self.geometry.certain = Rounding.of(self.geometry)
        self.terms, self.slices = self.geometry.terms, self.geometry.slices
        self.size = self.geometry.size
        self.inner, self.inners = self.geometry.inner, self.geometry.inners
        self.add_multiples = self.geometry.add_multiples
        self.offsets = offsets
        self.places = {type(term.space): self.slices[term.name] for term in terms}
        self._order = np.argsort(-np.diff(loss.structure.offsets), kind="stable")

    @staticmethod
    def suits(loss: object, terms: list[Term]) -> bool:
        """Whether this is the problem of a linear chain over sparse features."""
        kinds = [type(term.space) for term in terms]
        return (
            isinstance(loss, Log)
            and loss.cost is None
            and isinstance(loss.structure, ChainBatch)
            and loss.structure.shared_edges
            and SparseNodes in kinds
            and len(set(kinds)) == len(kinds)
            and all(kind in PARTS for kind in kinds)
            and all(term.space.members is None for term in terms if isinstance(term.space, FreeEdges))
        )

    @property
    def thresholds(self) -> Array | None:
        """κ of every coordinate over the weight of its space; None without an ℓ1 part."""
        return self.geometry.thresholds

    @property
    def certain(self) -> Rounding | None:
        """What certificates give way by; None in single precision."""
        return self.geometry.certain

    @property
    def orthogonal(self) -> bool:
        """Whether elements are orthonormal coordinates: they are."""
        return True

    def refreshed(self, element: Array) -> Array:
        """Return the element itself: it has no image."""
        return element

    @property
    def rounding(self) -> float:
        """Share of R below which differences may be rounding."""
        return self.geometry.rounding

    @property
    def certifiable(self) -> bool:
        """Whether a lower bound is known."""
        return self.geometry.certifiable

    @property
    def blocks(self) -> tuple[tuple[str, ...], ...]:
        """The names of the spaces, those that feed one clique type together."""
        return self.geometry.blocks

    def only(self, names: Sequence[str], element: Array) -> Problem:
        """Refuse: frozen spaces are the business of `Problem`."""
        raise NotImplementedError("Subspaces need a Problem.")

    def zero(self) -> Array:
        """The element f = 0."""
        return np.zeros(self.size, self.dtype)

    def astype(self, dtype: npt.DTypeLike) -> LinearChainProblem:
        """Return the same problem in another precision."""
        return LinearChainProblem(self.loss, list(self.terms), self.offsets, dtype)

    def at(self, element: Array) -> LinearChainPoint:
        """R and its gradient at an element."""
        return LinearChainPoint(self, element.astype(self.dtype, copy=False))

    @cached_property
    def _features(self) -> SparseNodes:
        space = self.terms[0].space
        assert isinstance(space, SparseNodes)
        return space

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array | None]:
        first, index, values = self._features.rows
        return first, index, None if values is None else values.astype(self.dtype, copy=False)

    def evaluate(self, element: Array) -> tuple[float, Array]:
        """The loss, and the Riesz element of its gradient."""
        return self._sweep(element, variances=False)

    def curvatures(self, point: LinearChainPoint) -> Array | None:
        """About the diagonal of the Hessian: 1 + Σ_t μ_t (1 − μ_t) x_t² / λ for every coordinate.

        As if labels of different positions were independent; with λ = 0 the first term is left out.
        None unless features have different scales, or the point is certified to be near the optimum: from
        afar, curvatures say little about it, and cost three times the iterations that they save near by.
        """
        near = point.certificate is not None and point.certificate.relative_gap <= NEAR
        if not near and not self.geometry.uneven:
            return None
        _, result = self._sweep(point.element, variances=True)
        for term in self.terms:
            part = result[self.slices[term.name]]
            part += 1 if term.penalty > 0 else np.finfo(self.dtype).eps * (1 + part.max(initial=0))
        return result

    def _sweep(self, element: Array, variances: bool) -> tuple[float, Array]:
        first, index, values = self._rows
        squares = None if values is None or not variances else np.square(values)
        small, edge = self._free_scores(element)
        sums = np.empty(self.size, self.dtype)
        small_sums, edge_sums = np.zeros(small.shape), np.zeros(edge.shape)
        pairs, place = self._features.pairs, self.places[SparseNodes]
        loss = native.linear_chain(
            first,
            index,
            values,
            pairs.frequent,
            pairs.single,
            pairs.first,
            pairs.label,
            self.loss.structure.offsets,
            self._order,
            self.loss.labels,
            self.loss.weights,
            element[place],
            small,
            edge,
            sums[place],
            small_sums,
            edge_sums,
            variances,
            squares,
        )
        for kind, part in ((Bias, small_sums[0]), (Boundary, small_sums[1:])):
            if kind in self.places:
                sums[self.places[kind]] = part.ravel()
        for term in self.terms:
            if isinstance(term.space, FreeEdges):
                sums[self.slices[term.name]] = term.space.adjoint(edge_sums)
            sums[self.slices[term.name]] /= term.metric
        return loss, sums

    def _free_scores(self, element: Array) -> tuple[Array, Array]:
        """Scores of labels, first and last labels (3, L), and of label pairs (L, L)."""
        L = self.loss.structure.n_labels
        small, edge = np.zeros((3, L), self.dtype), np.zeros((L, L), self.dtype)
        if Bias in self.places:
            small[0] = element[self.places[Bias]]
        if Boundary in self.places:
            small[1:] = element[self.places[Boundary]].reshape(2, L)
        if FreeEdges in self.places:
            edge[:] = element[self.places[FreeEdges]].reshape(L, L)
        if self.offsets is not None:
            small += self.offsets.small
            edge += self.offsets.edge
        return small, edge


class LinearChainPoint:
    """R at one element, evaluated once."""

    def __init__(self, problem: LinearChainProblem, element: Array) -> None:
        self.problem = problem
        self.element = element
        loss, gradient = problem.evaluate(element)
        geometry = problem.geometry
        self.value: float = loss + geometry.penalty(element)
        self.certificate: Certificate | None = certify(geometry, element, gradient, loss, self.value)
        gradient += geometry.damped(element)
        self.gradient: Array = gradient
        """∇R(f), an element."""

    dual = None
    """Not kept: it would take as much memory as the gradient."""

    @property
    def mismatch(self) -> Array:
        """Riesz element of the loss's gradient."""
        return self.gradient - self.problem.geometry.damped(self.element)

    def hessian_product(self, direction: Array) -> Array:
        """Refuse: second derivatives are the business of `Problem`."""
        raise NotImplementedError("Newton steps need a Problem.")

    def block_hessian_product(self, direction: Array) -> Array:
        """Refuse likewise."""
        raise NotImplementedError("Block-Jacobi steps need a Problem.")

    def along(self, direction: Array) -> LinearChainLine:
        """R on the ray from here along a direction."""
        return LinearChainLine(self, direction)


class LinearChainLine:
    """R(f + t d) for several t."""

    def __init__(self, start: LinearChainPoint, direction: Array) -> None:
        self.start = start
        self.direction = direction

    def at(self, step: float) -> LinearChainPoint:
        """Return the point f + t d."""
        return self.start.problem.at(self.start.element + step * self.direction)

    def slope(self, point: LinearChainPoint) -> float:
        """Return the derivative of R along the direction at one of its points."""
        return self.start.problem.inner(point.gradient, self.direction)
