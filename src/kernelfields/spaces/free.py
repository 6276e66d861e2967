"""Free scores: one number per label, label pair, triple or whatever a clique can have, without input."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..errors import UnsupportedError
from ..structures import EdgeBatch, StructureBatch
from ._base import Counted, Curved, Euclidean


class Indicators(Euclidean, Curved, Counted):
    """A space whose features are 0 or 1, hence equal to their squares."""

    def curvatures(self, expected: Array) -> Array:
        """Return how often each feature is expected."""
        return self.adjoint(expected)

    @property
    def least(self) -> float:
        """0."""
        return 0.0


class Free(Indicators):
    """f(y_c) = V_{y_c} on every clique of one type; V has the shape of one clique's scores.

    On vertices a bias for every label, (L,); on edges a score for every label pair, (L, L); on triples
    (L, L, L). Identity metric.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    clique : str
        The clique type.
    members : (C,) booleans, optional
        The cliques that are fed; all if not given. Several such spaces untie cliques of one type, each
        group of them with its own penalty; the structure must have scores for every clique.
    support : booleans in the shape of V, optional
        Which numbers there are; the others stay zero.
    """

    def __init__(
        self,
        structure: StructureBatch,
        clique: str,
        members: Array | None = None,
        support: Array | None = None,
    ) -> None:
        if clique not in structure.cliques:
            raise UnsupportedError(f"{type(structure).__name__} has no {clique!r} to score.")
        cliques = structure.cliques[clique]
        if members is not None and cliques.shared:
            raise UnsupportedError(
                f"{clique}: to untie cliques, the structure needs scores of their own for them."
            )
        self.structure = structure
        self.clique = clique
        self.members = members
        self.support = support
        self.values = cliques.values
        self.shared = cliques.shared
        self.size = math.prod(cliques.values)

    def add_scores(self, element: Array, into: Array) -> None:
        """Add V to every clique, or to the members."""
        table = self._supported(element.reshape(self.values)).astype(into.dtype, copy=False)
        if self.members is None:
            into += table
        else:
            into[self.members] += table

    def adjoint(self, gradient: Array) -> Array:
        """Sum over the cliques that share V."""
        if self.shared:
            return self._supported(gradient.astype(np.float64)).ravel()
        mine = gradient if self.members is None else gradient[self.members]
        return self._supported(mine.sum(axis=0, dtype=np.float64)).ravel()

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Free:
        """Return the same on some instances."""
        members = self.members
        if members is not None:
            offsets = self.structure.cliques[self.clique].offsets
            members = members[rows_of(offsets, np.asarray(ids, dtype=np.int64))]
        return Free(structure, self.clique, members, self.support)

    @property
    def reach(self) -> float:
        """Each clique has one feature."""
        return float(self.structure.cliques[self.clique].count)

    def _supported(self, table: Array) -> Array:
        return table if self.support is None else np.where(self.support, table, 0.0)


class Boundary(Indicators):
    """Scores of the labels where edges start and where they end; (2, L), start then end.

    The first and the last label of a sequence; the roots and the leaves of a tree. A vertex without edges
    is both.
    """

    clique = "node"

    def __init__(self, structure: EdgeBatch) -> None:
        self.structure: EdgeBatch = structure
        self.size = 2 * structure.n_labels

    def add_scores(self, element: Array, into: Array) -> None:
        """Add to the sources and to the sinks."""
        start, end = element.reshape(2, -1).astype(into.dtype, copy=False)
        into[self.structure.sources] += start
        into[self.structure.sinks] += end

    def adjoint(self, gradient: Array) -> Array:
        """Sum over sources, and over sinks."""
        ends = (self.structure.sources, self.structure.sinks)
        return np.concatenate([gradient[rows].sum(axis=0, dtype=np.float64) for rows in ends])

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Boundary:
        """Return the same on some instances."""
        assert isinstance(structure, EdgeBatch)
        return Boundary(structure)

    @property
    def reach(self) -> float:
        """At most two features at every vertex."""
        return 2.0 * self.structure.n_vertices
