"""How likely it is that a random forest of a graph has an edge."""

from __future__ import annotations

import numpy as np
import scipy
from scipy import sparse

from .. import native
from ..arrays import Array
from .merged_cliques import MergedCliques

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
