"""Scores of the labels of every vertex, given those of all others: linear in the scores of cliques."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..structures import Cliques, LabelledBatch, Scores


class Conditionals:
    """The map A from scores of cliques to scores of a vertex's labels, those of all others being known,

        (Aθ)[v, k] = Σ_c θ_c(y with k at v),      c over the cliques that v belongs to,

    and its transpose. Where y is a distribution of every vertex's label rather than a label, it is the
    expected score. Cliques with a vertex of which nothing is known are left out.

    Parameters
    ----------
    structure : LabelledBatch
        The batch, with cliques of any size.
    known : (N,) integers or (N, L) array
        Labels, −1 where unknown; or distributions, zeros where unknown.
    """

    def __init__(self, structure: LabelledBatch, known: Array) -> None:
        self.structure = structure
        self.seen: Array = np.asarray(known >= 0 if known.ndim == 1 else known.any(axis=1))
        count = structure.n_vertices
        self.sides: dict[str, list[Side]] = {
            name: [side_of(cliques, place, known, self.seen, count) for place in range(len(cliques.values))]
            for name, cliques in structure.cliques.items()
        }

    def scores(self, theta: Scores) -> Array:
        """Aθ, (N, L), in double."""
        result = np.zeros((self.structure.n_vertices, self.structure.n_labels))
        for name, sides in self.sides.items():
            for side in sides:
                result += side.sums(theta[name])
        return result

    def adjoint(self, values: Array) -> dict[str, Array]:
        """Return the transpose of A times (N, L) numbers."""
        result = {name: np.zeros(shape) for name, shape in self.structure.shapes.items()}
        for name, sides in self.sides.items():
            for side in sides:
                side.add_sums_back(values, result[name])
        return result


class Softmax(NamedTuple):
    """The distribution of every vertex's label given the others, and how much it counts."""

    probabilities: Array
    """(N, L)."""
    counted: Array
    """(N,): 0 where the label is unknown."""

    def times(self, direction: Array, vertices: Array | slice = slice(None)) -> Array:
        """κ_v (diag(p_v) − p_v p_vᵀ) d, a row of d for each of some vertices."""
        p = self.probabilities[vertices]
        mean = np.einsum("vk,vk->v", p, direction)
        return np.asarray(self.counted[vertices][:, None] * p * (direction - mean[:, None]))


class ConditionalBlocks(NamedTuple):
    """The curvature of a pseudo-likelihood inside the cliques of one type,

        Σ_v (curvature of the line of scores through y_c in the direction of v),

    one block per clique, added up where cliques share scores.
    """

    sides: list[Side]
    softmax: Softmax

    def times(self, direction: Array) -> Array:
        """Multiply a direction in the scores of the clique type."""
        result = np.zeros(direction.shape)
        for side in self.sides:
            side.add_back(self.softmax.times(side.lines(direction), side.vertices), result)
        return result


class Side(ABC):
    """One place in cliques of one type: a row of L numbers per clique."""

    vertices: Array
    """(C,), the vertex at this place of each clique."""

    @abstractmethod
    def lines(self, table: Array) -> Array:
        """Return the scores of the labels at this place, (C, L), from the scores of the cliques."""

    @abstractmethod
    def add_back(self, lines: Array, into: Array) -> None:
        """Add (C, L) numbers to the scores of the cliques that they come from: the transpose."""

    @abstractmethod
    def sums(self, table: Array) -> Array:
        """Return the lines, added up over the cliques of each vertex, (N, L)."""

    @abstractmethod
    def add_sums_back(self, values: Array, into: Array) -> None:
        """Add (N, L) numbers to the scores of all cliques they come from: the transpose."""


class SharedSide(Side):
    """Cliques that share scores: it only matters how often each labelling of the others surrounds a vertex.

    Parameters
    ----------
    place : int
        Which of the places.
    vertices : (C,) integers
        The vertex there.
    around : (C, L^(a−1)) sparse matrix
        The distribution of the labels at the other places, one column per labelling.
    count : int
        N.
    """

    def __init__(self, place: int, vertices: Array, around: sparse.csr_matrix, count: int) -> None:
        self.place, self.vertices = place, vertices
        self._around, self._from = around, sparse.csr_matrix(around.T)
        self._counts = sparse.csr_matrix(incidence(vertices, count) @ around)
        self._counted_from = sparse.csr_matrix(self._counts.T)

    def lines(self, table: Array) -> Array:
        """Expected over the labellings around."""
        return np.asarray(self._around @ self._flat(table))

    def add_back(self, lines: Array, into: Array) -> None:
        """Transpose."""
        self._add(self._from @ lines, into)

    def sums(self, table: Array) -> Array:
        """Return the same, as often as each labelling occurs."""
        return np.asarray(self._counts @ self._flat(table))

    def add_sums_back(self, values: Array, into: Array) -> None:
        """Transpose."""
        self._add(self._counted_from @ values, into)

    def _flat(self, table: Array) -> Array:
        """(L^(a−1), L): this place last."""
        return np.moveaxis(table, self.place, -1).reshape(-1, table.shape[self.place])

    def _add(self, flat: Array, into: Array) -> None:
        moved = np.moveaxis(into, self.place, -1)
        moved += flat.reshape(moved.shape)


