"""Labelled graphs whose best labelling is searched, with a bound."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy.typing as npt

from ..arrays import Array
from ._base import Scores
from ._oracles import ApproximateMax, BoundedLabelling
from ._search_base import MaxSearch, require_search
from .graph import GraphBatch
from .merged_cliques import MergedCliques
from .reweighted_max import TreeReweightedMax


class SearchedGraphBatch(GraphBatch, ApproximateMax):
    """A batch of labelled graphs, as `GraphBatch`, with a way to look for their best labellings.

    Parameters
    ----------
    offsets, edges, n_labels, **shape
        As in `GraphBatch`.
    search : MaxSearch
        How to look.

    Examples
    --------
    >>> import numpy as np
    >>> square = SearchedGraphBatch([0, 4], [[0, 1], [1, 2], [2, 3], [3, 0]], n_labels=2)
    >>> scores = {"node": np.array([[0.0, 3.0], [0, 0], [0, 0], [0, 0]]), "edge": np.eye(2)}
    >>> found = square.approximate_argmax(scores)
    >>> found.labels.tolist(), float(found.value[0]), bool(found.certified[0])
    ([1, 1, 1, 1], 7.0, True)
    """

    def __init__(
        self,
        offsets: npt.ArrayLike,
        edges: npt.ArrayLike,
        n_labels: int,
        *,
        search: MaxSearch | None = None,
        **shape: Any,
    ) -> None:
        GraphBatch.__init__(self, offsets, edges, n_labels, **shape)
        self.search = TreeReweightedMax() if search is None else require_search("search", search)

    def __repr__(self) -> str:
        """Return how large it is, and that its best labellings are searched."""
        return f"<{self.n_instances} graphs of {self.n_vertices} vertices, best labellings by {self.search}>"

    def approximate_argmax(self, scores: Scores) -> BoundedLabelling:
        """Return what the search finds, and its bound."""
        return self.search.find(self._merged, scores)

    @cached_property
    def _merged(self) -> MergedCliques:
        return MergedCliques(self)

    def _like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        return type(self)(offsets, edges, self.n_labels, search=self.search, **shape)
