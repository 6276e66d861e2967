"""Free scores: one number per label, label pair or triple, whatever the input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import EdgeBatch, StructureBatch
from ._free_base import Free


class Bias(Free):
    """f(y_t) = b_{y_t} on every vertex; b is (L,)."""

    clique = "node"

    def __init__(self, structure: StructureBatch) -> None:
        self.structure = structure
        self.size = structure.n_labels

    def add_scores(self, element: Array, into: Array) -> None:
        """Add b to every row."""
        into += element.astype(into.dtype, copy=False)

    def adjoint(self, gradient: Array) -> Array:
        """Sum over vertices."""
        return gradient.sum(axis=0, dtype=np.float64)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Bias:
        """Return the same on some instances."""
        return Bias(structure)


class Boundary(Free):
    """Scores of the labels where edges start and where they end; (2, L), start then end.

    The first and the last label of a sequence; the root and the leaves of a tree. A vertex without edges
    is both.
    """

    clique = "node"

    def __init__(self, structure: EdgeBatch) -> None:
        self.structure: EdgeBatch = structure
        self.size = 2 * structure.n_labels

    def add_scores(self, element: Array, into: Array) -> None:
        """Add to the sources and to the sinks."""
        start, end = element.reshape(2, -1).astype(into.dtype, copy=False)
        into[self.structure.sources] += start
        into[self.structure.sinks] += end

    def adjoint(self, gradient: Array) -> Array:
        """Sum over sources, and over sinks."""
        ends = (self.structure.sources, self.structure.sinks)
        return np.concatenate([gradient[rows].sum(axis=0, dtype=np.float64) for rows in ends])

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Boundary:
        """Return the same on some instances."""
        assert isinstance(structure, EdgeBatch)
        return Boundary(structure)


class FreeEdges(Free):
    """f(y, y') = V_{y, y'} on edges; V is (L, L), with the identity metric.

    Edges that share one V are *tied*. With ``members``, a mask over the edges, only those are fed:
    several such spaces untie edges of one shape, each type of them with a penalty of its own. With
    ``pairs``, a mask over (L, L), only those label pairs have a score; the others keep zero.
    """

    clique = "edge"

    def __init__(
        self, structure: StructureBatch, members: Array | None = None, pairs: Array | None = None
    ) -> None:
        self.structure = structure
        self.members = members
        self.pairs = pairs
        self.size = structure.n_labels**2
        if members is not None and len(structure.shapes["edge"]) == 2:
            raise TypeError("Untied edges need a structure whose edges have scores of their own.")

    def add_scores(self, element: Array, into: Array) -> None:
        """Add V to every edge, or to the members."""
        table = self._masked(element.reshape(self.structure.n_labels, -1)).astype(into.dtype, copy=False)
        if self.members is None:
            into += table
        else:
            into[self.members] += table

    def adjoint(self, gradient: Array) -> Array:
        """Sum over the edges that share V."""
        if gradient.ndim == 2:
            return self._masked(gradient.astype(np.float64)).ravel()
        mine = gradient if self.members is None else gradient[self.members]
        return self._masked(mine.sum(axis=0, dtype=np.float64)).ravel()

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> FreeEdges:
        """Return the same on some instances."""
        if self.members is None:
            return FreeEdges(structure, pairs=self.pairs)
        assert isinstance(self.structure, EdgeBatch)
        rows = rows_of(self.structure.edge_offsets, np.asarray(ids, dtype=np.int64))
        return FreeEdges(structure, self.members[rows], self.pairs)

    def _masked(self, table: Array) -> Array:
        return table if self.pairs is None else np.where(self.pairs, table, 0.0)


class FreeTriples(Free):
    """f(y, y', y'') = U_{y, y', y''} on every three neighbours; U is (L, L, L), with the identity metric."""

    clique = "triple"

    def __init__(self, structure: StructureBatch) -> None:
        if "triple" not in structure.shapes:
            raise TypeError(f"{type(structure).__name__} has no triples to score.")
        self.structure = structure
        self.size = structure.n_labels**3

    def add_scores(self, element: Array, into: Array) -> None:
        """Add U."""
        into += element.reshape(into.shape).astype(into.dtype, copy=False)

    def adjoint(self, gradient: Array) -> Array:
        """Return the gradient itself: all triples share U."""
        return gradient.ravel().astype(np.float64, copy=False)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> FreeTriples:
        """Return the same on some instances."""
        return FreeTriples(structure)
