"""Cliques of a graph as searches want them: all that join the same two vertices in one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..errors import ScoreError
from ._base import Cliques, Scores
from ._labelled_base import score_array
from .graph import GraphBatch


class FactorTables(NamedTuple):
    """Scores of a batch of factor graphs, in the order of the core's arguments."""

    node: Array
    """(N, L): scores of vertices; −inf for labels that they cannot have."""
    offsets: Array
    """Where the vertices of each instance start."""
    first_factor: Array
    """Where the factors of each instance start."""
    first_slot: Array
    """Where the members of each factor start."""
    member: Array
    """The vertices of the factors, one factor after the other."""
    table: Array
    """Where in ``tables`` the scores of each factor start; several may share them."""
    tables: Array
    """Tables over the labels of the members, that of the last running fastest; those of pairs first."""
    pair_tables: int
    """How many tables of pairs there are."""


class MergedCliques:
    """The cliques of a batch of graphs, merged.

    An edge may be given in both directions, twice, or by several clique types: all cliques over the same
    two vertices become one pair with one table, its first vertex the lower one. Where all pairs only add up
    shared tables, pairs that add up the same ones share the sum.

    Parameters
    ----------
    graph : GraphBatch
        The batch.
    """

    def __init__(self, graph: GraphBatch) -> None:
        self.graph = graph
        by_size: dict[int, list[tuple[str, Cliques]]] = {}
        for name, cliques in graph.cliques.items():
            if name != "node" and cliques.count:
                by_size.setdefault(cliques.members.shape[1], []).append((name, cliques))
        self._single = by_size.pop(1, [])
        self._double = by_size.pop(2, [])
        self._larger = [given for size in sorted(by_size) for given in by_size[size]]
        self._merge_pairs()
        self._arrange()

    def _merge_pairs(self) -> None:
        """Number the pairs, lower vertex first, in the order of instances; say which clique is which."""
        ends = [cliques.members for _, cliques in self._double]
        every = np.concatenate([np.empty((0, 2), dtype=np.int64), *ends])
        count = max(self.graph.n_vertices, 1)
        keys, which = np.unique(every.min(axis=1) * count + every.max(axis=1), return_inverse=True)
        self.pairs = np.stack([keys // count, keys % count], axis=1)
        """(M, 2): the vertices of each pair."""
        cuts = np.cumsum([len(members) for members in ends])[:-1]
        self._pair_of = np.split(which.ravel(), cuts) if ends else []
        self._turned = [members[:, 0] > members[:, 1] for members in ends]
        shared = [c.shared for _, c in self._double]
        self._common = all(shared)  # tables can be shared, too
        if self._common:
            self._uses, self._table_of = np.unique(self._counts(), axis=0, return_inverse=True)
            self._table_of = self._table_of.ravel()
        else:
            self._table_of = np.arange(len(self.pairs))

    def _counts(self) -> Array:
        """How often each pair has the table of each type, as given and turned round."""
        columns = [
            np.bincount(where[turned == way], minlength=len(self.pairs))
            for where, turned in zip(self._pair_of, self._turned, strict=True)
            for way in (False, True)
        ]
        return np.array(columns, dtype=np.int64).reshape(len(columns), len(self.pairs)).T

    def _arrange(self) -> None:
        """Bring pairs and larger cliques into the order of instances."""
        offsets, members = self.graph.offsets, [self.pairs, *(c.members for _, c in self._larger)]
        owner = np.concatenate([np.searchsorted(offsets, m[:, 0], side="right") - 1 for m in members])
        self._order = np.argsort(owner, kind="stable")
        sizes = np.concatenate([np.full(len(m), m.shape[1]) for m in members])
        starts = offsets_of(sizes)[:-1][self._order]
        self._first_factor = offsets_of(np.bincount(owner, minlength=self.graph.n_instances))
        self._first_slot = offsets_of(sizes[self._order])
        flat = np.concatenate([m.ravel() for m in members])
        within = np.arange(len(flat)) - np.repeat(self._first_slot[:-1], sizes[self._order])
        self._member = flat[np.repeat(starts, sizes[self._order]) + within]

    def tables(self, scores: Scores) -> FactorTables:
        """Return scores with the same sum for every labelling, in double."""
        arrays = {
            name: score_array(scores, name, cliques.shape, np.float64)
            for name, cliques in self.graph.cliques.items()
        }
        node = self._node(arrays)
        pairs = self._pair_tables(arrays)
        parts, starts, size = [pairs.ravel()], [self._table_of * self.graph.n_labels**2], pairs.size
        for name, cliques in self._larger:
            entries = int(np.prod(cliques.values))
            starts.append(
                size
                + (
                    np.zeros(cliques.count, np.int64)
                    if cliques.shared
                    else np.arange(cliques.count) * entries
                )
            )
            parts.append(arrays[name].ravel())
            size += parts[-1].size
        tables = np.concatenate(parts)
        _require_usable(self.graph, node, tables)
        return FactorTables(
            node,
            self.graph.offsets,
            self._first_factor,
            self._first_slot,
            self._member,
            np.concatenate(starts)[self._order].astype(np.int64),
            tables,
            len(pairs),
        )

    def parts(self, node: Array, factors: dict[int, Array]) -> dict[str, Array]:
        """Return numbers of vertices and merged cliques in the shapes of the scores; shared ones added up.

        Factors come by their size, (C, L, …, L), in the order in which `tables` has those of that size.
        """
        graph, sizes = self.graph, np.diff(self._first_slot)
        given: dict[str, Array] = {"node": node}
        given.update({name: node[cliques.members[:, 0]] for name, cliques in self._single})
        before = len(self.pairs)
        for name, cliques in self._larger:
            given[name] = self._in_order(factors, sizes, cliques.members.shape[1], before, cliques.count)
            before += cliques.count
        if self._double:
            pairs = self._in_order(factors, sizes, 2, 0, len(self.pairs))
        for k, (name, _) in enumerate(self._double):
            table, turned = pairs[self._pair_of[k]], self._turned[k][:, None, None]
            given[name] = np.where(turned, table.swapaxes(1, 2), table)
        shapes = graph.shapes
        return {
            name: np.zeros(shapes[name])
            if name not in given
            else given[name].sum(axis=0)
            if graph.cliques[name].shared
            else given[name]
            for name in shapes
        }

    def _in_order(self, factors: dict[int, Array], sizes: Array, size: int, before: int, count: int) -> Array:
        """Return the numbers of some cliques in the order in which they were given."""
        original = self._order[sizes == size]  # which clique each row is of
        rows = np.flatnonzero((original >= before) & (original < before + count))
        result = np.empty((count, *factors[size].shape[1:]))
        result[original[rows] - before] = factors[size][rows]
        return result

    def _node(self, arrays: Scores) -> Array:
        node = np.array(arrays["node"])
        for name, cliques in self._single:
            values = np.broadcast_to(arrays[name], (cliques.count, self.graph.n_labels))
            np.add.at(node, cliques.members[:, 0], values)
        sets = self.graph.label_sets
        return node if sets is None else np.where(sets, node, -np.inf)

    def _pair_tables(self, arrays: Scores) -> Array:
        """Return one table for every kind of pair, or for every pair."""
        L = self.graph.n_labels
        result = np.zeros((len(self._uses) if self._common else len(self.pairs), L, L))
        for k, (name, cliques) in enumerate(self._double):
            for way in (0, 1):
                table = arrays[name].swapaxes(-1, -2) if way else arrays[name]
                if self._common:
                    count = self._uses[:, 2 * k + way, None, None]
                    result += np.where(count > 0, np.maximum(count, 1) * table, 0.0)
                    continue
                chosen = np.flatnonzero(self._turned[k] == way)
                values = np.broadcast_to(table, (cliques.count, L, L))[chosen]
                np.add.at(result, self._pair_of[k][chosen], values)
        return result


def _require_usable(graph: GraphBatch, node: Array, tables: Array) -> None:
    """Refuse scores that are NaN or +inf."""
    odd = np.flatnonzero(~(node < np.inf).all(axis=1))
    if len(odd):
        s = int(np.searchsorted(graph.offsets, odd[0], side="right")) - 1
        raise ScoreError(f"{graph.words.name(s)} has scores that are NaN or +inf.")
    if not (tables < np.inf).all():
        raise ScoreError("Scores of cliques have NaN or +inf.")
