"""Which observation each clique sees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array, rows_of
from ..structures import StructureBatch


def in_rows(values: Array) -> Array:
    """Return values of cliques as a matrix with a row for each; sequences of one position have no edges."""
    return np.reshape(values, (len(values), math.prod(np.shape(values)[1:])))


def values_of(structure: StructureBatch, clique: str) -> int:
    """Return how many scores one clique has."""
    return math.prod(structure.cliques[clique].values)


def require_own_scores(structure: StructureBatch, clique: str) -> None:
    """Refuse functions of the input where all cliques share their scores."""
    if structure.cliques[clique].shared:
        raise TypeError(
            f"{clique}: functions of the input need a structure whose cliques have scores of their own."
        )


def first_members(structure: StructureBatch, clique: str) -> Array | None:
    """Return the first vertex of every clique; None where that is each its own, in order."""
    return _unless_identity(structure.cliques[clique].members[:, 0], structure.n_vertices)


def _unless_identity(rows: Array, size: int) -> Array | None:
    same = len(rows) == size and bool((rows == np.arange(size)).all())
    return None if same else rows


class RowMap:
    """Clique c sees the observation ``rows[c]`` of n; None stands for each its own, in order."""

    def __init__(self, rows: Array | None, size: int) -> None:
        self.rows = None if rows is None else _unless_identity(np.asarray(rows), size)
        self.size = size
        self._distinct = self.rows is None or len(np.unique(self.rows)) == len(self.rows)

    def seen(self, values: Any) -> Any:
        """Values of observations, (n, r), as cliques see them."""
        return values if self.rows is None else values[self.rows]

    def spread(self, values: Array) -> Array:
        """Values of cliques, added up at the observations they see, (n, r)."""
        if self.rows is None:
            return values
        if not self._distinct:
            ends = np.arange(len(self.rows) + 1)
            shape = (len(self.rows), self.size)
            return np.asarray(
                sparse.csr_matrix((np.ones(len(self.rows), values.dtype), self.rows, ends), shape).T @ values
            )
        result = np.zeros((self.size, values.shape[1]), values.dtype)
        result[self.rows] = values
        return result

    def take(self, offsets: Array, ids: npt.ArrayLike) -> Array:
        """Return the rows of the cliques that some instances own."""
        cliques = rows_of(offsets, np.asarray(ids, dtype=np.int64))
        return cliques if self.rows is None else self.rows[cliques]

    @property
    def most(self) -> int:
        """How many cliques see one observation, at most."""
        return 1 if self.rows is None else int(np.bincount(self.rows).max(initial=0))
