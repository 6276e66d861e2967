"""Structures whose outputs are labels of vertices: any, with edges between them, along sequences."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of
from ..checks import (
    require_flag,
    require_offsets,
    require_unmasked,
    require_weights,
    require_whole,
    whole_numbers,
)
from ..errors import InputError
from ..memory import require_memory
from ._base import Cliques, Scores, StructureBatch
from ._oracles import CovarianceOracle, KBestOracle, MaxOracle, SampleOracle

MOST_LABELS = 2**31 - 1
"""Labels are numbers of 32 bits."""


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
        self._subtract_labels(into, labels, require_weights(weights, self.n_instances))

    def _subtract_labels(self, into: Scores, labels: Array, weights: Array | None) -> None:
        """Subtract the indicators of all cliques with a score for every labelling of their vertices."""
        for name, cliques in self.cliques.items():
            if len(cliques.values) != cliques.members.shape[1]:
                continue
            counted = None if weights is None else np.repeat(weights, np.diff(cliques.offsets))
            chosen = tuple(labels[column] for column in cliques.members.T)
            if cliques.shared:
                place = np.ravel_multi_index(chosen, cliques.values)
                count = np.bincount(place, counted, int(np.prod(cliques.values)))
                into[name][...] -= count.reshape(cliques.values)
            else:
                into[name][(np.arange(len(cliques.members)), *chosen)] -= 1.0 if counted is None else counted

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every instance: the sum of what the tables have for the labels of each clique."""
        labels = require_labels(outputs, self.n_vertices, self.n_labels)
        result = np.zeros(self.n_instances)
        for name, cliques in self.cliques.items():
            table = score_array(scores, name, cliques.shape, None)
            chosen = tuple(labels[column] for column in cliques.members.T)
            values = table[chosen if cliques.shared else (np.arange(cliques.count), *chosen)]
            result += sum_cliques(values.astype(np.float64), cliques.offsets)
        return result

    def _vertices(self) -> Array:
        """Return every vertex as a clique by itself."""
        return np.arange(self.n_vertices)[:, None]


class EdgeBatch(LabelledBatch):
    """A structure with edges between its vertices, each from a tail to a head.

    Edge scores are shared, (L, L), or (E, L, L).
    """

    has_ends: ClassVar[bool] = True
    """Whether some vertices are first and some last."""
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


class SequenceBatch(EdgeBatch, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of sequences, an edge between any two neighbours, with every exact oracle."""

    def _set_shape(self, offsets: npt.ArrayLike, n_labels: int, shared_edges: bool) -> None:
        """Take over what a constructor was given."""
        self._offsets = require_offsets(offsets)
        self.n_labels = require_whole("n_labels", n_labels, 1, MOST_LABELS)
        self.shared_edges = require_flag("shared_edges", shared_edges)

    @cached_property
    def edge_offsets(self) -> Array:  # type: ignore[override]  # where the edges of each sequence start
        """Sequence s owns the edges ``edge_offsets[s]`` up to ``edge_offsets[s + 1]``."""
        return offsets_of(np.maximum(np.diff(self._offsets) - 1, 0))

    @cached_property
    def edge_tails(self) -> Array:
        """The position each edge comes from."""
        return self.edge_heads - 1

    @cached_property
    def edge_heads(self) -> Array:
        """The position each edge leads to, the next one."""
        starts = np.zeros(self.n_vertices, dtype=bool)
        starts[self.first_positions] = True
        return np.flatnonzero(~starts)

    @property
    def first_positions(self) -> Array:
        """First position of every sequence that has one."""
        return self._offsets[:-1][np.diff(self._offsets) > 0]

    @property
    def last_positions(self) -> Array:
        """Last position of every sequence that has one."""
        return self._offsets[1:][np.diff(self._offsets) > 0] - 1


def sum_cliques(values: Array, offsets: Array) -> Array:
    """Return the sums over the cliques of each instance; −inf where one of them is."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.bincount(owner, values, len(offsets) - 1)


def require_labels(labels: npt.ArrayLike, positions: int, n_labels: int) -> Array:
    """Return one label for every vertex, as the core wants them."""
    require_unmasked(labels, "The list of labels")
    given = np.asarray(labels)
    if given.shape != (positions,):
        raise InputError(f"labels have shape {given.shape}, expected ({positions},): one for every vertex.")
    result = whole_numbers("labels", given)
    wrong = np.flatnonzero((result < 0) | (result >= n_labels))
    if wrong.size:
        v = int(wrong[0])
        raise InputError(f"The label of vertex {v} is {result[v]}, expected 0 to {n_labels - 1}.")
    return result.astype(np.int32)


def require_draws(count: Any, seed: Any, positions: int) -> tuple[int, int]:
    """Return how many labellings are to be drawn, and a seed."""
    draws = require_whole("count", count, 0)
    require_memory(f"A count of {draws} draws", 4 * draws * positions)
    return draws, require_whole("seed", seed, 0)


def require_best(k: Any, positions: int, instances: int, states: int) -> int:
    """Return how many labellings are to be found, which takes lists of so many at each of the states."""
    best = require_whole("k", k, 1, 2**31 - 1)
    require_memory(f"A list of k={best} labellings", best * (4 * positions + 8 * instances + 16 * states))
    return best


def score_array(scores: Any, clique: str, shape: tuple[int, ...], dtype: npt.DTypeLike | None) -> Array:
    """Return the scores of a clique type, contiguous, in single or double precision, of that shape."""
    try:
        found = scores[clique]
        given = np.asarray(found)
    except (KeyError, IndexError, TypeError):
        raise InputError(f"Scores have no array {clique!r}.") from None
    if given is not found:
        require_unmasked(found, f"The array of {clique} scores")
    if given.shape != shape:
        raise InputError(f"{clique} scores have shape {given.shape}, expected {shape}.")
    if given.dtype.kind not in "biuf":
        raise InputError(f"{clique} scores are {given.dtype}, expected numbers.")
    wanted = given.dtype if dtype is None else np.dtype(dtype)
    return np.ascontiguousarray(given, wanted if wanted in (np.float32, np.float64) else np.float64)
