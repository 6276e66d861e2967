"""Minimum cuts of graphs whose capacities are real numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array

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
