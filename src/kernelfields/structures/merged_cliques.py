"""Cliques of graphs as inference wants them: all that join the same vertices in one table.

Edges between the same two vertices, in either direction and of any type, are one factor; so are larger
cliques. Factors whose tables must be equal, because all their cliques share scores, have one table.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Array, offsets_of
from ._base import Scores
from ._equal_cliques import Source, equal_cliques, kinds_of
from ._labelled_base import score_array
from .factor_tables import FactorTables, Layout, require_usable
from .graph import GraphBatch


class MergedCliques:
    """The cliques of a batch of graphs, merged into factors: by instance, smaller ones first.

    An edge may be given in both directions, twice, or by several clique types: all cliques over the same
    vertices become one factor, its vertices in ascending order. Cliques of one vertex are added to the
    scores of vertices.

    Parameters
    ----------
    graph : GraphBatch
        The batch.
    """

    def __init__(self, graph: GraphBatch) -> None:
        self.graph = graph
        kinds = {name: cliques for name, cliques in graph.cliques.items() if name != "node" and cliques.count}
        self._single = {name: cliques for name, cliques in kinds.items() if len(cliques.values) == 1}
        sizes = sorted({len(cliques.values) for cliques in kinds.values() if len(cliques.values) > 1})
        self._sizes = [
            equal_cliques(size, {name: c for name, c in kinds.items() if len(c.values) == size})
            for size in sizes
        ]
        self._place()

    def _place(self) -> None:
        """Order factors by instance, smaller ones first."""
        graph, sizes = self.graph, self._sizes
        arity = np.concatenate([np.full(len(s.members), s.size) for s in sizes] or [np.empty(0, dtype=int)])
        firsts = np.concatenate([s.members[:, 0] for s in sizes] or [np.empty(0, dtype=int)])
        owner = np.searchsorted(graph.offsets, firsts, side="right") - 1
        order = np.lexsort((arity, owner))
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        start = 0
        for s in sizes:
            s.places = places[start : start + len(s.members)]
            start += len(s.members)
        self.n_factors = len(order)
        self.factor_offsets = offsets_of(np.bincount(owner, minlength=graph.n_instances))
        self.arity = arity[order]
        self.slot_first = offsets_of(self.arity)
        self.members = np.empty(int(self.slot_first[-1]), dtype=np.int64)
        for s in sizes:
            self.members[self.slot_first[s.places][:, None] + np.arange(s.size)] = s.members

    def layout_for(self, weights: Array) -> Layout:
        """Return how tables are shared if scores are divided by these weights of factors."""
        of_factor = np.empty(self.n_factors, dtype=np.int64)
        examples, each, lengths, done = [], [], [], 0
        for s in self._sizes:
            own = weights[s.places]
            first, number = kinds_of(np.stack([s.kinds, kinds_of(own[:, None])[1]], axis=1))
            of_factor[s.places] = done + number
            done += len(first)
            examples.append(first)
            each.append(own[first])
            lengths.append(np.full(len(first), self.graph.n_labels**s.size))
        return Layout(of_factor, offsets_of(np.concatenate(lengths or [np.empty(0, int)])), examples, each)

    @cached_property
    def layout(self) -> Layout:
        """How tables are shared if every factor counts once."""
        return self.layout_for(np.ones(self.n_factors))

    def scored(self, scores: Scores, layout: Layout) -> tuple[Array, Array]:
        """Return scores of vertices and of tables, these flat and divided by weights; both in double."""
        arrays = {
            name: score_array(scores, name, shape, np.float64) for name, shape in self.graph.shapes.items()
        }
        return self._node(arrays), self._tables(arrays, layout)

    def tables(self, scores: Scores) -> FactorTables:
        """Return scores with the same sum for every labelling; such that are NaN or +inf are refused."""
        layout = self.layout
        node, tables = self.scored(scores, layout)
        require_usable(self.graph, node, tables)
        pairs = len(layout.examples[0]) if self._sizes and self._sizes[0].size == 2 else 0
        return FactorTables(
            node,
            self.graph.offsets,
            self.factor_offsets,
            self.slot_first,
            self.members,
            layout.first[layout.of_factor],
            tables,
            pairs,
        )

    def parts(self, node: Array, factors: Array, weights: Array | None, dtype: np.dtype) -> dict[str, Array]:
        """Return probabilities of vertices and factors as those of cliques, times weights of instances.

        ``factors`` are tables of all factors in their order, flat.
        """
        graph = self.graph
        times = np.ones(graph.n_instances) if weights is None else weights
        each = np.repeat(times, np.diff(graph.offsets))[:, None]
        result = {name: np.zeros(shape, dtype) for name, shape in graph.shapes.items()}
        result["node"][...] = node * each
        for name, cliques in self._single.items():
            one = (node * each)[cliques.members[:, 0]]
            result[name][...] = one.sum(axis=0) if cliques.shared else one
        starts = offsets_of(graph.n_labels**self.arity)
        for s in self._sizes:
            beliefs = factors
            if len(self._sizes) > 1:
                beliefs = factors[starts[s.places][:, None] + np.arange(graph.n_labels**s.size)]
            for source in s.sources:
                _add(result[source.name], source, beliefs.reshape(-1, *[graph.n_labels] * s.size), times)
        return result

    def _node(self, arrays: Scores) -> Array:
        """Add up scores of vertices and of cliques of one vertex; −inf outside label sets."""
        result = np.array(arrays["node"])
        for name, cliques in self._single.items():
            np.add.at(result, cliques.members[:, 0], arrays[name])
        if self.graph.label_sets is not None:
            result[~self.graph.label_sets] = -np.inf
        return result

    def _tables(self, arrays: Scores, layout: Layout) -> Array:
        """Add up the tables of cliques."""
        L, pieces = self.graph.n_labels, [np.empty(0)]
        for s, examples, weights in zip(self._sizes, layout.examples, layout.weights, strict=True):
            result = np.zeros((len(examples), *[L] * s.size))
            number = np.full(len(s.members), -1)
            number[examples] = np.arange(len(examples))
            for k, source in enumerate(s.sources):
                given = arrays[source.name]
                if source.shared:
                    times = s.counts[examples, k]
                    has = np.flatnonzero(times)
                    result[has] += times[has].reshape(-1, *[1] * s.size) * given.transpose(source.turn)
                else:
                    turned = given[source.ids].transpose(0, *(axis + 1 for axis in source.turn))
                    _add_rows(result, number[source.factors], turned, once=s.counts[:, k].max() == 1)
            result /= weights.reshape(-1, *[1] * s.size)
            pieces.append(result.ravel())
        return np.concatenate(pieces)


def _add_rows(into: Array, rows: Array, values: Array, *, once: bool) -> None:
    """Add values to rows, of which each comes once or several times."""
    if once:
        into[rows] += values  # a third of the time
    else:
        np.add.at(into, rows, values)


def _add(into: Array, source: Source, beliefs: Array, times: Array) -> None:
    """Add probabilities of factors to those of cliques that they have."""
    back = np.argsort(source.turn)
    weights = times[source.instances]
    if source.shared:
        total = np.bincount(source.factors, weights, len(beliefs))
        into += np.tensordot(total, beliefs, axes=1).transpose(back)
    else:
        turned = beliefs[source.factors].transpose(0, *(back + 1))
        into[source.ids] = weights.reshape(-1, *[1] * len(back)) * turned
