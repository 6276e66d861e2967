"""Moves of many labels at once, each by a minimum cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InputError
from .factor_tables import FactorTables


class PairScores(NamedTuple):
    """Scores of a batch of graphs whose cliques are vertices and pairs."""

    node: Array
    ends: Array
    """(M, 2)"""
    table: Array
    """Which of the tables each pair has."""
    tables: Array
    """(U, L, L)"""
    offsets: Array
    """Where the vertices of each instance start."""

    @classmethod
    def of(cls, tables: FactorTables) -> PairScores:
        """Refuse larger cliques."""
        L = tables.node.shape[1]
        larger = np.flatnonzero(np.diff(tables.first_slot) > 2)
        if len(larger):
            members = tables.member[tables.first_slot[larger[0]] : tables.first_slot[larger[0] + 1]]
            raise InputError(
                f"This search takes cliques of one or two vertices, not {members.tolist()}; "
                "use TreeReweightedMax or LinearProgramMax."
            )
        pairs = tables.tables.reshape(-1, L, L)
        return cls(tables.node, tables.member.reshape(-1, 2), tables.table // L**2, pairs, tables.offsets)

    def require_finite(self, who: str) -> None:
        """Refuse label pairs that are forbidden."""
        if not np.isfinite(self.tables).all():
            raise InputError(f"{who} need finite scores of label pairs; some of these are −inf.")

    def bound(self) -> Array:
        """Return the sum of the largest scores of all vertices and pairs."""
        return self.summed(self.node.max(axis=1), self.tables.max(axis=(1, 2))[self.table])

    def any_instance(self, vertices: Array) -> Array:
        """Return in which instances some vertex is marked."""
        return self.summed(vertices.astype(float), np.zeros(len(self.ends))) > 0

    def scores(self, labels: Array) -> Array:
        """Return the score of every instance."""
        own = self.node[np.arange(len(labels)), labels]
        both = self.tables[self.table, labels[self.ends[:, 0]], labels[self.ends[:, 1]]]
        return self.summed(own, both)

    def summed(self, node: Array, pair: Array) -> Array:
        """Return the sums over vertices and pairs of every instance."""
        S = len(self.offsets) - 1
        owner = np.repeat(np.arange(S), np.diff(self.offsets))
        return np.bincount(owner, node, S) + np.bincount(owner[self.ends[:, 0]], pair, S)


class Fusion(NamedTuple):
    """The best mixture of two labellings."""

    labels: Array
    bound: Array
    """At least the score of any mixture, for every instance; where nothing was truncated."""


def fuse(pairs: PairScores, first: Array, second: Array, truncate: bool) -> Fusion:
    """Return the best labelling that has at each vertex the label of one of two labellings.

    With z_v = 1 for the second label, minus the score of a pair is a constant, terms in z_u and z_v, and
    w·(1 − z_u)·z_v; a minimum cut finds the best z if no w is negative.

    Parameters
    ----------
    pairs : PairScores
        The scores.
    first, second : (N,) integers
        Two labellings, the same where a vertex is to keep its label; none forbids its labels.
    truncate : bool
        Whether a negative w counts as 0; else it is refused.
    """
    u, v = pairs.ends.T
    every = np.arange(len(first))

    def cost(left: Array, right: Array) -> Array:
        return -pairs.tables[pairs.table, left[u], right[v]]

    keep, late, early, move = (cost(left, right) for left in (first, second) for right in (first, second))
    weight = late + early - keep - move
    free = first != second
    _require_submodular(pairs, weight, free, first, second, truncate)
    linear = pairs.node[every, first] - pairs.node[every, second]
    linear += np.bincount(u, early - keep, len(first)) + np.bincount(v, move - early, len(first))
    linear = np.where(free, linear, 0.0)
    unit = _units(pairs, linear, weight)  # lest a large instance take precision from a small one
    cut = minimum_cut(v, u, np.maximum(weight, 0.0) / unit[u], linear / unit)
    labels = np.where(cut.inside & free, second, first).astype(np.int32)
    least = cut.flow * unit + np.minimum(linear, 0.0) - pairs.node[every, first]
    return Fusion(labels, -pairs.summed(least, keep))


def _units(pairs: PairScores, linear: Array, weight: Array) -> Array:
    """Return for every vertex the largest number of its instance."""
    owner = np.repeat(np.arange(len(pairs.offsets) - 1), np.diff(pairs.offsets))
    largest = np.zeros(len(pairs.offsets) - 1)
    np.maximum.at(largest, owner, np.abs(linear))
    np.maximum.at(largest, owner[pairs.ends[:, 0]], np.abs(weight))
    return np.where(largest > 0, largest, 1.0)[owner]


def _require_submodular(
    pairs: PairScores, weight: Array, free: Array, first: Array, second: Array, truncate: bool
) -> None:
    size = np.abs(pairs.tables).max(initial=0.0)
    odd = np.flatnonzero(weight < -1e-12 * max(size, 1.0))
    if len(odd) and not truncate:
        ends = pairs.ends[odd[0]]
        raise InputError(
            f"The scores of vertices {ends.tolist()} are not submodular for labels "
            f"{first[ends].tolist()} and {second[ends].tolist()}; choose another search, or truncate=True."
        )


LARGEST = 2**30 - 1
"""Capacities of SciPy are whole numbers of 32 bits, and an arc may have its own and that of its reverse."""


class Cut(NamedTuple):
    """A cut of the least capacity, up to rounding."""

    inside: Array
    """Which vertices are on the side of the source."""
    flow: Array
    """(N,): what flows from the source into each vertex; no cut has less capacity than all of it."""


def minimum_cut(tails: Array, heads: Array, capacity: Array, to_sink: Array) -> Cut:
    """Return a minimum cut by maximum flows of whole numbers.

    Capacities are rounded down to whole multiples of a unit, so that their flow is one of the real ones;
    what is left of these is a flow problem again. No more can flow in it than there are arcs times the unit,
    so that larger capacities do not matter, and the unit can be smaller: by a factor of 10,000 where there
    are 100,000 arcs. It ends when nothing is left that doubles can see.

    Parameters
    ----------
    tails, heads : (E,) integers
        The arcs between vertices.
    capacity : (E,) array
        Of the arcs, not negative.
    to_sink : (N,) array
        Capacity of the arc from each vertex to the sink; below zero, minus that from the source.
    """
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    left = _network(tails, heads, capacity, to_sink)
    source, sink = len(to_sink), len(to_sink) + 1
    flow, largest = np.zeros(len(to_sink)), float(left.data.max(initial=0.0))
    most = largest
    while most > np.finfo(float).eps * largest:
        unit = most / LARGEST
        whole = left.copy()
        whole.data = np.floor(np.minimum(left.data, most) / unit).astype(np.int32)
        whole.eliminate_zeros()
        moved = sparse.csr_matrix(maximum_flow(whole, source, sink).flow, dtype=np.float64) * unit
        flow += moved[source].toarray()[0, : len(to_sink)]
        left = sparse.csr_matrix(left - moved)
        left.data = np.maximum(left.data, 0.0)
        most = unit * left.nnz
    left.data[left.data <= most / max(left.nnz, 1)] = 0.0
    left.eliminate_zeros()
    inside = np.zeros(len(to_sink) + 2, dtype=bool)
    inside[breadth_first_order(left, source, return_predecessors=False)] = True
    return Cut(inside[:-2], flow)


def _network(tails: Array, heads: Array, capacity: Array, to_sink: Array) -> sparse.csr_matrix:
    """Return capacities with a source and a sink, and a place for the reverse of every arc."""
    N = len(to_sink)
    every, source, sink = np.arange(N), np.full(N, N), np.full(N, N + 1)
    rows = np.concatenate([tails, heads, every, sink, source, every])
    columns = np.concatenate([heads, tails, sink, every, every, source])
    none, out, into = np.zeros(N), np.maximum(to_sink, 0.0), np.maximum(-to_sink, 0.0)
    values = np.concatenate([capacity, np.zeros(len(tails)), out, none, into, none])
    return sparse.csr_matrix((values, (rows, columns)), shape=(N + 2, N + 2))
