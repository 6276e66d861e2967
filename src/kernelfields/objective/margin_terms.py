"""Spaces on one instance, at a cost that depends on that instance only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..spaces import Boundary, Expansion, Free, LinearFeatures
from ..structures import StructureBatch
from .geometry import Term


class InstanceTerm(ABC):
    """A space with its penalty λ on one instance; images of elements are left to go stale."""

    clique: str
    own: Array | None = None
    """Inner products of the cliques of the instance over λ, where all labels have the same: the image of a
    gradient is this times the gradient."""

    @abstractmethod
    def add_scores(self, element: Array, into: Array) -> None:
        """Add the scores of an element on the instance."""

    @abstractmethod
    def add(self, element: Array, gradient: Array) -> None:
        """Add the Riesz element of a gradient on the instance, in the λ-weighted inner product."""

    @abstractmethod
    def image(self, gradient: Array) -> Array:
        """Scores on the instance of that Riesz element."""


class EuclideanTerm(InstanceTerm):
    """Orthonormal coordinates: the Riesz element is the adjoint."""

    def __init__(self, term: Term, structure: StructureBatch, instance: int) -> None:
        self.space: Any = term.space.take(structure, [instance])
        self.clique, self.metric = term.space.clique, term.metric
        self.shape = structure.shapes[self.clique]
        self.own = _own_products(self.space, self.shape[0], term.metric)

    def add_scores(self, element: Array, into: Array) -> None:
        """As the space does."""
        self.space.add_scores(element, into)

    def add(self, element: Array, gradient: Array) -> None:
        """Xᵀ·gradient over λ."""
        element += self.space.adjoint(gradient) / self.metric

    def image(self, gradient: Array) -> Array:
        """X Xᵀ·gradient over λ."""
        result = np.zeros(self.shape)
        self.space.add_scores(self.space.adjoint(gradient), result)
        return result / self.metric


class SparseTerm(InstanceTerm):
    """Linear functions of sparse features: only the weights of features that occur are touched."""

    def __init__(self, term: Term, instance: int) -> None:
        space: Any = term.space
        self.clique, self.metric, self.width = space.clique, term.metric, space.width
        first, last = space.structure.cliques[space.clique].offsets[instance : instance + 2]
        matrix = space.features.matrix[first:last]
        self.columns, inverse = np.unique(matrix.indices, return_inverse=True)
        size = (matrix.shape[0], len(self.columns))
        self.matrix = sparse.csr_matrix((matrix.data.astype(np.float64), inverse, matrix.indptr), size)
        self.transposed = self.matrix.T.tocsr()
        self.own = (self.matrix @ self.transposed).toarray() / self.metric

    def add_scores(self, element: Array, into: Array) -> None:
        """X·W, W the rows of features that occur."""
        into += (self.matrix @ element.reshape(-1, self.width)[self.columns]).reshape(into.shape)

    def add(self, element: Array, gradient: Array) -> None:
        """Xᵀ·gradient over λ, into those rows."""
        flat = gradient.reshape(len(gradient), self.width)
        element.reshape(-1, self.width)[self.columns] += self.transposed @ (flat / self.metric)

    def image(self, gradient: Array) -> Array:
        """X Xᵀ·gradient over λ."""
        return np.asarray(self.own @ gradient.reshape(len(gradient), self.width)).reshape(gradient.shape)


class ExpansionTerm(InstanceTerm):
    """A kernel expansion: coefficients change at the observations of the instance only."""

    def __init__(self, term: Term, structure: StructureBatch, instance: int) -> None:
        space: Any = term.space.take(structure, [instance])
        self.gram, self.embedding = space.gram, space.embedding
        self.rows = np.ascontiguousarray(space.rows, dtype=np.int64)
        self.every = np.arange(self.gram.size)
        self.half = space.half
        self.clique, self.metric = term.space.clique, term.metric
        self.products = self.gram.block(self.rows, self.rows).astype(np.float64) / self.metric
        self.own = self.products if self.embedding.vectors is None else None

    def add_scores(self, element: Array, into: Array) -> None:
        """K·γ Bᵀ on the instance, from the coefficients: the image may be stale."""
        coefficients = element[: self.half].reshape(self.gram.size, -1)
        seen = self.gram.cross(self.rows, self.every, coefficients)
        into += self.embedding.scores(seen).reshape(into.shape)

    def add(self, element: Array, gradient: Array) -> None:
        """The gradient itself over λ."""
        coefficients = element[: self.half].reshape(self.gram.size, -1)
        np.add.at(coefficients, self.rows, self._projected(gradient) / self.metric)

    def image(self, gradient: Array) -> Array:
        """K on the instance, times the gradient, over λ."""
        return self.embedding.scores(self.products @ self._projected(gradient)).reshape(gradient.shape)

    def _projected(self, gradient: Array) -> Array:
        return self.embedding.project(gradient.reshape(len(gradient), int(np.prod(gradient.shape[1:]))))


def _own_products(space: Any, count: int, metric: float) -> Array | None:
    """⟨φ(c), φ(c′)⟩/λ over the cliques of an instance, of spaces in which labels do not matter to it."""
    if isinstance(space, LinearFeatures):
        features = np.asarray(space.features.matrix, dtype=np.float64)
        return features @ features.T / metric
    if isinstance(space, Free) and space.members is None and space.support is None and not space.shared:
        return np.full((count, count), 1 / metric)
    if isinstance(space, Boundary):
        result = np.zeros((count, count))
        for ends in (space.structure.sources, space.structure.sinks):
            result[np.ix_(ends, ends)] += 1 / metric
        return result
    return None


def instance_term(term: Term, structure: StructureBatch, instance: int) -> InstanceTerm:
    """Return a space on one instance, whose structure is given."""
    if isinstance(term.space, Expansion):
        return ExpansionTerm(term, structure, instance)
    if isinstance(term.space, LinearFeatures) and sparse.issparse(term.space.features.matrix):
        return SparseTerm(term, instance)
    return EuclideanTerm(term, structure, instance)
