"""Means over segments of functions of their positions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array
from ..structures import StructureBatch
from ._base import BoundSpace, in_rows


class Pooled(BoundSpace):
    """f(segment, y) = mean of f(x_t, y) over the positions t of a segment, f a function on positions.

    The mean map of a kernel: ⟨f, g⟩ is that of the functions on positions, and with a kernel k between these
    two segments have the kernel mean_{t,t′} k(x_t, x_t′). Scores are differences of prefix sums, O(T + C) for
    T positions and C segments, however long these are.

    Parameters
    ----------
    space : BoundSpace
        Functions of the positions of the same batch.
    clique : str
        Cliques whose members are a first and a last position.
    """

    def __init__(self, space: BoundSpace, clique: str = "segment") -> None:
        self.space: Any = space
        self.structure = space.structure
        self.clique = clique
        self.size = space.size
        first, last = self.structure.cliques[clique].members.T
        self._length = (last - first + 1.0)[:, None]
        count, ones = len(first), np.ones(len(first))
        ends = sparse.coo_matrix(
            (
                np.concatenate([-ones, ones]),
                (np.tile(np.arange(count), 2), np.concatenate([first, last + 1])),
            ),
            (count, self.structure.n_vertices + 1),
        )
        self._ends = ends.tocsr()

    def add_scores(self, element: Array, into: Array) -> None:
        """Add the means of the scores of positions."""
        values = np.zeros(self.structure.shapes[self.space.clique], into.dtype)
        self.space.add_scores(element, values)
        into += self._means(values).astype(into.dtype, copy=False)

    def adjoint(self, gradient: Array) -> Array:
        """Return that of positions, to which segments pass on their share."""
        return np.asarray(self.space.adjoint(self._shares(gradient)))

    def representer(self, gradient: Array) -> Array:
        """Return the function on positions that stands for the gradient."""
        return np.asarray(self.space.representer(self._shares(gradient)))

    def inner(self, left: Array, right: Array) -> float:
        """That of functions on positions."""
        return float(self.space.inner(left, right))

    def refreshed(self, element: Array) -> Array:
        """As on positions."""
        return np.asarray(self.space.refreshed(element))

    @property
    def precision(self) -> np.dtype[Any]:
        """That of functions on positions."""
        return np.dtype(self.space.precision)

    @cached_property
    def reach(self) -> float:
        """Each position counts as often as segments have it among theirs."""
        return float(self.space.reach) * float(self._shares(np.ones((len(self._length), 1))).max(initial=0.0))

    def spread(self, element: Array, square: float) -> float:
        """As on positions."""
        return float(self.space.spread(element, square))

    def precise(self) -> Pooled:
        """Return the same in double precision."""
        return Pooled(self.space.precise(), self.clique)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Pooled:
        """Return the same on some instances."""
        return Pooled(self.space.take(structure, ids), self.clique)

    def table(self, element: Array) -> Array:
        """Return the weights of features, a row for each."""
        return np.asarray(self.space.table(element))

    def element(self, table: Array) -> Array:
        """Return the element with these weights."""
        return np.asarray(self.space.element(table))

    def _means(self, values: Array) -> Array:
        """Values of positions, (T, L), as means over segments, (C, L)."""
        sums = np.zeros((len(values) + 1, values.shape[1]))
        np.cumsum(values, axis=0, dtype=np.float64, out=sums[1:])
        return (self._ends @ sums) / self._length

    def _shares(self, values: Array) -> Array:
        """Values of segments, each divided among its positions and added up there, (T, L)."""
        changes = self._ends.T @ (in_rows(values) / self._length)
        return np.ascontiguousarray(-np.cumsum(changes, axis=0)[:-1], values.dtype)
