"""A space that grows by columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ..approximation.columns import dtype_of, widened
from ..arrays import Array
from ..gram import KernelBlocks, kernel_times
from ..kernels import Kernel
from ..spaces import Functions, KernelRows
from .atoms import NONE, Atoms

DEPENDENT = {4: 1e-6, 8: 1e-10}
"""By the bytes of a kernel value: functions of which those before leave less than this share of ‖h‖² count
as their combinations. Their coefficients would be large and cancel, beyond what the precision allows."""


@dataclass(frozen=True)
class Pool:
    """The functions that can be selected for one space: all labellings of the cliques of n observations."""

    kernel: Kernel
    observations: Any
    """n of them, in the precision of kernel values."""
    width: int
    """Labels, or label pairs, of an atom."""
    penalty: float
    """λ of the space."""
    clique: str = "node"
    """The clique type that atoms feed."""
    share: float = 0.0
    """κ, where functions look at label pairs too."""

    @property
    def size(self) -> int:
        """N."""
        return int(self.observations.shape[0])

    @property
    def centring(self) -> float:
        """Subtracted from [y = y′]: 1/L on vertices, where centring over labels leaves the model as it is."""
        return 1 / self.width if self.clique == "node" else 0.0

    def rows(self, chosen: Array) -> Array:
        """Kernel values between some observations and all, (q, n)."""
        X = self.observations
        blocks = KernelBlocks(self.kernel, X[chosen], X, dtype_of(X))
        out = np.empty(blocks.shape, dtype=dtype_of(X))
        blocks.fill(out, 0, 0)
        return out

    def times(self, chosen: Array, coefficients: Array) -> Array:
        """Σ_i k(x_o, x_i) a_i for some o, (q, r) float64, a block of kernel values at a time."""
        return kernel_times(self.kernel, self.observations[chosen], self.observations, coefficients)

    def block(self, left: Array, right: Array) -> Array:
        """Kernel values between observations, in double precision."""
        X = self.observations
        return np.asarray(self.kernel.block(widened(X[left]), widened(X[right])), dtype=np.float64)

    def gram(self, left: Atoms, right: Atoms) -> Array:
        """⟨h_i, h_j⟩ of functions, (left, right) float64."""
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
    """Values of pairs of atoms, added up for pairs of the functions that own them."""
    result: Array = values
    if len(left) != rows or (left != np.arange(rows)).any():
        result = _owner_sums(left, rows) @ result
    if len(right) != columns or (right != np.arange(columns)).any():
        result = (_owner_sums(right, columns) @ result.T).T
    return np.asarray(result, dtype=np.float64)


def _owner_sums(owners: Array, count: int) -> Any:
    shape = (count, len(owners))
    return sparse.csr_matrix((np.ones(len(owners)), (owners, np.arange(len(owners)))), shape)


class Appended(NamedTuple):
    """A space with more functions."""

    grown: Grown
    kept: Array
    """Which of the functions given are not combinations of others."""
    triangle: Array
    """Their rows of C, (q, p)."""


@dataclass(frozen=True)
class Grown:
    """The span of selected functions: their atoms, kernel columns, and triangular factor.

    Appending gives a new object; old ones stay as they were, although all share memory. One more
    function among p takes n kernel values and O(p²) operations.
    """

    pool: Pool
    atoms: Atoms
    basis: Array
    """Observations with an atom, in the order in which they came, (m,)."""
    places: Array
    """Which of the basis each atom looks at."""
    values: Array
    """K_BX, with room for more rows."""
    inverse: Array
    """C⁻¹, with room for more rows and columns."""

    @classmethod
    def empty(cls, pool: Pool) -> Grown:
        """Nothing selected."""
        values = np.empty((0, pool.size), dtype_of(pool.observations))
        return cls(pool, Atoms.empty(), NONE, NONE, values, np.zeros((0, 0)))

    @property
    def size(self) -> int:
        """P."""
        return self.atoms.size

    def functions(self) -> Functions:
        """What a space over the selected functions is made of."""
        p, atoms = self.size, self.atoms
        return Functions(
            KernelRows(self.values[: len(self.basis)]),
            self.places,
            atoms.labels,
            atoms.owners,
            self.pool.width,
            self.inverse[:p, :p],
            atoms.pairs,
            atoms.pair_owners,
            self.pool.share,
            self.pool.clique == "node",
        )

    def whitened(self, functions: Atoms) -> Array:
        """The coordinates of other functions' projections onto the span, (q, p): rows C⁻¹k_S."""
        return self.pool.gram(functions, self.atoms) @ self.inverse[: self.size, : self.size].T

    def residuals(self, functions: Atoms) -> Array:
        """‖h_⊥‖² = ‖h‖² − k_hS K_SS⁻¹ k_Sh of other functions: what is new about them, (q,)."""
        return self.norms(functions) - np.square(self.whitened(functions)).sum(axis=1)

    def norms(self, functions: Atoms) -> Array:
        """‖h‖² of other functions, (q,)."""
        counts = np.bincount(functions.owners, minlength=functions.size)
        if (counts > 1).any():
            ones = [functions.take(np.array([j])) for j in range(functions.size)]
            return np.array([self.pool.gram(one, one)[0, 0] for one in ones])
        result = self.pool.share * np.bincount(functions.pair_owners, minlength=functions.size)
        some = widened(self.pool.observations[functions.observations])
        diagonal = np.asarray(self.pool.kernel.diagonal(some), dtype=np.float64)
        result[functions.owners] += (1 - self.pool.centring) * diagonal
        return np.asarray(result, dtype=np.float64)

    def appended(self, functions: Atoms) -> Appended:
        """Take further functions in, but for those that are combinations of others."""
        across = self.whitened(functions)
        square = self.pool.gram(functions, functions)
        least = DEPENDENT[self.values.itemsize] * np.diagonal(square)
        kept, corner = independent_rows(square - across @ across.T, least)
        across, new = across[kept], functions.take(kept)
        p, q = self.size, len(kept)
        inverse = _with_room(self.inverse, p + q, p + q)
        back = solve_triangular(corner, np.eye(q), lower=True) if q else np.zeros((0, 0))
        inverse[p : p + q, :p] = -back @ (across @ self.inverse[:p, :p])
        inverse[p : p + q, p : p + q] = back
        basis, values = self._with_basis(new)
        order = np.argsort(basis, kind="stable")
        places = order[np.searchsorted(basis, new.observations, sorter=order)]
        grown = Grown(
            self.pool, self.atoms.then(new), basis, np.concatenate([self.places, places]), values, inverse
        )
        return Appended(grown, kept, np.concatenate([across, corner], axis=1))

    def first(self, count: int) -> Grown:
        """Return the space of the first functions only."""
        atoms = self.atoms.take(np.arange(count))
        places = self.places[: len(atoms.labels)]
        basis = self.basis[: places.max(initial=-1) + 1]
        return Grown(self.pool, atoms, basis, places, self.values, self.inverse)

    def _with_basis(self, new: Atoms) -> tuple[Array, Array]:
        """The basis with the observations of new functions, and kernel values of those not in it before."""
        m = len(self.basis)
        distinct = np.array(list(dict.fromkeys(new.observations.tolist())), dtype=np.int64)
        fresh = distinct[~np.isin(distinct, self.basis)]
        values = _with_room(self.values, m + len(fresh), self.values.shape[1])
        if len(fresh):
            values[m : m + len(fresh)] = self.pool.rows(fresh)
        return np.concatenate([self.basis, fresh]), values


def independent_rows(square: Array, least: Array) -> tuple[Array, Array]:
    """Cholesky factor of the rows whose pivot exceeds ``least``, in their order; which rows, and factor."""
    corner = np.zeros_like(square)
    kept: list[int] = []
    for j in range(len(square)):
        row = np.zeros(len(kept))
        for i, other in enumerate(kept):
            row[i] = (square[j, other] - row[:i] @ corner[i, :i]) / corner[i, i]
        pivot = square[j, j] - row @ row
        if pivot > least[j]:
            corner[len(kept), : len(kept)] = row
            corner[len(kept), len(kept)] = np.sqrt(pivot)
            kept.append(j)
    q = len(kept)
    return np.array(kept, dtype=np.int64), corner[:q, :q]


def _with_room(buffer: Array, rows: int, columns: int) -> Array:
    """The same with at least so many rows and columns; those there are not copied while there is room."""
    if buffer.shape[0] >= rows and buffer.shape[1] >= columns:
        return buffer
    square = buffer.shape[0] == buffer.shape[1] and rows == columns
    height = max(rows, 2 * buffer.shape[0])
    result = np.zeros((height, height if square else columns), buffer.dtype)
    result[: buffer.shape[0], : buffer.shape[1]] = buffer
    return result
