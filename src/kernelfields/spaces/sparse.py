"""Linear functions of sparse features, at speed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import native
from ..structures import Structure
from ..structures._base import Array, rows_of
from ._base import Euclidean

CACHE = 2**17
"""Numbers that the sums of frequent features may take up, so that they stay in the cache."""


class WeightPairs(NamedTuple):
    """Which (feature, label) pairs have a weight, features ordered by falling frequency."""

    rank: Array
    """Place of every feature in that order."""
    first: Array
    """The feature at place r has the weights ``first[r]`` up to ``first[r + 1]``, ..."""
    label: Array
    """... with these labels."""
    frequent: int
    """How many features, from the start, count as frequent."""

    @classmethod
    def of(cls, features: Any, n_labels: int, labels: Array | None = None) -> WeightPairs:
        """All pairs, or those that occur with the labels of a training set."""
        count = np.bincount(features.indices, minlength=features.shape[1])
        order = np.argsort(-count, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        frequent = min(int((count >= 16).sum()), CACHE // n_labels)
        if labels is None:
            first = np.arange(0, n_labels * len(order) + 1, n_labels, dtype=np.int64)
            return cls(rank, first, np.tile(np.arange(n_labels, dtype=np.int32), len(order)), frequent)
        rows = (features.indptr.astype(np.int64, copy=False), features.indices.astype(np.int32, copy=False))
        first, label = native.observed_pairs(*rows, rank, labels.astype(np.int32, copy=False), n_labels)
        return cls(rank, first, label, frequent)

    @property
    def feature(self) -> Array:
        """The feature of every weight."""
        return np.repeat(np.argsort(self.rank), np.diff(self.first))


class SparseNodes(Euclidean):
    """f(x_t, y_t) = ⟨w_{y_t}, x_t⟩ for sparse x; one weight per (feature, label) pair.

    Products run in the core on all cores: by rows for scores; for gradients by rows where features
    are frequent and by columns where they are rare.

    Parameters
    ----------
    structure : Structure
        The batch.
    features : scipy-sparse (N, D) matrix
        One row per vertex, float32 or float64: the precision of the products.
    pairs : WeightPairs, optional
        Which weights there are; all of them if not given.
    """

    clique = "node"

    def __init__(self, structure: Structure, features: Any, pairs: WeightPairs | None = None) -> None:
        matrix = features.tocsr()
        self.structure = structure
        self.matrix = matrix
        self.pairs = WeightPairs.of(matrix, structure.n_labels) if pairs is None else pairs
        self.size = len(self.pairs.label)
        first = matrix.indptr.astype(np.int64, copy=False)
        values = None if (matrix.data == 1).all() else matrix.data
        indices = matrix.indices.astype(np.int32, copy=False)
        index, values = native.rank_rows(first, indices, values, self.pairs.rank, self.pairs.frequent)
        self.rows: tuple[Array, Array, Array | None] = (first, index, values)
        """Offsets, features by rank (the frequent ones of each row first), and values, None if all are 1."""

    @cached_property
    def _columns(self) -> tuple[Array, Array, Array | None]:
        """The same of the rare features, by columns."""
        first, index, values = self.rows
        data = np.ones(len(index), self.matrix.dtype) if values is None else values
        by_column = sparse.csr_matrix((data, index, first), shape=self.matrix.shape).tocsc()
        start = by_column.indptr[self.pairs.frequent]
        return (
            by_column.indptr[self.pairs.frequent :].astype(np.int64) - start,
            by_column.indices[start:].astype(np.int32),
            None if values is None else by_column.data[start:],
        )

    def add_scores(self, element: Array, into: Array) -> None:
        """Add X w."""
        element = np.ascontiguousarray(element, dtype=np.float64)
        first, index, values = self.rows
        pairs = (self.pairs.first, self.pairs.label)
        native.sparse_scores(first, index, values, *pairs, element, self._same(into))

    def adjoint(self, gradient: Array) -> Array:
        """Give Xᵀ times the gradient, at the pairs that have a weight."""
        gradient = np.ascontiguousarray(gradient, dtype=self.matrix.dtype)
        pairs = (self.pairs.first, self.pairs.label)
        first, index, values = self.rows
        return native.sparse_adjoint(first, index, values, *self._columns, *pairs, gradient)

    def table(self, element: Array) -> Array:
        """Give the weights as a (D, L) array, zero for pairs without one."""
        result = np.zeros((self.matrix.shape[1], self.structure.n_labels), element.dtype)
        result[self.pairs.feature, self.pairs.label] = element
        return result

    def element(self, table: Array) -> Array:
        """Give the element with these weights, (D, L); those of other pairs are left out."""
        return table[self.pairs.feature, self.pairs.label]

    def take(self, structure: Structure, ids: npt.ArrayLike) -> SparseNodes:
        """Give the same on some instances."""
        rows = rows_of(self.structure.offsets, np.asarray(ids, dtype=np.int64))
        return SparseNodes(structure, self.matrix[rows], self.pairs)

    def _same(self, into: Array) -> Array:
        if into.dtype != self.matrix.dtype:
            raise TypeError(f"Scores are {into.dtype}, features {self.matrix.dtype}: they must be the same.")
        return into
