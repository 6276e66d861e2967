"""Linear functions of features, on vertices and on edges."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import EdgeBatch, StructureBatch
from ._base import Counted, Curved, Euclidean, Grouped
from ._looks import in_rows
from ._products import Features, Products, column_sizes, least_of, squares_times, sum_of_row_norms


class LinearNodes(Euclidean, Curved, Counted, Grouped):
    """f(x_t, y_t) = ⟨w_{y_t}, x_t⟩ on every vertex; w is (D, L).

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    features : (N, D) array or scipy-sparse matrix
        One row per vertex.
    """

    clique = "node"

    def __init__(self, structure: StructureBatch, features: Features) -> None:
        self.structure = structure
        self.features = Products(features)
        self.size = features.shape[1] * structure.n_labels

    def add_scores(self, element: Array, into: Array) -> None:
        """Add X w."""
        into += self.features.times(element.reshape(-1, self.structure.n_labels))

    def adjoint(self, gradient: Array) -> Array:
        """Return Xᵀ times the gradient."""
        return self.features.transposed_times(gradient).ravel()

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the features."""
        return self.features.precision

    @cached_property
    def reach(self) -> float:
        """Σ_t ‖x_t‖."""
        return sum_of_row_norms(self.features.matrix)

    def table(self, element: Array) -> Array:
        """Return the weights as a (D, L) array."""
        return element.reshape(-1, self.structure.n_labels)

    def element(self, table: Array) -> Array:
        """Return the element with these weights, (D, L)."""
        return table.ravel()

    def curvatures(self, expected: Array) -> Array:
        """Σ_c μ_c (1 − μ_c) x_c²."""
        return squares_times(self.features.matrix, in_rows(expected * (1 - expected))).ravel()

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The least and the largest column."""
        return column_sizes(self.features.matrix)

    @cached_property
    def groups(self) -> Array:
        """The feature of every weight."""
        D = self.features.matrix.shape[1]
        return np.repeat(np.arange(D), self.size // max(D, 1))

    @property
    def least(self) -> float:
        """The least of them."""
        return least_of(self.features.matrix)

    def precise(self) -> LinearNodes:
        """Return the same with features in double precision."""
        double = self.precision == np.float64
        return self if double else LinearNodes(self.structure, self.features.matrix.astype(np.float64))

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LinearNodes:
        """Return the same on some instances."""
        rows = rows_of(self.structure.offsets, np.asarray(ids, dtype=np.int64))
        return LinearNodes(structure, self.features.matrix[rows])


class LinearEdges(Euclidean, Curved, Counted, Grouped):
    """f(x_v, y_v, y_u) = ⟨w_{y_v, y_u}, x_v⟩ on every edge from v to u; w is (D, L, L).

    Edges then have scores of their own: the structure needs ``shared_edges=False``, and E·L² numbers.
    """

    clique = "edge"

    def __init__(self, structure: EdgeBatch, features: Features) -> None:
        if structure.shared_edges:
            raise TypeError("Edges with input need a structure whose edges have scores of their own.")
        self.structure: EdgeBatch = structure
        self.vertex_features = features
        self.features = Products(features[structure.edge_tails])
        self.size = features.shape[1] * structure.n_labels**2

    def add_scores(self, element: Array, into: Array) -> None:
        """Add X w, one row of L² scores per edge."""
        L = self.structure.n_labels
        into += self.features.times(element.reshape(-1, L * L)).reshape(into.shape)

    def adjoint(self, gradient: Array) -> Array:
        """Return Xᵀ times the gradient."""
        return self.features.transposed_times(in_rows(gradient)).ravel()

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the features."""
        return self.features.precision

    @cached_property
    def reach(self) -> float:
        """Σ ‖x_v‖ over the tails of all edges."""
        return sum_of_row_norms(self.features.matrix)

    def curvatures(self, expected: Array) -> Array:
        """Σ_c μ_c (1 − μ_c) x_c²."""
        return squares_times(self.features.matrix, in_rows(expected * (1 - expected))).ravel()

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The least and the largest column."""
        return column_sizes(self.features.matrix)

    @cached_property
    def groups(self) -> Array:
        """The feature of every weight."""
        D = self.features.matrix.shape[1]
        return np.repeat(np.arange(D), self.size // max(D, 1))

    @property
    def least(self) -> float:
        """The least of them."""
        return least_of(self.features.matrix)

    def precise(self) -> LinearEdges:
        """Return the same with features in double precision."""
        double = self.precision == np.float64
        return self if double else LinearEdges(self.structure, self.vertex_features.astype(np.float64))

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LinearEdges:
        """Return the same on some instances."""
        assert isinstance(structure, EdgeBatch)
        rows = rows_of(self.structure.offsets, np.asarray(ids, dtype=np.int64))
        return LinearEdges(structure, self.vertex_features[rows])
