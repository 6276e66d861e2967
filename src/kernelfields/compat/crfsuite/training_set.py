"""A training set as CRFsuite sees it: which weights there are, the loss, and the held-out part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Array, offsets_of, rows_of
from ...losses import LogLoss
from ...objective import Problem, Term, linear_chain_problem
from ...online import Sweep
from ...spaces import Free, SparseFeatures, WeightPairs
from ...structures import ChainBatch


class Instances(NamedTuple):
    """Sequences with their labels."""

    features: Any
    """(N, D) CSR matrix."""
    offsets: Array
    labels: Array
    """(N,) indices."""

    @property
    def lengths(self) -> Array:
        """T of every sequence."""
        return np.diff(self.offsets)

    def take(self, ids: Array) -> Instances:
        """Return some of the sequences."""
        rows = rows_of(self.offsets, ids)
        return Instances(self.features[rows], offsets_of(self.lengths[ids]), self.labels[rows])


class FeatureSettings(NamedTuple):
    """Which weights there are."""

    minfreq: float
    possible_states: bool
    possible_transitions: bool


class CRFsuiteTraining:
    """A linear chain without bias and boundaries, its weights those of CRFsuite.

    Parameters
    ----------
    data : Instances
        What to learn from.
    n_labels : int
        L.
    settings : FeatureSettings
        A pair of attribute and label has a weight if the values of the attribute at that label add up
        to at least ``minfreq`` (or if all pairs have one and it is not above 0); label pairs likewise.
    """

    def __init__(self, data: Instances, n_labels: int, settings: FeatureSettings) -> None:
        pairs = _state_pairs(data, n_labels, settings)
        self.columns = np.flatnonzero(np.diff(pairs.indptr))
        """The attributes that have a weight."""
        self.n_labels = n_labels
        features = data.features[:, self.columns]
        features.eliminate_zeros()  # they have made weights, and are not needed any more
        self.data = data._replace(features=features)
        self.chain = ChainBatch(data.offsets, n_labels)
        first = pairs.indptr[np.append(self.columns, len(pairs.indptr) - 1)].astype(np.int64)
        self.pairs = WeightPairs.listed(self.data.features, n_labels, first, pairs.indices.astype(np.int32))
        self.edges = _edge_pairs(data, n_labels, settings)
        self.terms = self.terms_on(self.chain, self.data.features)
        self.nodes: SparseFeatures = self.terms[0].space  # type: ignore[assignment]

    def terms_on(self, chain: ChainBatch, features: Any, penalty: float = 0.0) -> list[Term]:
        """Return the two spaces on a batch."""
        nodes = SparseFeatures(chain, "node", features, self.pairs)
        return [
            Term("features", nodes, penalty),
            Term("edges", Free(chain, "edge", support=self.edges), penalty),
        ]

    @property
    def n_weights(self) -> int:
        """How many weights there are."""
        return self.nodes.size + int(self.edges.sum())

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.data.offsets) - 1

    def problem(self) -> Problem:
        """Return the log loss, without a penalty."""
        return linear_chain_problem(LogLoss(self.chain, self.data.labels), self.terms, None, np.float64)

    def sweep(self, penalty: float = 0.0) -> Sweep:
        """Return the weights for rules that learn from one sequence after the other."""
        terms = [Term(term.name, term.space, penalty) for term in self.terms]
        return Sweep(self.chain, terms, self.data.labels, dtype=np.float64)

    def tables(self, element: Array) -> tuple[Any, Array]:
        """Return the weights of attributes, a (D, L) CSR matrix, and of label pairs, (L, L)."""
        size = self.nodes.size
        edges = element[size:].reshape(self.n_labels, self.n_labels)
        return self.nodes.compact_table(element[:size]), np.where(self.edges, edges, 0.0)


def _state_pairs(data: Instances, n_labels: int, settings: FeatureSettings) -> Any:
    """Return a (D, L) matrix whose entries are the pairs that have a weight."""
    D = data.features.shape[1]
    counts = np.diff(data.features.indptr)
    key = data.features.indices.astype(np.int64) * n_labels + np.repeat(data.labels, counts)
    keys: Array
    keys, place = np.unique(key, return_inverse=True)
    frequency: Array = np.bincount(place, data.features.data, minlength=len(keys))
    if settings.possible_states:
        columns = np.unique(data.features.indices).astype(np.int64)
        every = (columns[:, None] * n_labels + np.arange(n_labels)).ravel()
        full = np.zeros(len(every))
        full[np.searchsorted(every, keys)] = frequency
        keys, frequency = every, full
    keys = keys[frequency >= settings.minfreq]
    matrix = sparse.csr_matrix((D, n_labels), dtype=bool)
    matrix.indptr = np.searchsorted(keys, np.arange(D + 1) * n_labels)
    matrix.indices, matrix.data = keys % n_labels, np.ones(len(keys), dtype=bool)
    return matrix


def _edge_pairs(data: Instances, n_labels: int, settings: FeatureSettings) -> Array:
    """Return a mask over (L, L)."""
    chain = ChainBatch(data.offsets, n_labels)
    frequency = np.zeros((n_labels, n_labels))
    np.add.at(frequency, (data.labels[chain.edge_tails], data.labels[chain.edge_heads]), 1)
    exists = (frequency > 0) | settings.possible_transitions
    return exists & (frequency >= settings.minfreq)


class HoldoutGroup:
    """Sequences that are tagged after every iteration."""

    def __init__(self, training: CRFsuiteTraining, data: Instances) -> None:
        self.data = data
        self.chain = ChainBatch(data.offsets, training.n_labels)
        self.terms = training.terms_on(self.chain, data.features[:, training.columns])

    def tags(self, element: Array) -> Array:
        """Return the best labels with some weights."""
        size = self.terms[0].space.size
        theta = {clique: np.zeros(shape) for clique, shape in self.chain.shapes.items()}
        self.terms[0].space.add_scores(element[:size], theta["node"])
        self.terms[1].space.add_scores(element[size:], theta["edge"])
        return self.chain.argmax(theta).labels
