"""The functions that can be selected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..approximation.columns import dtype_of, widened
from ..arrays import Array
from ..gram import KernelBlocks, PackedGram, blocks_times
from ..kernels import Kernel
from .atoms import Atoms


@dataclass(frozen=True)
class Pool:
    """The functions that can be selected for one space: all labellings of the cliques of n observations."""

    kernel: Kernel
    observations: Any
    """n observations, in the precision of kernel values."""
    seen: Array
    """The observation that each clique sees, (C,)."""
    width: int
    """Number of labels, label pairs or the like of an atom; 1 for cliques that are there or not."""
    penalty: float
    """λ of the space."""
    clique: str = "node"
    """The clique type that atoms feed."""
    share: float = 0.0
    """κ if functions score label pairs too, else 0."""

    @property
    def size(self) -> int:
        """N."""
        return int(self.observations.shape[0])

    @property
    def centring(self) -> float:
        """Subtracted from [y = y′]: 1/L on labels of vertices, where centring does not change the model."""
        return 1 / self.width if self.clique == "node" else 0.0

    def rows(self, chosen: Array) -> Array:
        """Return kernel values between some observations and all, (q, n)."""
        return self._table.rows(chosen)

    def times(self, chosen: Array, coefficients: Array) -> Array:
        """Return Σ_i k(x_o, x_i) a_i for some o, (q, r) float64."""
        return self._table.times(chosen, coefficients)

    @cached_property
    def _table(self) -> KernelTable:
        return KernelTable(self.kernel, self.observations)

    def block(self, left: Array, right: Array) -> Array:
        """Return kernel values between observations, in double precision."""
        X = self.observations
        return np.asarray(self.kernel.block(widened(X[left]), widened(X[right])), dtype=np.float64)

    def gram(self, left: Atoms, right: Atoms) -> Array:
        """Return ⟨h_i, h_j⟩ of functions, (left, right) float64."""
        mine, mine_at = np.unique(left.observations, return_inverse=True)
        theirs, theirs_at = np.unique(right.observations, return_inverse=True)
        if not (len(mine) and len(theirs)):
            values = np.zeros((len(left.labels), len(right.labels)))
        else:
            values = self.block(mine, theirs)[np.ix_(mine_at, theirs_at)]
            values *= (left.labels[:, None] == right.labels[None, :]) - self.centring
        result = _summed(values, left.owners, right.owners, left.size, right.size)
        if len(left.pairs) and len(right.pairs):
            equal = self.share * (left.pairs[:, None] == right.pairs[None, :])
            result += _summed(equal, left.pair_owners, right.pair_owners, left.size, right.size)
        return result


def _summed(values: Array, left: Array, right: Array, rows: int, columns: int) -> Array:
    """Return the sums over pairs of atoms, for pairs of the functions that own them."""
    result: Array = values
    if len(left) != rows or (left != np.arange(rows)).any():
        result = _owner_sums(left, rows) @ result
    if len(right) != columns or (right != np.arange(columns)).any():
        result = (_owner_sums(right, columns) @ result.T).T
    return np.asarray(result, dtype=np.float64)


def _owner_sums(owners: Array, count: int) -> Any:
    shape = (count, len(owners))
    return sparse.csr_matrix((np.ones(len(owners)), (owners, np.arange(len(owners)))), shape)


MOST = 2**28
"""Bytes that may be kept."""
SHARE = 0.25
"""Of all rows: computing as many a second time is no longer worth it."""
VALUE, READ, MULTIPLIED = 7.0, 0.13, 0.04
"""Nanoseconds to compute a kernel value, to read one of two that are kept as one, and to multiply one."""


class KernelTable:
    """Products with some rows of the Gram matrix of n observations.

    A selection asks for those of candidates, visit after visit. Once it has asked for a quarter as many rows
    as there are, the whole matrix is computed and kept, if it is small enough. A product with all rows then
    takes less time than to compute some of them, unless these are few.
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel, self._X, self._dtype = kernel, X, dtype_of(X)
        self._asked = 0
        self._gram: PackedGram | None = None
        self._small = PackedGram.bytes_for(X.shape[0], self._dtype) <= MOST

    def rows(self, chosen: Array) -> Array:
        """Return kernel values between some observations and all, (q, n)."""
        blocks = self._blocks.some(chosen)
        out = np.empty(blocks.shape, dtype=self._dtype)
        blocks.fill(out, 0, 0)
        return out

    def times(self, chosen: Array, coefficients: Array) -> Array:
        """Return Σ_i k(x_o, x_i) a_i for some o, (q, r) float64."""
        gram = self._known(len(chosen)) if self._many(len(chosen), coefficients.shape[1]) else None
        if gram is None:
            return blocks_times(self._blocks.some(chosen), coefficients)
        products = gram.times(np.ascontiguousarray(coefficients, dtype=self._dtype))
        return products[chosen].astype(np.float64)

    @cached_property
    def _blocks(self) -> KernelBlocks:
        """Blocks between all observations, which are prepared once."""
        return KernelBlocks(self._kernel, self._X, self._X, self._dtype)

    def _many(self, count: int, columns: int) -> bool:
        """Return whether all rows take less time than to compute so many of them."""
        return count * VALUE > self._X.shape[0] * max(READ, MULTIPLIED * columns)

    def _known(self, count: int) -> PackedGram | None:
        """Return the matrix, if it is known or should be by now."""
        self._asked += count
        if self._gram is None and self._small and self._asked > SHARE * self._X.shape[0]:
            self._gram = PackedGram.of(self._kernel, self._X, self._dtype)
        return self._gram

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the matrix behind."""
        return KernelTable, (self._kernel, self._X)
