"""Structures whose outputs are labels of vertices."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ._arguments import require_labels, require_weights, score_array
from ._base import Cliques, Scores, StructureBatch


class LabelledBatch(StructureBatch):
    """A structure whose outputs are one label per vertex; scores of cliques are tables over labels."""

    answer: ClassVar[str] = "node"
    n_labels: int
    _offsets: Array

    @property
    def offsets(self) -> Array:
        """Where the vertices of each instance start."""
        return self._offsets

    @property
    def output_offsets(self) -> Array:
        """Where the labels of each instance start."""
        return self._offsets

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of a labelling, number by number; where scores are shared, the counts."""
        labels = require_labels(outputs, self.n_vertices, self.n_labels)
        weights = require_weights(weights, self.n_instances)
        for name, cliques in self.cliques.items():
            counted = None if weights is None else np.repeat(weights, np.diff(cliques.offsets))
            chosen = tuple(labels[column] for column in cliques.members.T)
            if cliques.shared:
                place = np.ravel_multi_index(chosen, cliques.values)
                count = np.bincount(place, counted, int(np.prod(cliques.values)))
                into[name][...] -= count.reshape(cliques.values)
            else:
                into[name][(np.arange(len(cliques.members)), *chosen)] -= 1.0 if counted is None else counted

    def _vertices(self) -> Array:
        """Return every vertex as a clique by itself."""
        return np.arange(self.n_vertices)[:, None]


class EdgeBatch(LabelledBatch):
    """A structure with edges between its vertices, each from a tail to a head.

    Edge scores are shared, (L, L), or (E, L, L).
    """

    shared_edges: bool
    edge_offsets: Array
    """Instance s owns the edges ``edge_offsets[s]`` up to ``edge_offsets[s + 1]``."""

    @property
    @abstractmethod
    def edge_tails(self) -> Array:
        """The vertex each edge comes from; its label is the row of the edge scores."""

    @property
    @abstractmethod
    def edge_heads(self) -> Array:
        """The vertex each edge leads to; its label is the column of the edge scores."""

    @property
    def n_edges(self) -> int:
        """Number of edges in the batch."""
        return int(self.edge_offsets[-1])

    @cached_property
    def sources(self) -> Array:
        """Vertices that no edge leads to: first positions of sequences, roots of trees."""
        return self._vertices_without(self.edge_heads)

    @cached_property
    def sinks(self) -> Array:
        """Vertices that no edge leaves: last positions of sequences, leaves of trees."""
        return self._vertices_without(self.edge_tails)

    def _vertices_without(self, ends: Array) -> Array:
        alone = np.ones(self.n_vertices, dtype=bool)
        alone[ends] = False
        return np.flatnonzero(alone)

    def _pairwise(self) -> dict[str, Cliques]:
        """Return vertices and edges."""
        L = self.n_labels
        return {
            "node": Cliques(self._offsets, self._vertices, (L,)),
            "edge": Cliques(self._edge_offsets, self._edge_ends, (L, L), self.shared_edges),
        }

    def _edge_offsets(self) -> Array:
        return self.edge_offsets

    def _edge_ends(self) -> Array:
        return np.stack([self.edge_tails, self.edge_heads]).T


class PairwiseBatch(EdgeBatch):
    """A structure whose cliques are its vertices and its edges,

        score(y) = Σ_v node[v, y_v] + Σ_e edge[e, y_tail(e), y_head(e)].

    Node scores are (N, L); edge scores are shared, (L, L), or (E, L, L).
    """

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Vertices and edges."""
        return self._pairwise()

    def _arrays(self, scores: Scores, dtype: npt.DTypeLike | None = None) -> tuple[Array, Array]:
        """Node and edge scores as the core wants them, single or double precision, shapes checked."""
        shapes = self.shapes
        node = score_array(scores, "node", shapes["node"], dtype)
        return node, score_array(scores, "edge", shapes["edge"], node.dtype)
