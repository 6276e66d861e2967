"""What a search for the best labelling of graphs is, where exact recursions are out of reach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import native
from ..arrays import Array
from ..checks import Checked, shown
from ..errors import InputError
from ._base import Scores, require_feasible
from ._oracles import BoundedLabelling
from .factor_tables import FactorTables
from .graph import GraphBatch
from .local_polytope import LocalPolytope
from .merged_cliques import MergedCliques


@dataclass(frozen=True)
class MaxSearch(Checked, ABC):
    """A way to look for the best labelling of graphs; its settings are its fields.

    Whatever it finds, it says how good that is: the best score is at least ``value`` and at most ``bound``.
    """

    def on(self, offsets: Any, edges: Any, n_labels: int, **shape: Any) -> GraphBatch:
        """Return a batch of graphs whose best labellings are found in this way; arguments of `GraphBatch`."""
        from .searched_graph import SearchedGraphBatch  # which knows this class

        return SearchedGraphBatch(offsets, edges, n_labels, search=self, **shape)

    @abstractmethod
    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Return a good labelling of every instance, and a bound of the best score."""


def require_search(name: str, value: object) -> MaxSearch:
    """Return a search."""
    if not isinstance(value, MaxSearch):
        raise InputError(f"{name} is {shown(value)}; it must be a MaxSearch, TreeReweightedMax() say.")
    return value


def bounded(
    cliques: MergedCliques, scores: Scores, labels: Array, bound: Array, converged: Array
) -> BoundedLabelling:
    """Return what a search has found; that no labelling is allowed is an error where that is proved.

    A bound of −inf proves it. Bounds of alternating directions only fall without end: where all labellings
    that were tried are forbidden, the local polytope is asked whether it has any point.
    """
    value = cliques.graph.score(scores, labels)
    possible = np.where(np.isposinf(bound), 0.0, bound)
    doubtful = np.flatnonzero(np.isneginf(value) & np.isfinite(possible))
    if len(doubtful):
        tables = cliques.tables(scores)
        for s in doubtful.tolist():
            possible[s] = 0.0 if LocalPolytope(tables, s).feasible() else -np.inf
    require_feasible(possible, cliques.graph.words)
    return BoundedLabelling(labels, value, np.maximum(bound, value), converged.astype(bool))


def improved(tables: FactorTables, labels: Array) -> Array:
    """Return labels after each vertex has taken its best one in turn, until none has a better one."""
    start = np.ascontiguousarray(labels, dtype=np.int32)
    return np.asarray(native.factor_graph_improved(*tables, start))
