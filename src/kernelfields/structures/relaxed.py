"""The best point of the local polytope in the shapes of a graph's scores."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InfeasibleError
from ._base import Scores
from .local_polytope import LocalPolytope
from .merged_cliques import MergedCliques


class Relaxed(NamedTuple):
    """The best points of the local polytopes of a batch."""

    value: Array
    """⟨θ, μ⟩ of every instance."""
    bound: Array
    """At least max ⟨θ, μ⟩ over the polytope; larger than ``value`` by what the solver tolerates, if that."""
    parts: dict[str, Array]
    """μ, times the weight of the instance; summed over the cliques that share a score."""


def relaxed_argmax(cliques: MergedCliques, scores: Scores, weights: Array | None = None) -> Relaxed:
    """Return max ⟨θ, μ⟩ over the local polytope of every instance, by HiGHS."""
    tables, graph = cliques.tables(scores), cliques.graph
    value, bound = np.zeros(graph.n_instances), np.zeros(graph.n_instances)
    node = np.zeros(tables.node.shape)
    factors = [np.empty(0)]
    for s, (a, b) in enumerate(pairwise(tables.offsets)):
        if a == b:
            continue
        try:
            polytope = LocalPolytope(tables, s)
            point = polytope.solve()
        except InfeasibleError:
            raise InfeasibleError(f"{graph.words.name(s)} has no allowed labelling.") from None
        value[s], bound[s] = polytope.value(point), point.bound
        node[a:b] = point.node
        factors += [mu.ravel() for mu in point.tables]
    parts = cliques.parts(node, np.concatenate(factors), weights, node.dtype)
    return Relaxed(value, np.maximum(bound, value), parts)
