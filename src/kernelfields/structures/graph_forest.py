"""Graphs that are forests: their edges as those of trees, and back."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.sparse import csr_array

from ..arrays import Array
from ._base import Scores
from ._oracles import Labelling, Labellings, Marginals
from .graph import GraphBatch
from .tree import TreeBatch


class GraphForest:
    """A batch of graphs without cycles, with the recursions of trees, which are several times as fast.

    Edges may be given in either direction, or in both. Where all are given alike, trees share one array of
    scores, f·W + r·Wᵀ for edges given f times downward and r times upward; else every edge has its own.
    """

    def __init__(self, batch: GraphBatch, parents: Array) -> None:
        self._batch = batch
        tails, heads = batch.edge_tails, batch.edge_heads
        self._down = parents[heads] == tails
        lower = np.where(self._down, heads, tails)
        self._edge = (np.cumsum(parents >= 0) - 1)[lower]
        count = int((parents >= 0).sum())
        ways = (self._down, ~self._down)
        given = np.stack([np.bincount(self._edge[way], minlength=count) for way in ways])
        self._times = given[:, 0] if count and batch.shared_edges and (given == given[:, :1]).all() else None
        shared = batch.shared_edges and (self._times is not None or not count)
        self.tree = TreeBatch(batch.offsets, parents, batch.n_labels, shared)

    @property
    def treewidths(self) -> Array:
        """1 where an instance has an edge, else 0."""
        return (np.diff(self._batch.edge_offsets) > 0).astype(np.int64)

    def argmax(self, scores: Scores) -> Labelling:
        """Return the best labelling of every tree."""
        return self.tree.argmax(self._downward(scores))

    def log_partition(self, scores: Scores) -> Array:
        """Return g(θ) of every tree."""
        return self.tree.log_partition(self._downward(scores))

    def marginals(self, scores: Scores, weights: Array | None) -> Marginals:
        """Return marginals of trees, those of edges as these were given."""
        value, parts = self.tree.marginals(self._downward(scores), weights)
        return Marginals(value, self._given(parts))

    def entropy(self, scores: Scores) -> Array:
        """Return H(p) of every tree."""
        return self.tree.entropy(self._downward(scores))

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None) -> dict[str, Array]:
        """Return derivatives of marginals."""
        return self._given(self.tree.covariance(self._downward(scores), self._downward(direction), weights))

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draw labellings of trees."""
        return self.tree.sample(self._downward(scores), count, seed)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best labellings of every tree."""
        return self.tree.kbest(self._downward(scores), k)

    def best_by_errors(self, scores: Scores, errors: Array, levels: int) -> Array:
        """Return best scores for 0 … levels − 1 errors."""
        return self.tree.best_by_errors(self._downward(scores), errors)

    def argmax_at_errors(self, scores: Scores, errors: Array, counts: Array) -> Labelling:
        """Return best labellings with so many errors."""
        return self.tree.argmax_at_errors(self._downward(scores), errors, counts)

    def _downward(self, scores: Scores) -> dict[str, Array]:
        """Scores of trees: edges from parents to children."""
        self.tree.words = self._batch.words  # messages speak of what the user gave
        node, edge = self._batch._tables(scores)
        if self._times is not None:
            down, up = self._times
            edge = sum(n * each for n, each in ((down, edge), (up, edge.T)) if n)
        elif not self.tree.shared_edges:
            each = np.broadcast_to(edge, (len(self._edge), *edge.shape[-2:]))
            edge = np.zeros((self.tree.n_edges, *edge.shape[-2:]), edge.dtype)
            np.add.at(edge, self._edge, np.where(self._down[:, None, None], each, each.transpose(0, 2, 1)))
        return {"node": node, "edge": edge}

    def _given(self, parts: dict[str, Array]) -> dict[str, Array]:
        """Parts of trees, edges as they were given."""
        edge = parts["edge"]
        if self._times is not None:
            edge = (self._times[0] * edge + self._times[1] * edge.T).astype(edge.dtype)
        elif not self.tree.shared_edges:
            edge = edge[self._edge]
            edge = np.where(self._down[:, None, None], edge, edge.transpose(0, 2, 1))
            edge = edge.sum(axis=0) if self._batch.shared_edges else edge
        return {"node": parts["node"], "edge": edge}


def forest_of(batch: GraphBatch) -> GraphForest | None:
    """Return a batch as a forest; None where there are cycles, label sets or further cliques."""
    counts, lengths = np.diff(batch.edge_offsets), np.diff(batch.offsets)
    twice = 2 * np.maximum(lengths - 1, 0)  # every edge of a tree in both directions
    if batch.factors or batch.label_sets is not None or (counts > twice).any():
        return None
    parents = _parents(batch)
    return None if parents is None else GraphForest(batch, parents)


def _parents(batch: GraphBatch) -> Array | None:
    """Return a parent for every vertex, −1 at roots; None where there is a cycle."""
    n, tails, heads = batch.n_vertices, batch.edge_tails, batch.edge_heads
    ones = np.ones(len(tails), dtype=np.int8)
    graph = csr_array((ones, (np.minimum(tails, heads), np.maximum(tails, heads))), shape=(n, n))
    graph.sum_duplicates()
    components, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    if graph.nnz != n - components:
        return None
    parents = np.full(n, -1, dtype=np.int64)
    once = graph.nnz == len(heads)  # not both ways
    if once and len(np.unique(heads)) == len(heads):  # directed from parents to children already
        parents[heads] = tails
        return parents
    roots = np.unique(component, return_index=True)[1]
    rows, columns = graph.nonzero()
    above = csr_array(
        (
            np.ones(len(rows) + len(roots), dtype=np.int8),
            (np.append(rows, np.full(len(roots), n)), np.append(columns, roots)),
        ),
        shape=(n + 1, n + 1),
    )
    _, before = scipy.sparse.csgraph.breadth_first_order(above, n, directed=False)
    found = before[:n].astype(np.int64)
    return np.where(found == n, -1, found)
