"""Scores with a task cost added, for losses that ask more of what costs more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..checks import shown
from ..errors import InputError
from ..structures import Scores, StructureBatch

Batch = TypeVar("Batch", bound=StructureBatch)


class AugmentedScores(Generic[Batch]):
    """θ + Δ for a cost Δ that adds up over cliques of any types.

    Where cliques share their scores, a cost may be shared likewise, or each clique may have its own; then
    search and sums run on the same structure with untied scores.

    Parameters
    ----------
    structure : StructureBatch
        The batch.
    cost : scores
        Δ for some clique types, each in the shape of its scores, or with a row for every clique.
    """

    def __init__(self, structure: Batch, cost: Scores) -> None:
        if not isinstance(cost, Mapping):
            raise InputError(f"cost is {shown(cost)}; it must be a mapping from clique types to arrays.")
        for clique in cost.keys() - structure.cliques.keys():
            raise InputError(f"cost has {clique!r}, which {type(structure).__name__} does not have.")
        self.cost = {clique: np.asarray(values, dtype=np.float64) for clique, values in cost.items()}
        ranks = {name: len(cliques.values) for name, cliques in structure.cliques.items()}
        each = [name for name, values in self.cost.items() if values.ndim > ranks[name]]
        self.structure: Batch = structure.untied(each)
        """Where θ + Δ are scores."""
        for clique, values in self.cost.items():
            if values.shape != self.structure.shapes[clique]:
                shape = self.structure.shapes[clique]
                raise InputError(f"The cost of {clique!r} has shape {values.shape}, expected {shape}.")

    def of(self, scores: Scores) -> dict[str, Array]:
        """Return θ + Δ in the precision of θ; solvers multiply gradients with scores."""
        result = dict(scores)
        for clique, cost in self.cost.items():
            theta = scores[clique]
            result[clique] = theta + cost.astype(theta.dtype, copy=False)  # shared scores broadcast
        return result

    def total(self, outputs: Array) -> Array:
        """Δ of an output, for every instance."""
        shapes = self.structure.shapes
        every = {name: self.cost[name] if name in self.cost else np.zeros(shapes[name]) for name in shapes}
        return np.asarray(self.structure.score(every, outputs))

    def take(self, ids: npt.ArrayLike) -> dict[str, Array]:
        """Return the cost of some instances."""
        ids, cliques = np.asarray(ids, dtype=np.int64), self.structure.cliques
        return {
            name: cost if cliques[name].shared else cost[rows_of(cliques[name].offsets, ids)]
            for name, cost in self.cost.items()
        }
