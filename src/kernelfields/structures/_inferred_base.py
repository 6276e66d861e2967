"""What labelled graphs have whose inference is a setting."""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt

from ..arrays import Array
from ._oracles import ApproximateSample
from .searched_graph import SearchedGraphBatch


class InferredGraphBatch(SearchedGraphBatch, ApproximateSample):
    """A batch of graphs; ``inference`` says how sums or draws are found, and best labellings."""

    def __init__(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, *, inference: Any, **shape: Any
    ) -> None:
        SearchedGraphBatch.__init__(self, offsets, edges, n_labels, search=inference.search, **shape)
        self.inference = inference

    def _like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        return type(self)(offsets, edges, self.n_labels, inference=self.inference, **shape)
