"""Binary hidden units at every vertex, summed out: their scores, and the objective of a model with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..native import add_multiples, score_dot, score_dots
from ..objective import Problem
from ..spaces import Products, as_floats
from ..structures import StructureBatch
from .model import Scorer, add, matrix_of

BLOCK = 2**17
"""Numbers that are worked on at a time: they stay in the cache."""
LARGEST = 300.0
"""Sums of activations up to which their exponentials are taken one by one and multiplied."""
ROOM = 600.0
"""Logarithm up to which products are let grow; no number of double precision is beyond e⁷⁰⁹."""


def unit_scores(activations: Array, labels: Array) -> Array:
    """Σ_k log(1 + exp(a_vk + V_ky)) for every vertex and label, (N, L).

    Parameters
    ----------
    activations : (N, K) array
        a, what the observation says about each unit.
    labels : (K, L) array
        V, what each label says about each unit.
    """
    result = np.empty((len(activations), labels.shape[1]))
    for rows in _blocks(activations, labels):
        one = np.ascontiguousarray(activations[rows].T)
        size = _size(one, labels)
        result[rows] = _scores(one, labels, size) if size <= LARGEST else _safe_scores(one, labels)
    return result


def _scores(activations: Array, labels: Array, size: float) -> Array:
    """Logarithms of products of many factors 1 + e^a e^V: few exponentials, and few logarithms."""
    left, right, most = np.exp(activations), np.exp(labels), max(1, int(ROOM / (size + 1.0)))
    result = np.zeros((activations.shape[1], labels.shape[1]))
    product, factor = np.ones_like(result), np.empty_like(result)
    for k in range(len(labels)):
        np.multiply(left[k][:, None], right[k], out=factor)
        factor += 1.0
        product *= factor
        if (k + 1) % most == 0:
            result += np.log(product)
            product[...] = 1.0
    return np.asarray(result + np.log(product))


def _safe_scores(activations: Array, labels: Array) -> Array:
    """Return the same for activations whose exponentials may be infinite."""
    return np.asarray(
        sum(np.logaddexp(0.0, a[:, None] + V) for a, V in zip(activations, labels, strict=True))
    )


def unit_gradients(activations: Array, labels: Array, gradient: Array) -> tuple[Array, Array]:
    """Return the derivatives of ⟨gradient, unit scores⟩ in activations, (N, K), and labels, (K, L)."""
    of_activations, of_labels = np.empty_like(activations), np.zeros_like(labels)
    across = np.ones(labels.shape[1])
    for rows in _blocks(activations, labels):
        one, weights = np.ascontiguousarray(activations[rows].T), np.asarray(gradient[rows], np.float64)
        simple, down, into = _size(one, labels) <= LARGEST, np.ones(one.shape[1]), np.empty_like(one)
        left, right = (np.exp(one), np.exp(labels)) if simple else (one, labels)
        for k in range(len(labels)):
            on = left[k][:, None] * right[k] if simple else left[k][:, None] + right[k]
            on = on / (1.0 + on) if simple else 0.5 + 0.5 * np.tanh(0.5 * on)  # P(unit k is on)
            on *= weights
            into[k] = on @ across
            of_labels[k] += down @ on
        of_activations[rows] = into.T
    return of_activations, of_labels


def _size(activations: Array, labels: Array) -> float:
    return float(np.abs(activations).max(initial=0.0) + np.abs(labels).max(initial=0.0))


def _blocks(activations: Array, labels: Array) -> Iterator[slice]:
    """Vertices, as many at a time as fit."""
    step = max(1, BLOCK // labels.shape[1])
    return (slice(begin, begin + step) for begin in range(0, len(activations), step))


@dataclass(frozen=True, slots=True)
class HiddenUnitScorer(Scorer):
    """Σ_k log(1 + exp(⟨w_k, x⟩ + c_k + V_ky)) for every label."""

    coef: Array
    """w, (K, D)."""
    bias: Array
    """c, (K,)."""
    labels: Array
    """V, (K, L)."""

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Multiply features with weights, and sum the units out."""
        matrix = as_floats(matrix_of(features))
        activations = Products(matrix).times(self.coef.T.astype(matrix.dtype)) + self.bias
        add(into, batch.answer, unit_scores(activations.astype(np.float64), self.labels))


class UnitWeights(NamedTuple):
    """The weights of units in an element."""

    coef: Array
    """(D, K)."""
    bias: Array
    """(K,)."""
    labels: Array
    """(K, L)."""
    free: Array
    """Those of labels alone."""


