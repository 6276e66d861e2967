"""Kernel expansions on vertices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..gram import Gram
from ..structures import StructureBatch
from ._kernel_base import Expansion
from .label_embedding import LabelEmbedding


class KernelNodes(Expansion):
    """f(x_v, y_v) on every vertex, with the kernel [y = y′] k(x, x′), or k_Y(y, y′) k(x, x′).

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    gram : Gram
        K on the observations of the basis.
    embedding : LabelEmbedding, optional
        The kernel on labels; [y = y′] if not given.
    rows : (N,) integers, optional
        Which observation each vertex has; the same, in order, if not given.
    """

    clique = "node"

    def __init__(
        self,
        structure: StructureBatch,
        gram: Gram,
        embedding: LabelEmbedding | None = None,
        rows: Array | None = None,
    ) -> None:
        given = LabelEmbedding.identity(structure.n_labels) if embedding is None else embedding
        self._set_up(structure, gram, given, rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> KernelNodes:
        """Return the same functions, expanded over the same observations, on some instances."""
        vertices = rows_of(self.structure.offsets, np.asarray(ids, dtype=np.int64))
        rows = vertices if self.rows is None else self.rows[vertices]
        return KernelNodes(structure, self.gram, self.embedding, rows)
