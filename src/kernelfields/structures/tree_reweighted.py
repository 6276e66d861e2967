"""Tree-reweighted belief propagation: a convex surrogate, and an upper bound, of log-partitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from scipy import sparse

from .. import native
from ..arrays import Array
from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._oracles import Convergence
from ._propagation_base import Propagation, propagate
from .factor_tables import Layout
from .merged_cliques import MergedCliques

LOST = 1e-12
"""Probability up to which beliefs that could not be made to agree are rounding."""


@dataclass(frozen=True)
class TreeReweighted(Propagation):
    """Sums over labelled graphs by tree-reweighted belief propagation [wainwright2005].

    Its log-partition is convex in the scores and an upper bound of the exact one: a fit has a certificate,
    of the surrogate. On graphs without cycles it is exact.

    Parameters
    ----------
    schedule, damping, max_iter, tol
        As in `BeliefPropagation`.
    search : MaxSearch
        How to look for best labellings.
    """

    def on(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any
    ) -> TreeReweightedBatch:
        """Return the batch with these settings."""
        return TreeReweightedBatch(offsets, edges, n_labels, inference=self, **shape)


def surrogate_convergence(beliefs: Beliefs, tol: float) -> Convergence:
    """Return what beliefs prove whose free energy is concave, and at least the exact log-partition."""
    slack = np.where(beliefs.lost <= LOST, np.maximum(beliefs.bound - beliefs.value, 0.0), np.inf)
    lower = np.full(len(slack), -np.inf)
    return Convergence(beliefs.change <= tol, beliefs.iterations, beliefs.change, lower, beliefs.bound, slack)


class TreeReweightedBatch(ApproximateGraphBatch):
    """A batch of labelled graphs with tree-reweighted sums; see `GraphBatch` for their shape.

    With ρ_c the probability that a random forest of the graph has the clique c, g(θ) is at most

        max_b ⟨θ, b⟩ + Σ_i H(b_i) − Σ_c ρ_c (Σ_{i∈c} H(b_i) − H(b_c))

    over beliefs that agree with each other: a convex function of θ with the gradient b. The value returned is
    that of beliefs which agree exactly, whether or not messages have converged; ``convergence.upper`` is a
    bound of the exact log-partition at every step.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As in `GraphBatch`.
    inference : TreeReweighted
        Schedule, damping, limits.

    Examples
    --------
    >>> import numpy as np
    >>> ring = TreeReweighted().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    >>> exact = np.log(2 * np.exp(3) + 6 * np.exp(1))
    >>> bool(ring.marginals(scores).convergence.upper[0] > exact)
    True
    """

    convex = True
    inference: TreeReweighted

    @cached_property
    def appearance(self) -> Array:
        """ρ of every factor."""
        return appearance_of(self._merged)

    @cached_property
    def _layout(self) -> Layout:
        return self._merged.layout_for(self.appearance)

    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        return propagate(self, scores, self.appearance, self._layout, with_factors=with_factors)

    def _convergence(self, beliefs: Beliefs) -> Convergence:
        return surrogate_convergence(beliefs, self.inference.tol)


DENSE = 1000
"""Vertices up to which probabilities of edges come from an inverse matrix, else from forests drawn."""
BRIDGE = 1 - 1e-9
"""Edges that are likelier are in every spanning tree."""
GIVEN_WAY = 1e-10
"""Share by which other probabilities are lowered, lest rounding put them above those of any forests."""
FORESTS = 64
"""How many forests are drawn, at least."""


def appearance_of(merged: MergedCliques) -> Array:
    """Return ρ_c of every factor: that of uniform spanning trees, or of forests drawn at random.

    The share of spanning trees that have an edge is its effective resistance, (e_u − e_v)ᵀ 𝓛⁺ (e_u − e_v)
    with the graph's Laplacian 𝓛. Where there are larger factors, or more vertices than `DENSE`, maximal
    forests are drawn until each factor is in one; their frequencies are probabilities all the same.
    """
    offsets = merged.graph.offsets
    result = np.zeros(merged.n_factors)
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(merged.factor_offsets))
    large = np.bincount(owner, merged.arity > 2, len(offsets) - 1) > 0
    small = ~large & (np.diff(offsets) <= DENSE)
    pairs = np.flatnonzero(small[owner])
    if len(pairs):
        result[pairs] = _resistances(merged, pairs, owner[pairs])
    if not small[owner].all():
        drawn = native.graph_forests(
            offsets, merged.factor_offsets, merged.slot_first, merged.members, FORESTS, small
        )
        result[~small[owner]] = np.asarray(drawn)[~small[owner]]
    return result


def _resistances(merged: MergedCliques, pairs: Array, owner: Array) -> Array:
    """Effective resistances of edges, graphs with the same number of vertices at once."""
    offsets, ends = merged.graph.offsets, merged.members[merged.slot_first[pairs][:, None] + np.arange(2)]
    n = int(offsets[-1])
    links = sparse.coo_matrix((np.ones(len(pairs)), ends.T), shape=(n, n))
    part = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    size, result = np.diff(offsets), np.empty(len(pairs))
    for count in np.unique(size[owner]):
        chosen = np.flatnonzero(size[owner] == count)
        graphs, number = np.unique(owner[chosen], return_inverse=True)
        step = max(1, int(2e7) // int(count) ** 2)
        for start in range(0, len(graphs), step):
            some = chosen[(number >= start) & (number < start + step)]
            which = number[(number >= start) & (number < start + step)] - start
            u, v = (ends[some] - offsets[owner[some]][:, None]).T
            vertices = offsets[graphs[start : start + step]][:, None] + np.arange(count)
            together = part[vertices][:, :, None] == part[vertices][:, None, :]
            laplacian = together / count
            for a, b, sign in ((u, u, 1), (v, v, 1), (u, v, -1), (v, u, -1)):
                np.add.at(laplacian, (which, a, b), sign)
            inverse = np.linalg.inv(laplacian)
            result[some] = inverse[which, u, u] + inverse[which, v, v] - 2 * inverse[which, u, v]
    return np.where(result > BRIDGE, 1.0, (1 - GIVEN_WAY) * result)
