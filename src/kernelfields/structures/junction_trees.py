"""Exact inference on any narrow graphs: tables over cliques, passed on as vertices are eliminated."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .. import native
from ..arrays import Array
from ..errors import InputError, TableSizeError
from ..memory import require_memory
from ._base import Scores, require_feasible
from ._errors_base import NUMBERS, require_numbers
from ._labelled_base import score_array
from ._oracles import Labelling, Labellings, Marginals
from .graph import GraphBatch


class JunctionTrees:
    """Orders of elimination for a batch of graphs, one for every distinct shape.

    Graphs that need a table of more than ``max_table`` numbers are refused before any of it is taken.
    """

    def __init__(self, batch: GraphBatch, max_table: int) -> None:
        self._batch = batch
        members = [batch.edges, *(factor.members for factor in batch.factors.values())]
        self.shape = native.GraphShape(
            batch.offsets, members, batch.n_labels, batch.label_sets, float(max_table)
        )
        refusal = self.shape.refusal()
        if refusal is not None:
            s, width, entries = refusal
            raise TableSizeError(
                f"{batch.words.name(s)} has a treewidth of about {width} or more: exact inference would take "
                f"a table of {entries:.3g} numbers, more than max_table={max_table}; use belief propagation, "
                f"tree-reweighted sums or pseudo-likelihood instead."
            )
        require_memory("The messages of the largest graph", int(8 * self.shape.messages()))

    @property
    def treewidths(self) -> Array:
        """The treewidth of every instance, in the order that was found."""
        return np.asarray(self.shape.widths())

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores of what is eliminated, then labels on the way back."""
        labels, value = native.graph_argmax(self._batch._tables(scores), self.shape)
        self._require(value)
        return Labelling(labels, self._batch.score(scores, labels))

    def log_partition(self, scores: Scores) -> Array:
        """Messages from clique to clique."""
        return self._require(native.graph_log_partition(self._batch._tables(scores), self.shape))

    def marginals(self, scores: Scores, weights: Array | None) -> Marginals:
        """Messages to the last clique, marginals on the way back."""
        value, parts = native.graph_marginals(self._batch._tables(scores), self.shape, weights)
        return Marginals(self._require(value), self._named(parts))

    def entropy(self, scores: Scores) -> Array:
        """Entropies of vertices given what is eliminated after them, added up."""
        return self._require(native.graph_entropy(self._batch._tables(scores), self.shape))

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None) -> dict[str, Array]:
        """Messages and marginals with their derivatives."""
        tables, shapes = self._batch._tables(scores), self._batch.shapes
        along = [score_array(direction, name, shape, tables[0].dtype) for name, shape in shapes.items()]
        value, parts = native.graph_covariance(tables, self.shape, along, weights)
        self._require(value)
        return self._named(parts)

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Messages to the last clique, then draws on the way back."""
        labels, value = native.graph_sample(self._batch._tables(scores), self.shape, count, seed)
        self._require(value)
        return np.asarray(labels)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Best scores of what is eliminated, then labellings in the order of what their labels lose."""
        labels, value = native.graph_kbest(self._batch._tables(scores), self.shape, k)
        self._require(value[:, 0])
        return Labellings(labels, value)

    def best_by_errors(self, scores: Scores, errors: Array, levels: int) -> Array:
        """Return best scores for 0 … levels − 1 errors."""
        tables = self._batch._tables(scores)
        self._require_room(tables, errors, np.full(self._batch.n_instances, levels))
        value = native.graph_best_by_errors(tables, self.shape, errors, levels)
        require_numbers(value, self._batch.words)
        return np.asarray(value)

    def argmax_at_errors(self, scores: Scores, errors: Array, counts: Array) -> Labelling:
        """Return best labellings with so many errors."""
        tables = self._batch._tables(scores)
        self._require_room(tables, errors, np.maximum(counts, 0) + 1)
        labels, value = native.graph_argmax_at_errors(tables, self.shape, errors, counts)
        require_numbers(value[:, None], self._batch.words)
        return Labelling(labels, value)

    def _require(self, value: Array) -> Array:
        require_feasible(value, self._batch.words)
        return np.asarray(value)

    def _require_room(self, tables: list[Array], errors: Array, levels: Array) -> None:
        """Refuse lists of errors that take too much memory, before they take it."""
        numbers = native.graph_error_numbers(tables, self.shape, errors, levels)
        if (numbers > NUMBERS).any():
            s = int(np.argmax(numbers))
            raise InputError(
                f"{self._batch.words.name(s)} has a treewidth of {self.treewidths[s]}: the tables of its "
                f"best scores for {levels[s]} numbers of errors would take {numbers[s]:.0f} numbers, "
                f"more than {NUMBERS}."
            )

    def _named(self, parts: Iterable[Array]) -> dict[str, Array]:
        return dict(zip(self._batch.cliques, parts, strict=True))
