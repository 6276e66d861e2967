"""The span of selected functions, which grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ..approximation.columns import dtype_of, widened
from ..arrays import Array
from ..spaces import Functions, KernelRows
from .atoms import NONE, Atoms
from .pool import Pool

DEPENDENT = {4: 1e-6, 8: 1e-10}
"""Least share of ‖h‖² outside the span, by the bytes of a kernel value. Functions below it count as
combinations of the others: their coefficients would be large and cancel beyond the precision."""


class Extension(NamedTuple):
    """A span extended by further functions."""

    grown: SelectedSpan
    kept: Array
    """Which of the further functions are not combinations of others."""
    triangle: Array
    """Their rows of C, (q, p)."""


@dataclass(frozen=True)
class SelectedSpan:
    """The span of selected functions: their atoms, kernel columns, and triangular factor.

    Appending returns a new object; old ones do not change, although all share memory. Adding a function
    to p others takes n kernel values and O(p²) operations.
    """

    pool: Pool
    atoms: Atoms
    basis: Array
    """Observations with an atom, in order of appearance, (m,)."""
    places: Array
    """Index into the basis of the observation of each atom."""
    values: Array
    """K_BX, with room for more rows."""
    inverse: Array
    """C⁻¹, with room for more rows and columns."""

    @classmethod
    def empty(cls, pool: Pool) -> SelectedSpan:
        """Return the span of no functions."""
        values = np.empty((0, pool.size), dtype_of(pool.observations))
        return cls(pool, Atoms.empty(), NONE, NONE, values, np.zeros((0, 0)))

    @property
    def size(self) -> int:
        """p, the number of functions."""
        return self.atoms.size

    def functions(self) -> Functions:
        """Return the selected functions in the form that a space is made of."""
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
            self.pool.centring > 0,
        )

    def whitened(self, functions: Atoms) -> Array:
        """Return the coordinates of other functions' projections onto the span, (q, p): rows C⁻¹k_S."""
        return self.pool.gram(functions, self.atoms) @ self.inverse[: self.size, : self.size].T

    def residuals(self, functions: Atoms) -> Array:
        """Return ‖h_⊥‖² = ‖h‖² − k_hS K_SS⁻¹ k_Sh of other functions: what is new about them, (q,)."""
        return self.norms(functions) - np.square(self.whitened(functions)).sum(axis=1)

    def norms(self, functions: Atoms) -> Array:
        """Return ‖h‖² of other functions, (q,)."""
        counts = np.bincount(functions.owners, minlength=functions.size)
        if (counts > 1).any():
            ones = [functions.take(np.array([j])) for j in range(functions.size)]
            return np.array([self.pool.gram(one, one)[0, 0] for one in ones])
        result = self.pool.share * np.bincount(functions.pair_owners, minlength=functions.size)
        some = widened(self.pool.observations[functions.observations])
        diagonal = np.asarray(self.pool.kernel.diagonal(some), dtype=np.float64)
        result[functions.owners] += (1 - self.pool.centring) * diagonal
        return np.asarray(result, dtype=np.float64)

    def appended(self, functions: Atoms) -> Extension:
        """Return the span with further functions, except those that are combinations of others."""
        across = self.whitened(functions)
        square = self.pool.gram(functions, functions)
        least = DEPENDENT[self.values.itemsize] * np.diagonal(square)
        kept, corner = independent_rows(square - across @ across.T, least)
        across, new = across[kept], functions.take(kept)
        p, q = self.size, len(kept)
        inverse = _with_room(self.inverse, p + q, p + q)
        back = scipy.linalg.solve_triangular(corner, np.eye(q), lower=True) if q else np.zeros((0, 0))
        inverse[p : p + q, :p] = -back @ (across @ self.inverse[:p, :p])
        inverse[p : p + q, p : p + q] = back
        basis, values = self._with_basis(new)
        order = np.argsort(basis, kind="stable")
        places = order[np.searchsorted(basis, new.observations, sorter=order)]
        grown = SelectedSpan(
            self.pool, self.atoms.then(new), basis, np.concatenate([self.places, places]), values, inverse
        )
        return Extension(grown, kept, np.concatenate([across, corner], axis=1))

    def first(self, count: int) -> SelectedSpan:
        """Return the space of the first functions only."""
        atoms = self.atoms.take(np.arange(count))
        places = self.places[: len(atoms.labels)]
        basis = self.basis[: places.max(initial=-1) + 1]
        return SelectedSpan(self.pool, atoms, basis, places, self.values, self.inverse)

    def _with_basis(self, new: Atoms) -> tuple[Array, Array]:
        """Return the basis and its kernel values, extended by the observations of new functions."""
        m = len(self.basis)
        distinct = np.array(list(dict.fromkeys(new.observations.tolist())), dtype=np.int64)
        fresh = distinct[~np.isin(distinct, self.basis)]
        values = _with_room(self.values, m + len(fresh), self.values.shape[1])
        if len(fresh):
            values[m : m + len(fresh)] = self.pool.rows(fresh)
        return np.concatenate([self.basis, fresh]), values


def independent_rows(square: Array, least: Array) -> tuple[Array, Array]:
    """Return the rows whose pivot exceeds ``least``, in order, and their Cholesky factor."""
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
    """Return a buffer with at least this many rows and columns: the same one while it has room."""
    if buffer.shape[0] >= rows and buffer.shape[1] >= columns:
        return buffer
    square = buffer.shape[0] == buffer.shape[1] and rows == columns
    height = max(rows, 2 * buffer.shape[0])
    result = np.zeros((height, height if square else columns), buffer.dtype)
    result[: buffer.shape[0], : buffer.shape[1]] = buffer
    return result
