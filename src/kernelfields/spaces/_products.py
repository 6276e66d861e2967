"""Products with a matrix of features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .. import native
from ..arrays import Array
from ..errors import InputError

Features = Any
"""An (N, D) array or scipy-sparse matrix."""

ROWS = 256
"""Rows that are looked at together where some are to speak for all."""
WIDENED = 2**16
"""Entries of a single-precision matrix that are widened at a time: few enough to stay in the cache."""

MOST_COLUMNS = 2**31 - 1
"""Columns of sparse matrices are numbers of 32 bits."""

BLOCK = 2**14
"""Rows whose norms are taken at a time."""

NARROW = 12
"""Columns up to which products with a dense matrix wait for memory: the core reads it faster than BLAS."""


class FeatureProducts(ABC):
    """X·W and Xᵀ·G."""

    matrix: Features

    @property
    def shape(self) -> tuple[int, int]:
        """N, D."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def precision(self) -> np.dtype[Any]:
        """The precision in which products are taken."""
        return np.dtype(self.matrix.dtype)

    def some(self, rows: Array) -> Array:
        """Return some rows of X."""
        return np.asarray(self.matrix[rows])

    @abstractmethod
    def part(self, begin: int, end: int) -> FeatureProducts:
        """Return those with the rows from one to another."""

    def precise(self) -> FeatureProducts:
        """Return products in double."""
        return PreciseProducts(self)

    @abstractmethod
    def times(self, weights: Array) -> Array:
        """X·W."""

    @abstractmethod
    def transposed_times(self, gradient: Array) -> Array:
        """Xᵀ·G, float64."""


class Products(FeatureProducts):
    """Products in the precision of X; the transpose of a sparse X is made once, when asked for.

    A dense X is never copied if its rows are contiguous, however far apart: BLAS takes it as it is.
    Products with few columns are taken in the core, which adds up in double beyond short stretches.
    """

    def __init__(self, matrix: Features) -> None:
        self.matrix = sound_rows(matrix) if sparse.issparse(matrix) else _with_contiguous_rows(matrix)

    def part(self, begin: int, end: int) -> Products:
        """Return those with the rows from one to another, not copied."""
        return self if (begin, end) == (0, self.matrix.shape[0]) else Products(self.matrix[begin:end])

    @cached_property
    def _transposed(self) -> Features:
        return self.matrix.T.tocsr() if sparse.issparse(self.matrix) else self.matrix.T

    def times(self, weights: Array) -> Array:
        """X·W."""
        weights = np.ascontiguousarray(weights, dtype=self.matrix.dtype)
        if self._narrow(weights):
            return np.asarray(native.matrix_times(self.matrix, weights))
        if not sparse.issparse(self.matrix):
            return np.asarray(self.matrix @ weights)
        result = np.zeros((self.matrix.shape[0], weights.shape[1]), self.matrix.dtype)
        native.sparse_times(
            self.matrix.indptr.astype(np.int64),
            self.matrix.indices.astype(np.int32, copy=False),
            self.matrix.data,
            weights,
            result,
        )
        return result

    def transposed_times(self, gradient: Array) -> Array:
        """Xᵀ·G."""
        gradient = gradient.astype(self.matrix.dtype, copy=False)
        if self._narrow(gradient):
            return np.asarray(native.matrix_transposed_times(self.matrix, np.ascontiguousarray(gradient)))
        return np.asarray(self._transposed @ gradient, dtype=np.float64)

    def _narrow(self, columns: Array) -> bool:
        if sparse.issparse(self.matrix) or self.matrix.dtype not in (np.float32, np.float64):
            return False
        return 0 < columns.shape[1] <= NARROW and min(self.matrix.shape) > 0


