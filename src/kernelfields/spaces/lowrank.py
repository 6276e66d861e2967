"""Functions of a low-rank factor, on vertices and on edges with input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..structures import EdgeBatch, StructureBatch
from ._lowrank_base import Factor, LowRank
from .label_embedding import LabelEmbedding


class LowRankNodes(LowRank):
    """f(x_v, y_v) on every vertex, as `KernelNodes`, in the subspace that a factor spans.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    factor : Factor
        Φ on the observations.
    embedding : LabelEmbedding, optional
        The kernel on labels; [y = y′] if not given.
    rows : (N,) integers, optional
        Which observation each vertex has; the same, in order, if not given.
    """

    clique = "node"

    def __init__(
        self,
        structure: StructureBatch,
        factor: Factor,
        embedding: LabelEmbedding | None = None,
        rows: Array | None = None,
    ) -> None:
        given = LabelEmbedding.identity(structure.n_labels) if embedding is None else embedding
        self._set_up(structure, factor, given, rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LowRankNodes:
        """Return the same functions on some instances."""
        vertices = rows_of(self.structure.offsets, np.asarray(ids, dtype=np.int64))
        rows = vertices if self.rows is None else self.rows[vertices]
        return LowRankNodes(structure, self.factor, self.embedding, rows)

    def precise(self) -> LowRankNodes:
        """Return the same with products in double precision."""
        return LowRankNodes(self.structure, self.factor.precise(), self.embedding, self.rows)


class LowRankEdges(LowRank):
    """f(x_v, y_v, y_u) on every edge from v to u, as `KernelEdges`, in the subspace that a factor spans.

    Parameters
    ----------
    structure : EdgeBatch
        The batch, with ``shared_edges=False``.
    factor : Factor
        Φ on the observations of the vertices.
    rows : (E,) integers, optional
        Which observation each edge looks at; that of its tail, if not given.
    """

    clique = "edge"

    def __init__(self, structure: EdgeBatch, factor: Factor, rows: Array | None = None) -> None:
        if structure.shared_edges:
            raise TypeError("Edges with input need a structure whose edges have scores of their own.")
        pairs = LabelEmbedding.identity(structure.n_labels**2)
        self._set_up(structure, factor, pairs, structure.edge_tails if rows is None else rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LowRankEdges:
        """Return the same functions on some instances."""
        assert isinstance(structure, EdgeBatch)
        assert isinstance(self.structure, EdgeBatch)
        assert self.rows is not None
        edges = rows_of(self.structure.edge_offsets, np.asarray(ids, dtype=np.int64))
        return LowRankEdges(structure, self.factor, self.rows[edges])

    def precise(self) -> LowRankEdges:
        """Return the same with products in double precision."""
        assert isinstance(self.structure, EdgeBatch)
        return LowRankEdges(self.structure, self.factor.precise(), self.rows)
