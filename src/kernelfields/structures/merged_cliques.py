"""Cliques of graphs as inference wants them: all that join the same vertices in one table.

Edges between the same two vertices, in either direction and of any type, are one factor; so are larger
cliques. Factors whose tables must be equal, because all their cliques share scores, have one table.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ._base import Cliques, Scores
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


class Source(NamedTuple):
    """Cliques of one type whose members have to be turned the same way to be sorted."""

    name: str
    turn: tuple[int, ...]
    """Axes of the sorted table, as axes of the table given."""
    ids: Array
    """Which cliques of the type."""
    factors: Array
    """The factor of each, among those of its size."""
    shared: bool
    instances: Array
    """The instance of each."""


class EqualCliques:
    """All factors over the same number of vertices."""

    def __init__(self, size: int, members: Array, sources: list[Source]) -> None:
        self.size = size
        self.members = members
        self.sources = sources
        self.counts = np.stack(
            [np.bincount(source.factors, minlength=len(members)) for source in sources], axis=1
        )
        """How many cliques of each source a factor has."""
        own = np.zeros(len(members), dtype=bool)
        for source in sources:
            if not source.shared:
                own[source.factors] = True
        alike = kinds_of(self.counts)[1]
        self.kinds = np.where(own, alike.max(initial=-1) + 1 + np.arange(len(members)), alike)
        """Factors of one kind have equal tables."""
        self.places = np.empty(len(members), dtype=np.int64)
        """Their places among all factors of the batch."""


def equal_cliques(size: int, kinds: dict[str, Cliques]) -> EqualCliques:
    """Sort the members of all cliques of one size, and find those that are equal."""
    turns, members, owners = {}, [], {}
    for name, cliques in kinds.items():
        turn = np.argsort(cliques.members, axis=1)
        turns[name] = turn
        members.append(np.take_along_axis(cliques.members, turn, axis=1))
        owners[name] = np.repeat(np.arange(len(cliques.offsets) - 1), np.diff(cliques.offsets))
    every = np.concatenate(members)
    first, number = kinds_of(every)
    sources, start = [], 0
    for name, cliques in kinds.items():
        factors = number[start : start + cliques.count]
        start += cliques.count
        code = turns[name] @ (size ** np.arange(size))
        for one in np.unique(code):
            ids = np.flatnonzero(code == one)
            axes = tuple(int(axis) for axis in turns[name][ids[0]])
            sources.append(Source(name, axes, ids, factors[ids], cliques.shared, owners[name][ids]))
    return EqualCliques(size, every[first], sources)


def kinds_of(rows: Array) -> tuple[Array, Array]:
    """Number rows by their entries, equal ones alike; return where each kind is first, and those numbers."""
    result = rows[:, 0]
    for column in rows.T[1:]:  # numbers of rows so far, then of those with one column more: never large
        many = int(column.max(initial=0)) + 1
        if int(result.max(initial=0)) * many >= 2**62:
            result = np.unique(result, return_inverse=True)[1]
        result = result * many + column
    _, first, number = np.unique(result, return_index=True, return_inverse=True)
    return first, number
