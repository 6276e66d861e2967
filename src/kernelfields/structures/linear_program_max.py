"""The best labelling of graphs by linear programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InfeasibleError
from ._base import Scores
from ._oracles import BoundedLabelling
from ._search_base import MaxSearch, bounded, improved
from .local_polytope import LocalPolytope
from .merged_cliques import MergedCliques


@dataclass(frozen=True)
class LinearProgramMax(MaxSearch):
    """max ⟨θ, μ⟩ over the local polytope, by HiGHS [wainwright2008graphical, section 8].

    The polytope contains every labelling, and other points where graphs have cycles: its best value is an
    upper bound, the tightest that message passing can reach. Where the best point is a labelling, it is the
    best one; on forests it always is. Elsewhere each vertex takes its likeliest label, and then a better one
    while there is any (ICM). Slow: for small graphs, and to check others by.
    """

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Solve one program for every instance."""
        tables = cliques.tables(scores)
        bounds, labels = np.zeros(cliques.graph.n_instances), np.zeros(cliques.graph.n_vertices, np.int32)
        for s, (a, b) in enumerate(zip(tables.offsets[:-1], tables.offsets[1:], strict=True)):
            if a == b:
                continue
            try:
                point = LocalPolytope(tables, s).solve()
            except InfeasibleError:
                bounds[s] = -np.inf
                continue
            labels[a:b], bounds[s] = point.node.argmax(axis=1), point.bound
        labels = improved(tables, labels)
        return bounded(cliques, scores, labels, bounds, np.ones(len(bounds)))
