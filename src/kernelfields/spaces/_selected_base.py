"""What functions of selected coordinates share, on one clique type or on several."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..structures import StructureBatch
from ._base import Euclidean, RowMap, first_members, in_rows, require_own_scores, window_of
from ._products import judged_by_some
from .functions import Functions


class SelectedFunctions(Euclidean):
    """f = Σ_j c_j h_j over selected functions h_j [altun2004gp, 4.2; altun2006, 1.3; lafferty2004].

    The representer of dθ has c = K_SS⁻¹(K dθ)_S: the projection of the gradient onto their span.
    Elements are w = Cᵀc, in which the inner product is the Euclidean one. Scores take 2 n m r operations
    and p² for the way from w to c.
    """

    functions: Functions

    def _set_up(
        self, structure: StructureBatch, clique: str, functions: Functions, rows: Array | None
    ) -> None:
        """Take over what a constructor was given; clique c sees the observation ``rows[c]``."""
        require_own_scores(structure, clique)
        self.structure = structure
        self.clique = clique
        self.functions = functions
        self.size = functions.size
        n = functions.products.shape[0]
        self._map = RowMap(first_members(structure, clique) if rows is None else rows, n)

    @property
    def precision(self) -> np.dtype[Any]:
        """That of the kernel values."""
        return self.functions.products.precision

    @property
    def rows(self) -> Array:
        """Which observation each clique sees."""
        return np.arange(self._map.size) if self._map.rows is None else self._map.rows

    @cached_property
    def reach(self) -> float:
        """Σ_c ‖φ(x_c)‖, judged by some observations, and what label pairs add."""
        functions = self.functions
        seen = judged_by_some(functions.products.shape[0], functions.norms)
        return self._map.most * seen + float(np.sqrt(functions.share)) * self.structure.n_vertices

    def add_scores(self, element: Array, into: Array) -> None:
        """Add K_XB times the table of coefficients."""
        self._add(self.functions.coefficients(element), into)

    def _add(self, coefficients: Array, into: Array) -> None:
        seen = self._map.seen(self.functions.products.times(self.functions.table(coefficients)))
        into += seen.reshape(into.shape).astype(into.dtype, copy=False)

    def adjoint(self, gradient: Array) -> Array:
        """Return C⁻¹(K gradient)_S."""
        return self.functions.pulled(self._spread(gradient))

    def _spread(self, gradient: Array) -> Array:
        return self._map.spread(in_rows(gradient))

    def _taken(self, ids: Any) -> tuple[Functions, Array]:
        """Return the functions on the observations that some instances see, and which each clique sees."""
        rows = self._map.take(self.structure.cliques[self.clique].offsets, ids)
        begin, end = window_of(rows)
        return self.functions.part(begin, end), rows - begin
