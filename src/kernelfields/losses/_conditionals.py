"""Scores of the labels of every vertex, given those of all others: linear in the scores of cliques."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..structures import LabelledBatch, Scores
from ._sides import Side, side_of


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
