"""Cliques of graphs, those over the same vertices merged into one factor each.

Edges between the same two vertices, in either direction and of any type, are one table for inference; so are
larger cliques. Factors whose tables must be equal, because all their cliques share scores, have one table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ._base import Cliques, Scores
from ._labelled_base import score_array
from .graph import GraphBatch


class _Source(NamedTuple):
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


class _Size:
    """All factors over the same number of vertices."""

    def __init__(self, size: int, members: Array, sources: list[_Source]) -> None:
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
        alike = _numbered(self.counts)
        self.kinds = np.where(own, alike.max(initial=-1) + 1 + np.arange(len(members)), alike)
        """Factors of one kind have equal tables."""
        self.places = np.empty(len(members), dtype=np.int64)
        """Their places among all factors of the batch."""


class Tables(NamedTuple):
    """Which factors have which tables, for given weights of factors."""

    of_factor: Array
    first: Array
    """Where tables begin."""
    examples: list[Array]
    """For every size, a factor that has the table."""
    weights: list[Array]
    """For every size, the weight of the factors that have the table."""


class MergedFactors:
    """The factors of a batch of graphs, in the order the core wants them.

    Parameters
    ----------
    graph : GraphBatch
        The batch; cliques of one vertex are added to the scores of vertices.
    """

    def __init__(self, graph: GraphBatch) -> None:
        self.graph = graph
        kinds = {name: cliques for name, cliques in graph.cliques.items() if name != "node" and cliques.count}
        self._single = {name: cliques for name, cliques in kinds.items() if len(cliques.values) == 1}
        sizes = sorted({len(cliques.values) for cliques in kinds.values() if len(cliques.values) > 1})
        self._sizes = [
            _merged(size, {name: c for name, c in kinds.items() if len(c.values) == size}) for size in sizes
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

    def tables_for(self, weights: Array) -> Tables:
        """Return how tables are shared if scores are divided by these weights of factors."""
        of_factor = np.empty(self.n_factors, dtype=np.int64)
        examples, each, lengths, done = [], [], [], 0
        for s in self._sizes:
            own = weights[s.places]
            _, first, number = np.unique(
                _numbered(np.stack([s.kinds, np.unique(own, return_inverse=True)[1]], axis=1)),
                return_index=True,
                return_inverse=True,
            )
            of_factor[s.places] = done + number
            done += len(first)
            examples.append(first)
            each.append(own[first])
            lengths.append(np.full(len(first), self.graph.n_labels**s.size))
        return Tables(of_factor, offsets_of(np.concatenate(lengths or [np.empty(0, int)])), examples, each)

    def node(self, scores: Scores) -> Array:
        """Scores of vertices in double, with those of cliques of one vertex; −inf outside label sets."""
        graph = self.graph
        result = np.array(score_array(scores, "node", graph.shapes["node"], np.float64))
        for name, cliques in self._single.items():
            np.add.at(result, cliques.members[:, 0], score_array(scores, name, cliques.shape, np.float64))
        if graph.label_sets is not None:
            result[~graph.label_sets] = -np.inf
        return result

    def tables(self, scores: Scores, tables: Tables) -> Array:
        """Tables of all factors, added up from cliques and divided by weights, flat."""
        L, pieces = self.graph.n_labels, []
        for s, examples, weights in zip(self._sizes, tables.examples, tables.weights, strict=True):
            result = np.zeros((len(examples), *[L] * s.size))
            number = np.full(len(s.members), -1)
            number[examples] = np.arange(len(examples))
            for k, source in enumerate(s.sources):
                given = score_array(scores, source.name, self.graph.shapes[source.name], np.float64)
                if source.shared:
                    times = s.counts[examples, k]
                    has = np.flatnonzero(times)
                    result[has] += times[has].reshape(-1, *[1] * s.size) * given.transpose(source.turn)
                else:
                    turned = given[source.ids].transpose(0, *(axis + 1 for axis in source.turn))
                    np.add.at(result, number[source.factors], turned)
            result /= weights.reshape(-1, *[1] * s.size)
            pieces.append(result.ravel())
        return np.concatenate(pieces) if pieces else np.empty(0)

    def parts(self, node: Array, factors: Array, weights: Array | None, dtype: np.dtype) -> dict[str, Array]:
        """Probabilities of vertices and factors as those of cliques, times weights of instances."""
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
            shape = (len(s.members), *[graph.n_labels] * s.size)
            if len(self._sizes) == 1:
                beliefs = factors.reshape(shape)
            else:
                beliefs = factors[starts[s.places][:, None] + np.arange(graph.n_labels**s.size)].reshape(
                    shape
                )
            for source in s.sources:
                self._add(result[source.name], source, beliefs, times)
        return result

    def _add(self, into: Array, source: _Source, beliefs: Array, times: Array) -> None:
        back = np.argsort(source.turn)
        weights = times[source.instances]
        if source.shared:
            total = np.bincount(source.factors, weights, len(beliefs))
            into += np.tensordot(total, beliefs, axes=1).transpose(back)
        else:
            turned = beliefs[source.factors].transpose(0, *(back + 1))
            into[source.ids] = weights.reshape(-1, *[1] * len(back)) * turned


def _merged(size: int, kinds: dict[str, Cliques]) -> _Size:
    """Sort the members of all cliques of one size, and find those that are equal."""
    turns, members, owners = {}, [], {}
    for name, cliques in kinds.items():
        turn = np.argsort(cliques.members, axis=1)
        turns[name] = turn
        members.append(np.take_along_axis(cliques.members, turn, axis=1))
        owners[name] = np.repeat(np.arange(len(cliques.offsets) - 1), np.diff(cliques.offsets))
    every = np.concatenate(members)
    _, first, number = np.unique(_numbered(every), return_index=True, return_inverse=True)
    sources, start = [], 0
    for name, cliques in kinds.items():
        factors = number[start : start + cliques.count]
        start += cliques.count
        code = turns[name] @ (size ** np.arange(size))
        for one in np.unique(code):
            ids = np.flatnonzero(code == one)
            axes = tuple(int(axis) for axis in turns[name][ids[0]])
            sources.append(_Source(name, axes, ids, factors[ids], cliques.shared, owners[name][ids]))
    return _Size(size, every[first], sources)


def _numbered(rows: Array) -> Array:
    """Number rows of whole numbers, equal ones alike, in the order of their entries."""
    result = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:  # numbers of rows so far, then of those with one column more: never large
        many = int(column.max(initial=0)) + 1
        if int(result.max(initial=0)) * many >= 2**62:
            result = np.unique(result, return_inverse=True)[1]
        result = result * many + column
    return np.unique(result, return_inverse=True)[1]
