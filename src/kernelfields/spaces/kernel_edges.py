"""Kernel expansions on edges with input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..gram import Gram
from ..structures import EdgeBatch, StructureBatch
from ._kernel_base import Expansion
from .label_embedding import LabelEmbedding


class KernelEdges(Expansion):
    """f(x_v, y_v, y_u) on every edge from v to u, with the kernel [(y_v, y_u) = (y′_v, y′_u)] k(x, x′).

    It looks at the observation of the vertex each edge comes from, so that the Gram matrix of the
    vertices serves both. Edges then have scores of their own: E·L² numbers, and as many coefficients.

    Parameters
    ----------
    structure : EdgeBatch
        The batch, with ``shared_edges=False``.
    gram : Gram
        K on the observations of the basis.
    rows : (E,) integers, optional
        Which observation each edge looks at; that of its tail, if not given.
    """

    clique = "edge"

    def __init__(self, structure: EdgeBatch, gram: Gram, rows: Array | None = None) -> None:
        if structure.shared_edges:
            raise TypeError("Edges with input need a structure whose edges have scores of their own.")
        pairs = LabelEmbedding.identity(structure.n_labels**2)
        self._set_up(structure, gram, pairs, structure.edge_tails if rows is None else rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> KernelEdges:
        """Return the same functions, expanded over the same observations, on some instances."""
        assert isinstance(structure, EdgeBatch)
        assert isinstance(self.structure, EdgeBatch)
        assert self.rows is not None
        edges = rows_of(self.structure.edge_offsets, np.asarray(ids, dtype=np.int64))
        return KernelEdges(structure, self.gram, self.rows[edges])
