"""What a structure is: the shape of one batch of outputs, its parts, and its oracles.

Scores θ are one array per clique type, ``{"node": ..., "edge": ...}``, over a whole batch without
padding; everything with one number per clique (marginals, gradients, indicators) has the same form.
Oracles are classes of their own: what a structure cannot do, it does not offer, and a loss names the
oracle it needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..checks import all_finite
from ..errors import InfeasibleError, ScoreError
from ._arguments import require_ids, require_labels, require_weights, score_array

Scores = Mapping[str, Array]


class Marginals(NamedTuple):
    """Log-partitions and marginals of a batch."""

    log_partition: Array
    """g(θ) = log Σ_y exp⟨θ, parts(y)⟩ for every instance, float64."""
    parts: dict[str, Array]
    """μ(θ) = ∇g(θ), the expectation of parts(y), times the weight of the instance; summed over the
    cliques that share a score."""


class Labelling(NamedTuple):
    """The best labelling of every instance."""

    labels: Array
    """argmax_y ⟨θ, parts(y)⟩, one label per vertex of the batch."""
    value: Array
    """max_y ⟨θ, parts(y)⟩ for every instance."""


class Labellings(NamedTuple):
    """Several labellings of every instance, best first."""

    labels: Array
    """One row per rank, one column per vertex; −1 where an instance has fewer labellings."""
    value: Array
    """Scores, one row per instance; −inf where there is no labelling of that rank."""


class StructureBatch(ABC):
    """The shape of one batch: how many instances, which cliques, which labels."""

    n_labels: int

    @property
    @abstractmethod
    def n_instances(self) -> int:
        """Number of instances in the batch."""

    @property
    @abstractmethod
    def offsets(self) -> Array:
        """Instance s owns the vertices ``offsets[s]`` up to ``offsets[s + 1]``."""

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of the scores of each clique type."""

    @abstractmethod
    def take(self, ids: npt.ArrayLike) -> StructureBatch:
        """Return the structure of some instances only."""

    @abstractmethod
    def cut(self, scores: Scores, ids: npt.ArrayLike) -> dict[str, Array]:
        """Scores of some instances only, in the shapes of ``take(ids)``."""

    def parts(self, labels: Array, weights: Array | None = None) -> dict[str, Array]:
        """Return the indicator of a labelling: ⟨θ, parts(y)⟩ is its score.

        Shared scores count how often they are used; with ``weights`` the parts of each instance
        count so many times.
        """
        result = {clique: np.zeros(shape) for clique, shape in self.shapes.items()}
        self.subtract_parts(result, labels, weights)
        return {clique: -values for clique, values in result.items()}

    @abstractmethod
    def subtract_parts(self, into: Scores, labels: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of a labelling from arrays in the shapes of the scores, in place."""

    @abstractmethod
    def score(self, scores: Scores, labels: Array) -> Array:
        """⟨θ, parts(y)⟩ for every instance, in float64; −inf where a label is forbidden."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices in the batch."""
        return int(self.offsets[-1])


class EdgeBatch(StructureBatch):
    """A structure with edges between its vertices, each from a tail to a head.

    Edge scores are shared, (L, L), or (E, L, L).
    """

    shared_edges: bool
    _offsets: Array
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
    def n_instances(self) -> int:
        """Number of instances in the batch."""
        return len(self._offsets) - 1

    @property
    def offsets(self) -> Array:
        """Where the vertices of each instance start."""
        return self._offsets

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


class PairwiseBatch(EdgeBatch):
    """A structure whose cliques are its vertices and its edges,

        score(y) = Σ_v node[v, y_v] + Σ_e edge[e, y_tail(e), y_head(e)].

    Node scores are (N, L); edge scores are shared, (L, L), or (E, L, L).
    """

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """(N, L) for nodes; (L, L) or (E, L, L) for edges."""
        L = self.n_labels
        return {
            "node": (self.n_vertices, L),
            "edge": (L, L) if self.shared_edges else (self.n_edges, L, L),
        }

    def cut(self, scores: Scores, ids: npt.ArrayLike) -> dict[str, Array]:
        """Scores of some instances only."""
        ids = require_ids(ids, self.n_instances)
        edge = scores["edge"]
        return {
            "node": scores["node"][rows_of(self._offsets, ids)],
            "edge": edge if self.shared_edges else edge[rows_of(self.edge_offsets, ids)],
        }

    def subtract_parts(self, into: Scores, labels: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of a labelling, number by number."""
        labels = require_labels(labels, self.n_vertices, self.n_labels)
        weights = require_weights(weights, self.n_instances)
        node_weight: Array | float = 1.0
        edge_weight: Array | float = 1.0
        if weights is not None:
            node_weight = np.repeat(weights, np.diff(self._offsets))
            edge_weight = np.repeat(weights, np.diff(self.edge_offsets))
        into["node"][np.arange(self.n_vertices), labels] -= node_weight
        tail, head = labels[self.edge_tails], labels[self.edge_heads]
        if self.shared_edges:
            L = self.n_labels
            pair = tail.astype(np.int64) * L + head
            count = np.bincount(pair, None if weights is None else edge_weight, L * L)
            into["edge"][...] -= count.reshape(L, L)
        else:
            into["edge"][np.arange(self.n_edges), tail, head] -= edge_weight

    def _arrays(self, scores: Scores, dtype: npt.DTypeLike | None = None) -> tuple[Array, Array]:
        """Node and edge scores as the core wants them, single or double precision, shapes checked."""
        shapes = self.shapes
        node = score_array(scores, "node", shapes["node"], dtype)
        return node, score_array(scores, "edge", shapes["edge"], node.dtype)


class MaxOracle(StructureBatch):
    """A structure that finds its best labelling."""

    @abstractmethod
    def argmax(self, scores: Scores) -> Labelling:
        """Best labelling of every instance; ties go to the lower label."""


class SumOracle(StructureBatch):
    """A structure that sums over all labellings, exactly."""

    @abstractmethod
    def log_partition(self, scores: Scores) -> Array:
        """g(θ) for every instance."""

    @abstractmethod
    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ) and its gradient; ``weights`` count each instance so many times in the latter."""

    @abstractmethod
    def entropy(self, scores: Scores) -> Array:
        """H(p) = −Σ_y p(y) log p(y) for every instance."""


class CovarianceOracle(SumOracle):
    """A structure that differentiates its marginals."""

    @abstractmethod
    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d, the derivative of all marginals along a direction in score space."""


class SampleOracle(StructureBatch):
    """A structure that draws labellings."""

    @abstractmethod
    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Exact draws from p(y) ∝ exp⟨θ, parts(y)⟩, one row per draw, one column per vertex."""


class KBestOracle(StructureBatch):
    """A structure that finds its k best labellings."""

    @abstractmethod
    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best labellings of every instance."""


def require_feasible(values: Array) -> None:
    """Refuse a batch in which an instance has no labelling (−inf) or bad scores (NaN)."""
    if all_finite(values):
        return
    s = int(np.flatnonzero(~np.isfinite(values))[0])
    if values[s] == -np.inf:
        raise InfeasibleError(f"Sequence {s} has no allowed labelling.")
    raise ScoreError(f"Sequence {s} has scores that are NaN or +inf.")
