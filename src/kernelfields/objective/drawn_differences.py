"""Pairs of labellings drawn for every sequence, and by which features the two of a pair differ.

Of two independent draws y and y′ the features differ by δ = Φ(y) − Φ(y′), and ½ E[δ δᵀ] is their covariance,
the Hessian of the loss. Draws differ where a model is uncertain: such rows are short, and many are empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import native
from ..arrays import Array, rows_of
from ..structures import ChainBatch
from .linear_chain import BIAS, BOUNDARIES, EDGES, FEATURES, LinearChainData

TOGETHER = 2**21
"""Scores that are held at once."""

SHARE = 0.6
"""Entries of the rows over entries of the features, at most."""


class DrawnPairs(NamedTuple):
    """Labels drawn for some sequences that follow each other."""

    sequences: slice
    positions: slice
    offsets: Array
    """Of the sequences, from 0 on."""
    labels: Array
    """(2 · pairs, positions)."""


def drawn_differences(data: LinearChainData, element: Array, column: Array, most: int) -> Any:
    """Return the rows √(w/2n) (Φ(y) − Φ(y′)), a CSR matrix, of n ≤ ``most`` pairs for every sequence.

    w is the weight of the sequence. n is what `SHARE` allows; None where that is less than two pairs, which
    would say less than a diagonal.

    Parameters
    ----------
    data : LinearChainData
        The loss.
    element : array
        The model.
    column : integers
        The column of every coordinate; −1 for those that are left out.
    most : int
        Pairs at most.
    """
    rows, pairs = _Rows(data, column), most
    blocks: list[Any] = []
    for part in _drawn(data, element, 2 * most):
        if not blocks:
            pairs = _affordable(part.labels, most)
            if pairs < 2:
                return None
        drawn = part.labels
        blocks += [rows.of(part, drawn[2 * k], drawn[2 * k + 1], pairs) for k in range(pairs)]
    return sparse.vstack(blocks, format="csr") if blocks else None


def _affordable(labels: Array, most: int) -> int:
    """Return how many pairs stay below `SHARE`, going by how often the first two differ."""
    differing = float((labels[0] != labels[1]).mean())
    return min(most, int(SHARE / (2 * differing))) if differing > 0 else most


def _drawn(data: LinearChainData, element: Array, count: int) -> Iterator[DrawnPairs]:
    """Yield labellings of some sequences after others."""
    chain, pairs = data.loss.structure, data.features.pairs
    assert isinstance(chain, ChainBatch)
    first, index, values = data.rows
    weights = np.ascontiguousarray(element[data.places[FEATURES]], dtype=np.float64)
    small, edge = data.free_scores(element)
    most = max(8, TOGETHER // chain.n_labels)
    begin = 0
    while begin < chain.n_instances:
        step = most if begin else most // 8  # after which it may turn out that there are too many
        last = int(np.searchsorted(chain.offsets, chain.offsets[begin] + step, "right")) - 1
        end = max(begin + 1, min(last, chain.n_instances))
        a, b = (int(chain.offsets[k]) for k in (begin, end))
        rows = slice(first[a], first[b])
        scores = np.zeros((b - a, chain.n_labels), data.dtype)
        entries = None if values is None else values[rows]
        native.sparse_scores(
            first[a : b + 1] - first[a], index[rows], entries, pairs.first, pairs.label, weights, scores
        )
        offsets = chain.offsets[begin : end + 1] - a
        native.chain_add_label_scores(scores, offsets, *small)
        part = ChainBatch(offsets, chain.n_labels)
        labels = part.sample({"node": scores, "edge": edge}, count, seed=begin)
        yield DrawnPairs(slice(begin, end), slice(a, b), offsets, labels)
        begin = end


class _Rows:
    """Makes rows of pairs of labellings."""

    def __init__(self, data: LinearChainData, column: Array) -> None:
        self._data, self._column, self._width = data, column, int(column.max(initial=-1)) + 1
        self._slot, self._table = _columns_of_features(data, column)

    def of(self, part: DrawnPairs, left: Array, right: Array, pairs: int) -> Any:
        """Return the rows of the sequences of a part, of n pairs."""
        sequence = np.repeat(np.arange(len(part.offsets) - 1), np.diff(part.offsets))
        found = [*self._of_features(part, left, right), *self._of_free_scores(part, left, right)]
        row, column, value = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        weights = self._data.loss.weights
        if weights is not None:
            value = value * np.sqrt(weights[part.sequences])[sequence[row]]
        value = (np.sqrt(0.5 / pairs) * value).astype(np.float32)
        kept = column >= 0
        place = sequence[row[kept]].astype(np.int32), column[kept]
        return sparse.csr_matrix((value[kept], place), shape=(len(part.offsets) - 1, self._width))

    def _of_features(
        self, part: DrawnPairs, left: Array, right: Array
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Yield positions, columns and values of features where labels differ."""
        first, index, values = self._data.rows
        differing = np.flatnonzero(left != right)
        entries = rows_of(first, differing + part.positions.start)
        position = np.repeat(differing, np.diff(first)[differing + part.positions.start])
        slot = self._slot[index[entries]]
        known = slot > 0
        slot, position = slot[known], position[known]
        value = np.ones(len(slot), np.float32) if values is None else values[entries[known]]
        yield position, self._table[slot, left[position]], value
        yield position, self._table[slot, right[position]], -value

    def _of_free_scores(
        self, part: DrawnPairs, left: Array, right: Array
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the same of labels, ends and pairs of labels."""
        places, column, L = self._data.places, self._column, self._data.features.width
        full = part.offsets[:-1] < part.offsets[1:]
        starts, ends = part.offsets[:-1][full], part.offsets[1:][full] - 1
        differ = left != right
        inner = differ[:-1] | differ[1:]
        inner[ends[:-1]] = False
        edges, changed = np.flatnonzero(inner), np.flatnonzero(differ)
        starts, ends = starts[differ[starts]], ends[differ[ends]]
        for labels, sign in ((left, 1.0), (right, -1.0)):
            kinds = {
                BIAS: [(changed, labels[changed])],
                BOUNDARIES: [(starts, labels[starts]), (ends, L + labels[ends])],
                EDGES: [(edges, L * labels[edges] + labels[edges + 1])],
            }
            for kind in (kind for kind in kinds if kind in places):
                for position, value in kinds[kind]:
                    yield position, column[places[kind]][value], np.full(len(position), sign, np.float32)


def _columns_of_features(data: LinearChainData, column: Array) -> tuple[Array, Array]:
    """Return a row for every feature, 0 if it has no column, and a table: (row, label) → column, or −1."""
    pairs, own = data.features.pairs, column[data.places[FEATURES]]
    weights = np.flatnonzero(own >= 0)
    feature = np.searchsorted(pairs.first, weights, "right") - 1
    distinct, row = np.unique(feature, return_inverse=True)
    slot = np.zeros(len(pairs.rank), dtype=np.int32)
    slot[distinct] = np.arange(1, len(distinct) + 1)
    table = np.full((len(distinct) + 1, data.features.width), -1, dtype=np.int32)
    table[row + 1, pairs.label[weights]] = own[weights]
    return slot, table
