"""Linear functions of sparse features, at speed."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import native
from ..arrays import Array, offsets_of, rows_of, sorted_blocks
from ..errors import InputError
from ..features import FeatureRows
from ..structures import StructureBatch
from ._base import (
    Counted,
    Curved,
    Euclidean,
    Grouped,
    RowMap,
    first_members,
    in_rows,
    require_own_scores,
    values_of,
)
from ._products import column_sizes, least_of, sound_rows, squares_times, sum_of_row_norms

CACHE = 2**18
"""Numbers that the sums of frequent features may take up, so that they stay in the cache."""

SOME = 2**15
"""Features whose pairs are brought into order together."""


class WeightPairs(NamedTuple):
    """Which (feature, label) pairs have a weight.

    Features are ranked: frequent ones by falling frequency, then the others that have several pairs,
    then those that have one. Within these kinds they keep their order: extractors number them as they
    occur, so that the rare ones of one sequence lie side by side.
    """

    rank: Array
    """Place of every feature in that order."""
    first: Array
    """The feature at place r has the weights ``first[r]`` up to ``first[r + 1]``, ..."""
    label: Array
    """... with these labels."""
    frequent: int
    """How many features, from the start, count as frequent."""
    single: int
    """The place from which on features have one pair each."""

    @classmethod
    def of(cls, features: Any, n_labels: int, labels: Array | None = None) -> WeightPairs:
        """All pairs, or those that occur with the labels of a training set."""
        D = features.shape[1]
        if labels is None:
            first = np.arange(0, n_labels * D + 1, n_labels, dtype=np.int64)
            label = np.tile(np.arange(n_labels, dtype=np.int32), D)
        else:
            indptr = features.indptr.astype(np.int64, copy=False)
            indices = features.indices.astype(np.int32, copy=False)
            first, label = native.observed_pairs(indptr, indices, labels.astype(np.int32), n_labels, D)
        return cls.listed(features, n_labels, first, label)

    @classmethod
    def listed(cls, features: Any, n_labels: int, first: Array, label: Array) -> WeightPairs:
        """Those of a list: feature j with the labels ``label[first[j] : first[j + 1]]``, in their order."""
        D = features.shape[1]
        # np.bincount would make a copy in 64 bits
        count = native.column_counts(features.indices.astype(np.int32, copy=False), D)
        size = np.diff(first)
        order, frequent, single = _ranking(count, size, CACHE // n_labels)
        rank = np.empty(D, dtype=np.int32)
        rank[order] = np.arange(D, dtype=np.int32)
        size = size[order]
        moved = offsets_of(size)
        shift = first[:-1][order] - moved[:-1]
        del order
        ordered = np.empty(len(label), dtype=np.int32)
        for start in range(0, D, SOME):  # all at once, indices would take several times as much as labels
            end = min(start + SOME, D)
            place = np.arange(moved[start], moved[end]) + np.repeat(shift[start:end], size[start:end])
            ordered[moved[start] : moved[end]] = label[place]
        return cls(rank, moved, ordered, frequent, single)

    def require_sound(self, n_features: int, n_labels: int) -> None:
        """Refuse pairs of other features or labels than there are: the core follows them."""
        sizes = np.diff(self.first)
        fits = (
            len(self.rank) == len(sizes) == n_features
            and 0 <= self.frequent <= self.single <= n_features
            and (sizes >= 0).all()
            and (sizes[self.single :] == 1).all()
            and self.first[0] == 0
            and self.first[-1] == len(self.label)
            and (len(self.label) == 0 or 0 <= self.label.min() <= self.label.max() < n_labels)
        )
        if not fits:
            raise InputError(f"The pairs are not those of {n_features} features and {n_labels} labels.")

    @property
    def feature(self) -> Array:
        """The feature of every weight."""
        return np.repeat(np.argsort(self.rank), np.diff(self.first))


def _ranking(count: Array, size: Array, most: int) -> tuple[Array, int, int]:
    """Features in the order of `WeightPairs`, how many are frequent, and where single pairs start."""
    common = np.flatnonzero((count >= 16) & (size > 1))
    common = common[np.argsort(-count[common], kind="stable")][:most]
    rare = np.ones(len(count), dtype=bool)
    rare[common] = False
    several, single = np.flatnonzero(rare & (size != 1)), np.flatnonzero(rare & (size == 1))
    return np.concatenate([common, several, single]), len(common), len(common) + len(several)


def as_floats(array: Any) -> Any:
    """Return an array or sparse matrix of booleans as single precision, others as they are."""
    return array.astype(np.float32) if array.dtype == bool else array


def coefficient_scores(features: Any, coef: Any) -> Array:
    """Return X·Wᵀ for sparse X, in the precision of the features, or of the weights if those are booleans.

    Sums are in the precision of the weights: of many weights a sentence needs few, and a copy of all of
    them in another precision would take longer than all the rest.

    Parameters
    ----------
    features : FeatureRows or (N, D) CSR matrix
        X.
    coef : (L, D) array or sparse matrix
        W; (D, L) in memory, or by columns, is what costs no copy either.
    """
    values = _values(features)
    rows = (
        features.indptr.astype(np.int64, copy=False),
        features.indices.astype(np.int32, copy=False),
        None if values is None else values.astype(coef.dtype, copy=False),
    )
    scores = np.zeros((features.shape[0], coef.shape[0]), coef.dtype)
    if sparse.issparse(coef):
        pairs = coef.tocsc()
        native.sparse_pair_times(*rows, pairs.indptr, pairs.indices, pairs.data, scores)
    else:
        native.sparse_times(*rows, np.ascontiguousarray(coef.T), scores)
    return scores if features.dtype == bool else scores.astype(features.dtype, copy=False)


def _values(features: Any) -> Array | None:
    """Return the entries of sparse features; None if all are 1."""
    if isinstance(features, FeatureRows):
        return features.values
    return None if (features.data == 1).all() else features.data


Ranked = tuple[Array, Array, Array | None]
"""Offsets of rows, the ranks of their features, and values; None if all are 1."""


def _ranked(matrix: Any, pairs: WeightPairs) -> Ranked:
    """Return the rows of a matrix as `SparseFeatures` keeps them, whatever the order of their entries.

    Rows that are not in order are sorted some at a time: a sorted copy of them all would take as much memory
    as the result.
    """
    ones = (matrix.data == 1).all()
    if matrix.has_sorted_indices:
        return _ranked_block(matrix, pairs, ones)
    first = matrix.indptr.astype(np.int64, copy=False)
    index = np.empty(matrix.nnz, np.int32)
    values = None if ones else np.empty(matrix.nnz, as_floats(matrix.data[:0]).dtype)
    at = 0
    for block in sorted_blocks(matrix):
        _, ranks, numbers = _ranked_block(block, pairs, ones)
        index[at : at + len(ranks)] = ranks
        if values is not None:
            values[at : at + len(ranks)] = numbers
        at += len(ranks)
    return first, index, values


def _ranked_block(matrix: Any, pairs: WeightPairs, ones: bool) -> Ranked:
    first = matrix.indptr.astype(np.int64, copy=False)
    indices = matrix.indices.astype(np.int32, copy=False)
    values = None if ones else as_floats(matrix.data)
    index, values = native.rank_rows(first, indices, values, pairs.rank, pairs.frequent, pairs.single)
    return first, index, values


class SparseFeatures(Euclidean, Curved, Counted, Grouped):
    """f(x_c, y_c) = ⟨w_{y_c}, x_c⟩ for sparse x, as `LinearFeatures`; one weight per (feature, label) pair.

    Products run in the core on all cores: by rows for scores; for gradients by rows where features
    are frequent and by columns where they are rare.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    clique : str
        The clique type; the "labels" of its weights are the label pairs of an edge, and so on.
    features : scipy-sparse (n, D) matrix
        The observations, one row per vertex unless ``rows`` are given, float32 or float64: the precision of
        the products; booleans where only the pairs and the rows are asked for.
    pairs : WeightPairs, optional
        Which weights there are; all of them if not given.
    rows : (C,) integers, optional
        Which observation each clique sees; that of its first member if not given.
    """

    def __init__(
        self,
        structure: StructureBatch,
        clique: str,
        features: Any,
        pairs: WeightPairs | None = None,
        rows: Array | None = None,
    ) -> None:
        require_own_scores(structure, clique)
        seen = RowMap(first_members(structure, clique) if rows is None else rows, features.shape[0])
        matrix = sound_rows(seen.seen(features))
        self.structure = structure
        self.clique = clique
        self.matrix = matrix
        """The observation of every clique."""
        self.width = values_of(structure, clique)
        self.pairs = WeightPairs.of(matrix, self.width) if pairs is None else pairs
        self.pairs.require_sound(matrix.shape[1], self.width)
        self.size = len(self.pairs.label)
        self.rows: Ranked = _ranked(matrix, self.pairs)
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
        native.sparse_scores(first, index, values, *pairs, element, in_rows(self._same(into)))

    def adjoint(self, gradient: Array) -> Array:
        """Return Xᵀ times the gradient, at the pairs that have a weight."""
        gradient = in_rows(np.ascontiguousarray(gradient, dtype=self.matrix.dtype))
        pairs = (self.pairs.first, self.pairs.label)
        first, index, values = self.rows
        return native.sparse_adjoint(first, index, values, *self._columns, *pairs, gradient)

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the features."""
        return np.dtype(self.matrix.dtype)

    @cached_property
    def reach(self) -> float:
        """Σ_c ‖x_c‖."""
        return sum_of_row_norms(self.matrix)

    def curvatures(self, expected: Array) -> Array:
        """Σ_c μ_c (1 − μ_c) x_c², at the pairs that have a weight."""
        return self.element(squares_times(self.matrix, in_rows(expected * (1 - expected))))

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The least and the largest column."""
        return (1.0, 1.0) if self.rows[2] is None else column_sizes(self.matrix)

    def table(self, element: Array) -> Array:
        """Return the weights as a (D, L) array, zero for pairs without one."""
        result = np.zeros((self.matrix.shape[1], self.width), element.dtype)
        result[self.pairs.feature, self.pairs.label] = element
        return result

    def compact_table(self, element: Array) -> Any:
        """Return the same as a CSR matrix that holds the pairs with a weight, in the order of features."""
        D, size = self.matrix.shape[1], np.diff(self.pairs.first)[self.pairs.rank]
        first = np.concatenate([[0], np.cumsum(size)]).astype(np.int32)
        source = np.arange(len(element)) + np.repeat(self.pairs.first[self.pairs.rank] - first[:-1], size)
        matrix = sparse.csr_matrix((D, self.width), dtype=element.dtype)
        matrix.indptr, matrix.indices, matrix.data = first, self.pairs.label[source], element[source]
        return matrix

    def element(self, table: Any) -> Array:
        """Return the element with these weights, (D, L), dense or sparse, without those of other pairs."""
        return np.asarray(table[self.pairs.feature, self.pairs.label]).ravel()

    @cached_property
    def groups(self) -> Array:
        """The feature of every weight."""
        return self.pairs.feature

    @property
    def least(self) -> float:
        """The least of them."""
        return least_of(self.matrix)

    def precise(self) -> SparseFeatures:
        """Return the same with features in double precision."""
        return (
            self if self.precision == np.float64 else self._of(self.structure, self.matrix.astype(np.float64))
        )

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> SparseFeatures:
        """Return the same on some instances."""
        offsets = self.structure.cliques[self.clique].offsets
        return self._of(structure, self.matrix[rows_of(offsets, np.asarray(ids, dtype=np.int64))])

    def lean(self) -> SparseFeatures:
        """Return the same without its matrix, for those who go through ``rows`` and nothing else."""
        other = copy.copy(self)
        other.matrix = sparse.csr_matrix(self.matrix.shape, dtype=self.matrix.dtype)
        return other

    def part(self, structure: StructureBatch, begin: int, end: int) -> SparseFeatures:
        """Return the same on the cliques from one to another, without a matrix."""
        first, index, values = self.rows
        a, b = first[begin], first[end]
        rows = first[begin : end + 1] - a, index[a:b], None if values is None else values[a:b]
        return self._bare(structure, self.pairs, rows)

    def seen(self) -> tuple[SparseFeatures, Array]:
        """Return the same with features that occur only, without a matrix, and where their weights are."""
        first, index, values = self.rows
        ranked = np.flatnonzero(native.column_counts(index, len(self.pairs.rank)))
        size = np.diff(self.pairs.first)[ranked]
        starts = offsets_of(size)
        places = np.arange(starts[-1]) + np.repeat(self.pairs.first[ranked] - starts[:-1], size)
        frequent, single = np.searchsorted(ranked, [self.pairs.frequent, self.pairs.single]).tolist()
        own = np.arange(len(ranked), dtype=np.int32)
        renamed = np.zeros(len(self.pairs.rank), dtype=np.int32)
        renamed[ranked] = own
        pairs = WeightPairs(own, starts, self.pairs.label[places], frequent, single)
        return self._bare(self.structure, pairs, (first, renamed[index], values)), places

    def _bare(self, structure: StructureBatch, pairs: WeightPairs, rows: Ranked) -> SparseFeatures:
        """Return what these rows are, without a matrix."""
        other = object.__new__(SparseFeatures)
        other.structure, other.clique, other.width = structure, self.clique, self.width
        other.pairs, other.size, other.rows = pairs, len(pairs.label), rows
        other.matrix = sparse.csr_matrix((len(rows[0]) - 1, len(pairs.rank)), dtype=self.matrix.dtype)
        return other

    def _of(self, structure: StructureBatch, matrix: Any) -> SparseFeatures:
        """Return the same with one observation for every clique."""
        return SparseFeatures(structure, self.clique, matrix, self.pairs, np.arange(matrix.shape[0]))

    def _same(self, into: Array) -> Array:
        if into.dtype != self.matrix.dtype:
            raise TypeError(f"Scores are {into.dtype}, features {self.matrix.dtype}: they must be the same.")
        if not into.flags.c_contiguous:  # a copy would be filled in their place
            raise TypeError("Scores must be contiguous.")
        return into
