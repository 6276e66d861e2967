"""Selected coordinates on vertices, on edges with input, and on both at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import EdgeBatch, Scores, StructureBatch
from ._base import Joint
from ._selected_base import Functions, Selected


class SelectedNodes(Selected):
    """Functions h(x_v, y_v) = k(b, x_v) [y_v = σ] of vertices.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    functions : Functions
        What was selected, with kernel values on n observations.
    rows : (N,) integers, optional
        Which of them each vertex has; the same, in order, if not given.
    """

    clique = "node"

    def __init__(self, structure: StructureBatch, functions: Functions, rows: Array | None = None) -> None:
        self._set_up(structure, functions, rows)

    def precise(self) -> SelectedNodes:
        """Return the same with products in double precision."""
        return SelectedNodes(self.structure, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> SelectedNodes:
        """Return the same functions on some instances."""
        return SelectedNodes(structure, self.functions, _taken(self.structure.offsets, ids, self.rows))


class SelectedEdges(Selected):
    """Functions h(x_v, y_v, y_u) = k(b, x_v) [(y_v, y_u) = pair] of edges from v to u, with input.

    Parameters
    ----------
    structure : EdgeBatch
        The batch, with ``shared_edges=False``.
    functions : Functions
        What was selected, with kernel values on n observations.
    rows : (E,) integers, optional
        Which of them each edge looks at; that of its tail, if not given.
    """

    clique = "edge"

    def __init__(self, structure: EdgeBatch, functions: Functions, rows: Array | None = None) -> None:
        if structure.shared_edges:
            raise TypeError("Edges with input need a structure whose edges have scores of their own.")
        self._set_up(structure, functions, structure.edge_tails if rows is None else rows)

    def precise(self) -> SelectedEdges:
        """Return the same with products in double precision."""
        assert isinstance(self.structure, EdgeBatch)
        return SelectedEdges(self.structure, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> SelectedEdges:
        """Return the same functions on some instances."""
        assert isinstance(structure, EdgeBatch)
        assert isinstance(self.structure, EdgeBatch)
        return SelectedEdges(structure, self.functions, _taken(self.structure.edge_offsets, ids, self.rows))


class SelectedCliques(Selected, Joint):
    """Functions of vertices and of label pairs together: Σ k(b, x_v) [y_v = σ] + κ Σ [(y_v, y_u) = pair].

    The coordinate of a position with a label and the next one acts on both [altun2004gp, Proposition 1].
    The inner product is that of the kernel k on vertices plus κ on label pairs: with the penalty λ, free
    scores V of label pairs cost (λ/2κ)‖V‖².

    Parameters
    ----------
    structure : StructureBatch
        The batch, with shared edges.
    functions : Functions
        What was selected.
    rows : (N,) integers, optional
        Which observation each vertex has; the same, in order, if not given.
    """

    clique = "node"

    def __init__(self, structure: StructureBatch, functions: Functions, rows: Array | None = None) -> None:
        if len(structure.shapes["edge"]) != 2:
            raise TypeError("Functions of label pairs without input need shared edges.")
        self._set_up(structure, functions, rows)

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
        return SelectedCliques(structure, self.functions, _taken(self.structure.offsets, ids, self.rows))


def _taken(offsets: Array, ids: npt.ArrayLike, rows: Array | None) -> Array:
    cliques = rows_of(offsets, np.asarray(ids, dtype=np.int64))
    return cliques if rows is None else rows[cliques]
