"""Selected coordinates on cliques of one type, or on vertices and label pairs at once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import LabelledBatch, Scores, StructureBatch
from ._base import Euclidean, Joint, RowMap, first_members, in_rows, require_own_scores, window_of
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


class Selected(SelectedFunctions):
    """Functions h(x_c, y_c) = k(b, x_c) [y_c = σ] of cliques of one type.

    Parameters
    ----------
    structure : StructureBatch
        The batch; the cliques need scores of their own.
    clique : str
        The clique type.
    functions : Functions
        What was selected, with kernel values on n observations.
    rows : (C,) integers, optional
        Which of them each clique sees; that of its first member if not given.
    """

    def __init__(
        self, structure: StructureBatch, clique: str, functions: Functions, rows: Array | None = None
    ) -> None:
        self._set_up(structure, clique, functions, rows)

    def precise(self) -> Selected:
        """Return the same with products in double precision."""
        return Selected(self.structure, self.clique, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Selected:
        """Return the same functions on some instances."""
        return Selected(structure, self.clique, *self._taken(ids))


class SelectedCliques(SelectedFunctions, Joint):
    """Functions of vertices and of label pairs together: Σ k(b, x_v) [y_v = σ] + κ Σ [(y_v, y_u) = pair].

    The coordinate of a position with a label and the next one acts on both [altun2004gp, Proposition 1].
    The inner product is that of the kernel k on vertices plus κ on label pairs: with the penalty λ, free
    scores V of label pairs cost (λ/2κ)‖V‖².

    Parameters
    ----------
    structure : LabelledBatch
        The batch, with shared edges.
    functions : Functions
        What was selected.
    rows : (N,) integers, optional
        Which observation each vertex has; the same, in order, if not given.
    """

    structure: LabelledBatch

    def __init__(self, structure: LabelledBatch, functions: Functions, rows: Array | None = None) -> None:
        if not structure.cliques["edge"].shared:
            raise UnsupportedError("Functions of label pairs without input need shared edges.")
        self._set_up(structure, "node", functions, rows)

    def feed(self, element: Array, into: Scores) -> None:
        """Add to the scores of vertices and of label pairs."""
        coefficients = self.functions.coefficients(element)
        self._add(coefficients, into["node"])
        pairs = self.functions.pair_scores(coefficients, self.structure.n_labels)
        into["edge"][...] += pairs.astype(into["edge"].dtype, copy=False)

    def represent(self, gradient: Scores) -> Array:
        """Return C⁻¹(K gradient)_S, vertices and pairs added up."""
        return self.functions.pulled(self._spread(gradient["node"]), gradient["edge"])

    def precise(self) -> SelectedCliques:
        """Return the same with products in double precision."""
        return SelectedCliques(self.structure, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> SelectedCliques:
        """Return the same functions on some instances."""
        assert isinstance(structure, LabelledBatch)
        return SelectedCliques(structure, *self._taken(ids))
