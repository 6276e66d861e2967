"""Features of label sequences as candidates of boosting: of positions, and of pairs of neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of, rows_of
from ..structures import ChainBatch
from .exponential import WrongLabellings
from .step_bounds import Chords


class SequenceFeatures(ABC):
    """Features f_k(x, y), numbered in one row, that are sums over the cliques of a sequence."""

    weights: Array
    """What boosting has given them so far; their number is its size."""
    whole: bool
    """Whether all of them are whole numbers."""

    @abstractmethod
    def slopes(self, wrong: WrongLabellings) -> Array:
        """Return the derivatives of log R along all features, one after the other."""

    @abstractmethod
    def chords(self, wrong: WrongLabellings, ids: Array) -> Chords:
        """Return what the bounds of some features are made of."""

    @abstractmethod
    def add(self, k: int, step: float, scores: dict[str, Array]) -> None:
        """Change the weight of a feature, and the scores of all cliques."""


class _Runs(NamedTuple):
    """Entries of a column that belong to the same sequence, one run after the other."""

    offsets: Array
    """(D + 1,): where the runs of each column begin."""
    sequences: Array
    lengths: Array
    negative: Array
    """Sums of all negative entries: the least that a feature can be."""
    positive: Array
    """Sums of all positive entries: the most that it can be."""

    @classmethod
    def of(cls, columns: sparse.csc_matrix, sequences: Array) -> _Runs:
        """Return those of a matrix whose rows belong to sequences."""
        entries = sequences[columns.indices]
        starts = np.diff(entries, prepend=-1) != 0
        starts[columns.indptr[:-1][np.diff(columns.indptr) > 0]] = True
        begins = np.flatnonzero(starts)
        offsets = np.searchsorted(begins, columns.indptr).astype(np.int64)
        lengths = np.diff(begins, append=columns.nnz)
        parts = (np.minimum(columns.data, 0.0), np.maximum(columns.data, 0.0))
        negative, positive = (np.add.reduceat(part, begins) if len(begins) else part for part in parts)
        return cls(offsets, entries[begins], lengths, negative, positive)


class PositionFeatures(SequenceFeatures):
    """f_{dl}(x, y) = Σ_{t: y_t = l} x_{td} for the columns d of a matrix and the labels l.

    Parameters
    ----------
    chain : ChainBatch
        Sequences.
    columns : (T, D) sparse matrix
        What is seen at every position.
    labels : (T,) array
        The right ones.
    """

    def __init__(self, chain: ChainBatch, columns: sparse.csc_matrix, labels: Array) -> None:
        self.columns, self.labels = columns, labels
        self.columns.sort_indices()  # positions of a sequence one after the other
        self._runs = _Runs.of(columns, np.repeat(np.arange(chain.n_instances), np.diff(chain.offsets)))
        self.weights = np.zeros((columns.shape[1], chain.n_labels))
        self.whole = bool((columns.data == np.round(columns.data)).all())

    def slopes(self, wrong: WrongLabellings) -> Array:
        """Return them column by column, label by label."""
        return np.asarray(self.columns.T @ wrong.node).ravel()

    def chords(self, wrong: WrongLabellings, ids: Array) -> Chords:
        """Add up the positions of every sequence that has some feature."""
        places, labels = np.divmod(ids, self.weights.shape[1])
        offsets, runs = self.columns.indptr.astype(np.int64), self._runs
        found, kept = rows_of(offsets, places), rows_of(runs.offsets, places)
        if len(found) == 0:
            nothing = np.zeros(0)
            return Chords(kept, nothing, nothing, nothing, nothing)
        labels = np.repeat(labels, np.diff(offsets)[places])
        t, x = self.columns.indices[found], self.columns.data[found]
        begins = offsets_of(runs.lengths[kept])[:-1]
        observed = np.add.reduceat(x * (self.labels[t] == labels), begins)
        changes = np.add.reduceat(x * wrong.node[t, labels], begins)
        lower, upper = runs.negative[kept] - observed, runs.positive[kept] - observed
        which = np.repeat(np.arange(len(ids)), np.diff(runs.offsets)[places])
        return Chords(which, lower, upper, wrong.shares[runs.sequences[kept]], changes)

    def add(self, k: int, step: float, scores: dict[str, Array]) -> None:
        """Change the scores of one label at the positions that have some feature."""
        d, label = divmod(k, self.weights.shape[1])
        self.weights[d, label] += step
        here = slice(self.columns.indptr[d], self.columns.indptr[d + 1])
        scores["node"][self.columns.indices[here], label] += step * self.columns.data[here]


class LabelPairFeatures(SequenceFeatures):
    """f_{ab}(y) = number of times that label b follows label a.

    Parameters
    ----------
    chain : ChainBatch
        Sequences.
    labels : (T,) array
        The right ones.
    """

    whole = True

    def __init__(self, chain: ChainBatch, labels: Array) -> None:
        self.chain, L = chain, chain.n_labels
        self.weights = np.zeros((L, L))
        self._long = np.flatnonzero(np.diff(chain.edge_offsets) > 0)
        """Sequences that have neighbours; others have no pairs that could change."""
        pairs = labels[chain.edge_tails] * L + labels[chain.edge_heads]
        sequences = np.repeat(np.arange(chain.n_instances), np.diff(chain.edge_offsets))
        counted = np.bincount(sequences * L * L + pairs, minlength=chain.n_instances * L * L)
        self._observed = counted.reshape(-1, L * L)[self._long].astype(np.float64)
        edges = np.diff(chain.edge_offsets)[self._long]
        # A label can follow itself everywhere, but another one only at every second step.
        self._most = np.where(np.eye(L, dtype=bool).ravel(), edges[:, None], (edges[:, None] + 1) // 2)

    def slopes(self, wrong: WrongLabellings) -> Array:
        """Return them row by row of the table of pairs."""
        return np.asarray(wrong.edge.sum(axis=0).ravel())

    def chords(self, wrong: WrongLabellings, ids: Array) -> Chords:
        """Add up the pairs of every sequence."""
        edge = wrong.edge.reshape(len(wrong.edge), -1)[:, ids]
        begins = self.chain.edge_offsets[self._long]
        changes = np.add.reduceat(edge, begins) if len(begins) else edge[:0]
        observed, most = self._observed[:, ids], self._most[:, ids]
        shares = np.broadcast_to(wrong.shares[self._long, None], changes.shape)
        which = np.broadcast_to(np.arange(len(ids)), changes.shape)
        return Chords(*(a.ravel() for a in (which, -observed, most - observed, shares, changes)))

    def add(self, k: int, step: float, scores: dict[str, Array]) -> None:
        """Change the scores of a pair, everywhere."""
        a, b = divmod(k, self.weights.shape[1])
        self.weights[a, b] += step
        scores["edge"][:, a, b] += step
