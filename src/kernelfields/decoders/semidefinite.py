"""The best labelling by semidefinite programming."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import (
    BoundedLabelling,
    GraphBatch,
    MergedCliques,
    PairwiseBatch,
    Scores,
    SearchedGraphBatch,
    SemidefiniteMax,
    StructureBatch,
    require_feasible,
)
from ._base import Decoder


@dataclass(frozen=True)
class SemidefiniteProgram(Decoder):
    """A good labelling by the semidefinite relaxation of the best one, whatever the structure sums by.

    Beside `LinearProgram` a tighter bound where graphs have frustrated cycles; and always a labelling,
    rounded from moments and then improved. For small chains, trees and graphs of vertices and pairs; see
    `SemidefiniteMax`, which is also an ``inference=`` of graphs itself.

    Parameters
    ----------
    search : SemidefiniteMax
        How long to look.
    """

    search: SemidefiniteMax = field(default_factory=SemidefiniteMax)

    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return the labels of a good labelling; refuse where none that is allowed was found."""
        found = self.relax(structure, scores)
        require_feasible(found.value, structure.words)
        return found.labels

    def relax(self, structure: StructureBatch, scores: Scores) -> BoundedLabelling:
        """Return a good labelling of every instance, and a bound of the best score."""
        if isinstance(structure, GraphBatch):
            return self.search.find(MergedCliques(structure), scores)
        if not isinstance(structure, PairwiseBatch):
            raise UnsupportedError(
                f"SemidefiniteProgram needs vertices and edges, which {type(structure).__name__} has not."
            )
        graph = SearchedGraphBatch(
            structure.offsets,
            structure.cliques["edge"].members,
            structure.n_labels,
            shared_edges=structure.shared_edges,
            search=self.search,
        )
        graph.words = structure.words
        return graph.approximate_argmax(scores)