class HiddenUnitProblem:
    """The log loss of a model with hidden units, plus penalties; what solvers see.

    Not convex: points have no certificate.

    Parameters
    ----------
    features : (N, D) array or sparse matrix
        Observations of all vertices.
    n_units : int
        K.
    penalty : float
        λ of all weights of units.
    free : Problem
        The loss with the scores of labels alone.
    """

    smooth, second_order, thresholds = True, False, None
    rounding = 32 * float(np.finfo(np.float64).eps)
    slices: Mapping[str, slice] = {}
    blocks: Sequence[Sequence[str]] = ()

    def __init__(self, features: Any, n_units: int, penalty: float, free: Problem) -> None:
        # in double: rounding of activations would be seen by line searches
        self.features = as_floats(features).astype(np.float64, copy=False)
        self.products, self.free, self.data = Products(self.features), free, free.data
        self.shape = (features.shape[1], n_units, free.structure.cliques["node"].values[0])
        D, K, L = self.shape
        others = [np.full(term.space.size, term.penalty) for term in free.terms]
        self.penalties = np.concatenate([np.full(D * K + K + K * L, float(penalty)), *others])
        self.metric = np.where(self.penalties > 0, self.penalties, 1.0)

    def parts(self, element: Array) -> UnitWeights:
        """Return an element as weights."""
        D, K, L = self.shape
        ends = np.cumsum([D * K, K, K * L])
        coef, bias, labels, free = np.split(element, ends)
        return UnitWeights(coef.reshape(D, K), bias, labels.reshape(K, L), free)

    def start(self, random: np.random.RandomState) -> Array:
        """Return weights at random, such that units are neither always on nor always off."""
        D, K, L = self.shape
        square = self.features.multiply(self.features) if hasattr(self.features, "multiply") else None
        total = float(np.square(self.features).sum() if square is None else square.sum())
        width = 1.0 / np.sqrt(max(total / max(self.features.shape[0], 1), 1e-12))
        drawn = [width * random.standard_normal(D * K), np.zeros(K), random.standard_normal(K * L)]
        return np.concatenate([*drawn, np.zeros(self.free.size)])

    def at(self, element: Array) -> HiddenUnitPoint:
        """Return the objective at an element."""
        return HiddenUnitPoint(self, element)

    def inner(self, left: Array, right: Array) -> float:
        """⟨u, v⟩ = Σ λ_k u_k v_k, with 1 in the place of a λ that is 0."""
        return score_dot(left, self.metric * right)

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one."""
        return score_dots(list(left), self.metric * right)

    def add_multiples(self, element: Array, elements: Sequence[Array], weights: Array) -> None:
        """Element += Σ_k weight_k · element_k, in place."""
        add_multiples(element, list(elements), weights)

    def steepest(self, point: HiddenUnitPoint) -> Array:
        """Return the gradient."""
        return point.gradient

    def curvatures(self, point: HiddenUnitPoint, *, even: bool = False) -> None:
        """Return nothing: curvatures are not known."""

    def hessian_model(self, point: HiddenUnitPoint, curvatures: Array) -> None:
        """Return nothing: nor is anything else about the Hessian."""


class HiddenUnitPoint:
    """The objective near one element."""

    certificate = None
    dual = None

    def __init__(self, problem: HiddenUnitProblem, element: Array) -> None:
        self.problem, self.element = problem, element
        weights = problem.parts(element)
        self._activations = problem.products.times(np.ascontiguousarray(weights.coef)) + weights.bias
        data = problem.free.arrays
        theta = data.scores(weights.free)
        theta["node"] += unit_scores(self._activations, weights.labels)
        self._loss = data.loss.at(data.with_offset(theta))
        self.value = self._loss.value + 0.5 * float(np.dot(problem.penalties, np.square(element)))

    @cached_property
    def gradient(self) -> Array:
        """The element g with inner(g, v) = the derivative of the objective along v."""
        problem, weights = self.problem, self.problem.parts(self.element)
        slope = self._loss.gradient
        of_activations, of_labels = unit_gradients(self._activations, weights.labels, slope["node"])
        of_coef = problem.products.transposed_times(of_activations)
        of_free = problem.free.arrays.representer(slope)
        parts = [of_coef.ravel(), of_activations.sum(axis=0), of_labels.ravel()]
        slopes = np.concatenate([*parts, of_free]) + problem.penalties * self.element
        return np.asarray(slopes / problem.metric)

    def along(self, direction: Array) -> HiddenUnitLine:
        """Return the objective on a ray."""
        return HiddenUnitLine(self, direction)


class HiddenUnitLine(NamedTuple):
    """The objective on a ray."""

    origin: HiddenUnitPoint
    direction: Array

    def at(self, step: float) -> HiddenUnitPoint:
        """Return the point at some step."""
        return self.origin.problem.at(self.origin.element + step * self.direction)

    def slope(self, point: HiddenUnitPoint) -> float:
        """Return the directional derivative at one of its points."""
        return self.origin.problem.inner(point.gradient, self.direction)
