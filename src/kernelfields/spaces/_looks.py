"""Which observation each clique looks at."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from ..arrays import Array


def in_rows(values: Array) -> Array:
    """Return values of cliques as a matrix with a row for each; sequences of one position have no edges."""
    return np.reshape(values, (len(values), math.prod(np.shape(values)[1:])))


class Looks:
    """Clique c looks at the observation ``rows[c]`` of n; None stands for each at its own, in order."""

    def __init__(self, rows: Array | None, size: int) -> None:
        self.rows = rows
        self.size = size
        self._distinct = rows is None or len(np.unique(rows)) == len(rows)

    def seen(self, values: Array) -> Array:
        """Values of observations, (n, r), as cliques see them."""
        return values if self.rows is None else values[self.rows]

    def spread(self, values: Array) -> Array:
        """Values of cliques, added up at the observations they look at, (n, r)."""
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