class PreciseProducts(FeatureProducts):
    """Products in double with a dense X in single precision, some rows widened at a time.

    The entries of X are what they are; only sums over many of them gain. For certificates, which add
    up more rounding errors than they may be large.
    """

    def __init__(self, source: FeatureProducts) -> None:
        self._source = source

    @property
    def matrix(self) -> Array:
        """X."""
        return np.asarray(self._source.matrix)

    @property
    def shape(self) -> tuple[int, int]:
        """N, D."""
        return self._source.shape

    @property
    def precision(self) -> np.dtype[Any]:
        """Double."""
        return np.dtype(np.float64)

    def some(self, rows: Array) -> Array:
        """Return some rows of X."""
        return self._source.some(rows)

    def part(self, begin: int, end: int) -> PreciseProducts:
        """Return those with the rows from one to another."""
        return PreciseProducts(self._source.part(begin, end))

    def precise(self) -> PreciseProducts:
        """Return these."""
        return self

    def times(self, weights: Array) -> Array:
        """X·W."""
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        result = np.empty((self.shape[0], weights.shape[1]))
        for place, rows in self._widened():
            result[place] = rows.times(weights)
        return result

    def transposed_times(self, gradient: Array) -> Array:
        """Xᵀ·G."""
        result = np.zeros((self.shape[1], gradient.shape[1]))
        for place, rows in self._widened():
            result += rows.transposed_times(gradient[place].astype(np.float64, copy=False))
        return result

    def _widened(self) -> Iterator[tuple[slice, Products]]:
        """Yield some rows at a time, in memory that the next ones overwrite.

        Fresh memory would take longer to get than the product: workers of Dask give back what they free.
        """
        matrix, (count, columns) = self.matrix, self.shape
        height = max(1, WIDENED // max(columns, 1))
        buffer = np.empty((min(height, count), columns))
        for start in range(0, count, height):
            place = slice(start, min(start + height, count))
            rows = buffer[: place.stop - start]
            rows[...] = matrix[place]
            yield place, Products(rows)


def sound_rows(matrix: Any) -> Any:
    """Return a sparse matrix by rows, whose columns are those that it says to have: SciPy does not look."""
    rows = matrix.tocsr()
    if rows.shape[1] > MOST_COLUMNS:
        raise InputError(f"There are {rows.shape[1]} features; at most {MOST_COLUMNS} can be told apart.")
    if rows.indices.size and not 0 <= rows.indices.min() <= rows.indices.max() < rows.shape[1]:
        worst = rows.indices.min() if rows.indices.min() < 0 else rows.indices.max()
        raise InputError(f"The sparse matrix has an entry in column {worst}, but {rows.shape[1]} columns.")
    return rows


def _with_contiguous_rows(matrix: Any) -> Array:
    array = np.asarray(matrix)
    apart = array.ndim == 2 and array.strides[1] == array.itemsize and array.strides[0] > 0
    return array if apart else np.ascontiguousarray(array)


def squares_times(matrix: Features, columns: Array) -> Array:
    """(X∘X)ᵀ·A, some rows at a time."""
    result = np.zeros((matrix.shape[1], columns.shape[1]))
    for start in range(0, matrix.shape[0], BLOCK):
        rows = matrix[start : start + BLOCK].astype(np.float64)
        squares = rows.multiply(rows) if sparse.issparse(rows) else np.square(rows)
        result += squares.T @ columns[start : start + BLOCK]
    return result


def column_sizes(matrix: Features) -> tuple[float, float]:
    """The least and the largest column by its largest entry, without those that are zero."""
    if min(matrix.shape) == 0:
        return 1.0, 1.0
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    if sparse.issparse(matrix):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    size = np.maximum(high.astype(np.float64), -low.astype(np.float64))
    size = size[size > 0]
    return (float(size.min()), float(size.max())) if len(size) else (1.0, 1.0)


def least_of(matrix: Features) -> float:
    """The least entry of a matrix."""
    if not sparse.issparse(matrix):
        return float(matrix.min(initial=0.0))
    return min(0.0, float(matrix.data.min(initial=0)))


def sum_of_row_norms(matrix: Features) -> float:
    """Return Σ_i ‖x_i‖, some rows at a time."""
    return float(
        sum(row_norms(matrix[start : start + BLOCK]).sum() for start in range(0, matrix.shape[0], BLOCK))
    )


def judged_by_some(count: int, norms: Callable[[Array], Array]) -> float:
    """Return twice what norms add up to if all are like those of some rows, evenly spread."""
    rows = np.unique(np.linspace(0, count - 1, min(count, ROWS)).astype(np.int64))
    return 2.0 * count * float(norms(rows).mean()) if count else 0.0


def row_norms(matrix: Features) -> Array:
    """Return ‖x_i‖ of every row, in double."""
    if sparse.issparse(matrix):
        squares = np.square(matrix.data.astype(np.float64))
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return np.sqrt(np.bincount(row, squares, matrix.shape[0]))
    rows = matrix.astype(np.float64, copy=False)
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
