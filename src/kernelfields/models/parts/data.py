"""What parts of a model look at: a batch and its observations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...data.training import Observed
from ...observations import in_precision, stacked
from ...structures import StructureBatch
from ..views import observations_of


@dataclass(frozen=True)
class PartData:
    """A batch and what there is to see of it.

    Attributes
    ----------
    batch : StructureBatch
        With scores for every clique of the types that are looked at.
    features : array or sparse matrix
        Observations of vertices, or of answers where these are no vertices.
    pairs : Observed, optional
        The pairs of feature and label, and of neighbouring labels, that have weights; all if not given.
    unlabelled : tuple of PartData
        Data without labels, which kernels look at before they compare any.
    weights : (S,) array, optional
        How many times each instance counts; kernels do not look at those that count 0 times.
    memory_limit : int, optional
        Bytes that a Gram matrix may take.
    random : int, RandomState or None
        What draws a basis.
    fast : bool
        Whether sparse features of answers are prepared for many products.
    """

    batch: StructureBatch
    features: Any
    pairs: Observed | None = None
    unlabelled: tuple[PartData, ...] = ()
    weights: Array | None = None
    memory_limit: int | None = None
    random: Any = None
    fast: bool = True

    def cast(self, dtype: Any) -> PartData:
        """Return the same with observations in another precision."""
        return replace(self, features=in_precision(self.features, dtype))

    def seen(self, on: str, view: str) -> tuple[Any, Array | None]:
        """Return observations, and the row that every clique of a type sees; None for row by row."""
        return observations_of(self.batch, on, view, self.features)

    def looked_at(self, on: str, view: str) -> Any:
        """Return what a kernel looks at first: what cliques see, with labels and without.

        Vertices of instances of weight 0 are left out.
        """
        features, weights = self.features, self.weights
        seen, rows = self.seen(on, view)
        if rows is not None:
            seen = seen[rows] if view != "first" else features
        counted = weights is not None and np.count_nonzero(weights) > 0
        offsets = self.batch.cliques[on].offsets
        if counted and seen.shape[0] == offsets[-1]:
            assert weights is not None
            seen = seen[np.repeat(weights != 0, np.diff(offsets))]
        return stacked([seen, *(one.looked_at(on, view) for one in self.unlabelled)])
