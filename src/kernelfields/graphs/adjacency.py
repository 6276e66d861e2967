"""Adjacency matrices as users give them, checked: sparse, weighted, directed or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from ..arrays import Array
from ..checks import all_finite, require_unmasked
from ..errors import InputError
from ..native import NeighbourRows

ALIKE = 1e-9
"""Relative difference of two weights up to which an edge is the same in both directions."""


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Weights of edges, row by row; row i has what vertex i listens to, and nothing of itself."""

    matrix: Any
    """(N, N) CSR matrix of float64, indices of int32 in any order; entries that are there twice add up."""

    @classmethod
    def undirected(cls, matrix: Any) -> Adjacency:
        """Return weights that are known to be symmetric, finite, not negative and without loops."""
        indices = matrix.indices.astype(np.int32, copy=False)
        data = matrix.data.astype(np.float64, copy=False)
        result = cls(sparse.csr_matrix((data, indices, matrix.indptr), matrix.shape))
        vars(result)["symmetric"] = True  # else it would be looked at
        return result

    @cached_property
    def symmetric(self) -> bool:
        """Whether every edge has the same weight in both directions, but for rounding."""
        return _is_symmetric(self.matrix)

    @property
    def n_vertices(self) -> int:
        """N."""
        return int(self.matrix.shape[0])

    def native(self) -> NeighbourRows:
        """Return the rows as the compiled core reads them."""
        first = self.matrix.indptr.astype(np.int64)
        return NeighbourRows(first, self.matrix.indices, self.matrix.data)

    def reached(self, starts: Array) -> Array:
        """Return the (N,) mask of vertices from which a path leads to one of the starts."""
        if self.symmetric:  # components are strong ones, which are found without a transposed copy
            _, component = scipy.sparse.csgraph.connected_components(
                self.matrix, directed=True, connection="strong"
            )
            return np.asarray(np.bincount(component[starts], minlength=component.max(initial=0) + 1) > 0)[
                component
            ]
        n = self.n_vertices
        source = sparse.csr_matrix((np.ones(len(starts)), (np.zeros(len(starts), int), starts)), (1, n + 1))
        backwards = sparse.hstack([self.matrix.T, sparse.csr_matrix((n, 1))])
        order = scipy.sparse.csgraph.breadth_first_order(
            sparse.vstack([backwards, source], format="csr"), n, return_predecessors=False
        )
        found = np.zeros(n + 1, dtype=bool)
        found[order] = True
        return found[:n]


def read_adjacency(given: Any) -> Adjacency:
    """Read a square matrix of weights, sparse or dense, none negative; edges to oneself are left out."""
    matrix = _square(given)
    if not all_finite(matrix.data):
        row = _row_of(matrix, ~np.isfinite(matrix.data))
        raise InputError(f"The adjacency matrix holds NaN or infinity in row {row}.")
    if len(matrix.data) and matrix.data.min() < 0:
        row = _row_of(matrix, matrix.data < 0)
        raise InputError(f"The adjacency matrix has a negative weight in row {row}.")
    if (matrix.data == 0).any() or matrix.diagonal().any():
        matrix = _without_loops(matrix)
    if matrix.indices.dtype != np.int32:
        matrix = sparse.csr_matrix(
            (matrix.data, matrix.indices.astype(np.int32), matrix.indptr), matrix.shape
        )
    return Adjacency(matrix)


def _square(given: Any) -> Any:
    matrix = given if sparse.issparse(given) else _dense(given)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"The adjacency matrix is {matrix.dtype} of shape {matrix.shape}; "
            "it must be a square matrix of numbers."
        )
    result = sparse.csr_matrix(matrix)
    try:
        result.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"The adjacency matrix is a damaged sparse matrix: {error}.") from error
    return result.astype(np.float64, copy=False)


def _dense(given: Any) -> Array:
    require_unmasked(given, "The adjacency matrix", "write 0 for edges that there are not")
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"The adjacency matrix is not a matrix of numbers: {error}.") from error


def _row_of(matrix: Any, entries: Array) -> int:
    """Return the row of the first of some entries."""
    return int(np.searchsorted(matrix.indptr, np.flatnonzero(entries)[0], side="right")) - 1


def _without_loops(matrix: Any) -> Any:
    rows = matrix.tocoo()
    kept = (rows.row != rows.col) & (rows.data > 0)
    return sparse.csr_matrix((rows.data[kept], (rows.row[kept], rows.col[kept])), matrix.shape)


def _is_symmetric(matrix: Any) -> bool:
    """Whether every edge has the same weight in both directions, but for rounding."""
    other = matrix.T.tocsr()
    if not matrix.has_canonical_format:  # the user's own: it is neither sorted nor copied for anything else
        matrix = other.T.tocsr()
        matrix.sum_duplicates()
        other.sum_duplicates()
    if not np.array_equal(matrix.indptr, other.indptr) or not np.array_equal(matrix.indices, other.indices):
        return False
    return bool((np.abs(matrix.data - other.data) <= ALIKE * np.maximum(matrix.data, other.data)).all())
