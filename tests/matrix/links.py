"""What joins the positions of an item: of sequences None, of trees parents, of graphs neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Neighbours(NamedTuple):
    """A graph without directions."""

    pairs: list[tuple[int, int]]
    """Every edge once."""


def parents_of(count: int) -> list[int]:
    """Return a tree with branches, of six vertices a forest, whose root comes last.

    Vertex 0 is above vertex 1, so that labels whose neighbours obey IOB2 obey it from parent to child, too.
    """
    parents = [-1, *((v - 1) // 2 for v in range(1, count))]
    if count > 2:
        parents[0], parents[-1] = count - 1, -1
    if count > 5:
        parents[-2] = -1
    return parents


SHAPES = {
    1: [],
    2: [(0, 1)],
    3: [(0, 1)],
    4: [(0, 1), (0, 2), (0, 3), (2, 3)],
    5: [(0, 1), (0, 2), (0, 4), (2, 3), (3, 4)],
    6: [(0, 1), (0, 2), (0, 4), (2, 3), (2, 4), (3, 4)],
}
"""A vertex, an edge, one beside a lone vertex, rings of three and four, one with a chord and a lone one."""


def neighbours_of(count: int) -> Neighbours:
    """Return a graph; vertex 1 has no neighbour but vertex 0, so that rare labels are beside one only."""
    return Neighbours(SHAPES[count])


def edges_of(links: Any, length: int) -> tuple[Any, Any]:
    """Return the vertices that edges come from, and those they lead to: of graphs in both directions."""
    if links is None:
        return np.arange(length - 1), np.arange(1, length)
    if isinstance(links, Neighbours):
        a, b = np.array(links.pairs, dtype=int).reshape(-1, 2).T
        return np.concatenate([a, b]), np.concatenate([b, a])
    heads = np.array([v for v, parent in enumerate(links) if parent >= 0], dtype=int)
    return np.array([links[v] for v in heads], dtype=int), heads


def ends_of(links: Any, length: int) -> tuple[list[int], list[int]]:
    """Return roots and leaves, of sequences the first and the last position, of graphs none."""
    if isinstance(links, Neighbours):
        return [], []
    tails, heads = edges_of(links, length)
    return sorted({*range(length)} - {*heads}), sorted({*range(length)} - {*tails})


def with_parents(features: Any, links: Any) -> Any:
    """Return a tree as users give it."""
    return features, links


def with_edges(features: Any, links: Any) -> Any:
    """Return a graph with a list of its edges."""
    return features, [list(pair) for pair in links.pairs]


def with_turned_edges(features: Any, links: Any) -> Any:
    """Return a graph with an array of edges, all turned round and the first of them both ways."""
    edges = np.array(links.pairs, dtype=np.int64).reshape(-1, 2)
    return {"features": features, "edges": np.concatenate([edges[:, ::-1], edges[:1]])}


def with_adjacency(features: Any, links: Any) -> Any:
    """Return a graph with its adjacency matrix."""
    a, b = np.array(links.pairs, dtype=int).reshape(-1, 2).T
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    size = features.shape[0]
    return features, sparse.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