class CertainSide(Side):
    """Cliques with scores of their own, the labels of others known for certain.

    Parameters
    ----------
    place : int
        Which of the places.
    cliques : (C,) integers
        Which of the cliques of their type.
    vertices : (C,) integers
        The vertex at the place.
    others : (C,) integers, one array for each other place
        The labels there.
    count : int
        N.
    """

    def __init__(
        self, place: int, cliques: Array, vertices: Array, others: tuple[Array, ...], count: int
    ) -> None:
        self.place, self.vertices = place, vertices
        self._index = (cliques, *others)
        self._incidence = incidence(vertices, count)

    def lines(self, table: Array) -> Array:
        """Look them up."""
        return np.asarray(np.moveaxis(table, 1 + self.place, -1)[self._index])

    def add_back(self, lines: Array, into: Array) -> None:
        """Transpose: no clique is there twice."""
        np.moveaxis(into, 1 + self.place, -1)[self._index] += lines

    def sums(self, table: Array) -> Array:
        """Add them up."""
        return np.asarray(self._incidence @ self.lines(table))

    def add_sums_back(self, values: Array, into: Array) -> None:
        """Transpose."""
        self.add_back(values[self.vertices], into)


class BelievedSide(Side):
    """Cliques with scores of their own, and distributions of the labels of others.

    Parameters
    ----------
    place, cliques, vertices, count
        As for `CertainSide`.
    around : (C, L^(a−1)) array
        The distribution of the labels at the other places, one column per labelling.
    """

    def __init__(self, place: int, cliques: Array, vertices: Array, around: Array, count: int) -> None:
        self.place, self.vertices = place, vertices
        self._cliques, self._around = cliques, around
        self._incidence = incidence(vertices, count)

    def lines(self, table: Array) -> Array:
        """Expected over the labellings around."""
        moved = np.moveaxis(table[self._cliques], 1 + self.place, -1)
        flat = moved.reshape(len(self._cliques), self._around.shape[1], moved.shape[-1])
        return np.asarray(np.matmul(self._around[:, None, :], flat)[:, 0])

    def add_back(self, lines: Array, into: Array) -> None:
        """Transpose."""
        moved = np.moveaxis(into, 1 + self.place, -1)
        shape = (len(self._cliques), *moved.shape[1:])
        moved[self._cliques] += (self._around[:, :, None] * lines[:, None, :]).reshape(shape)

    def sums(self, table: Array) -> Array:
        """Add them up."""
        return np.asarray(self._incidence @ self.lines(table))

    def add_sums_back(self, values: Array, into: Array) -> None:
        """Transpose."""
        self.add_back(values[self.vertices], into)


def side_of(cliques: Cliques, place: int, known: Array, seen: Array, count: int) -> Side:
    """Return the cliques of a type seen from one place; those with a vertex that is not seen are left out.

    ``known`` are labels, (N,), or distributions of labels, (N, L).
    """
    kept = np.flatnonzero(seen[cliques.members].all(axis=1))
    members = cliques.members[kept]
    vertices, others = members[:, place], np.delete(members, place, axis=1)
    if known.ndim == 1:
        labels = tuple(known[column] for column in others.T)
        if not cliques.shared:
            return CertainSide(place, kept, vertices, labels, count)
        sizes = np.delete(np.array(cliques.values), place)
        chosen = np.ravel_multi_index(labels, tuple(sizes)) if labels else np.zeros(len(kept), np.int64)
        shape = (len(kept), int(sizes.prod()))
        return SharedSide(place, vertices, _selection(chosen, shape), count)
    around = _joint(known, others)
    if cliques.shared:
        return SharedSide(place, vertices, sparse.csr_matrix(around), count)
    return BelievedSide(place, kept, vertices, around, count)


def incidence(vertices: Array, count: int) -> sparse.csr_matrix:
    """(N, C): 1 where a clique has its vertex."""
    return sparse.csr_matrix(_selection(vertices, (len(vertices), count)).T)


def _selection(chosen: Array, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Return a matrix with one 1 in every row."""
    return sparse.csr_matrix((np.ones(shape[0]), chosen, np.arange(shape[0] + 1)), shape)


def _joint(beliefs: Array, others: Array) -> Array:
    """(C, L^(a−1)): products of the distributions at the other places."""
    result = np.ones((len(others), 1))
    for column in others.T:
        pairs = result[:, :, None] * beliefs[column][:, None, :]
        result = pairs.reshape(len(others), pairs.shape[1] * pairs.shape[2])
    return result
