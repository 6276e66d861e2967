"""Linear functions of features, on cliques of any type."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
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
from ._products import Features, Products, column_sizes, least_of, squares_times, sum_of_row_norms


class LinearFeatures(Euclidean, Curved, Counted, Grouped):
    """f(x_c, y_c) = ⟨w_{y_c}, x_c⟩ on every clique of one type; w is (D, L), (D, L, L), ….

    The cliques need scores of their own, C·L² numbers on edges.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    clique : str
        The clique type.
    features : (n, D) array or scipy-sparse matrix
        The observations; one row per vertex unless ``rows`` are given.
    rows : (C,) integers, optional
        Which observation each clique sees; that of its first member if not given.
    """

    def __init__(
        self, structure: StructureBatch, clique: str, features: Features, rows: Array | None = None
    ) -> None:
        require_own_scores(structure, clique)
        self.structure = structure
        self.clique = clique
        seen = RowMap(first_members(structure, clique) if rows is None else rows, features.shape[0])
        self.features = Products(seen.seen(features))
        """Of the matrix with the observation of every clique."""
        self.width = values_of(structure, clique)
        self.size = features.shape[1] * self.width

    def add_scores(self, element: Array, into: Array) -> None:
        """Add X w, one row of scores per clique."""
        into += self.features.times(self.table(element)).reshape(into.shape)

    def adjoint(self, gradient: Array) -> Array:
        """Return Xᵀ times the gradient."""
        return self.features.transposed_times(in_rows(gradient)).ravel()

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the features."""
        return self.features.precision

    @cached_property
    def reach(self) -> float:
        """Σ_c ‖x_c‖."""
        return sum_of_row_norms(self.features.matrix)

    def table(self, element: Array) -> Array:
        """Return the weights as a matrix with a row per feature."""
        return element.reshape(-1, self.width)

    def element(self, table: Array) -> Array:
        """Return the element with these weights."""
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
        return np.repeat(np.arange(self.features.matrix.shape[1]), self.width)

    @property
    def least(self) -> float:
        """The least of them."""
        return least_of(self.features.matrix)

    def precise(self) -> LinearFeatures:
        """Return the same with features in double precision."""
        double = self.precision == np.float64
        return self if double else self._of(self.structure, self.features.matrix.astype(np.float64))

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LinearFeatures:
        """Return the same on some instances."""
        offsets = self.structure.cliques[self.clique].offsets
        return self._of(structure, self.features.matrix[rows_of(offsets, np.asarray(ids, dtype=np.int64))])

    def _of(self, structure: StructureBatch, matrix: Features) -> LinearFeatures:
        """Return the same with one observation for every clique."""
        return LinearFeatures(structure, self.clique, matrix, np.arange(matrix.shape[0]))
