"""Vertices of a graph in their neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_unmasked, require_whole
from ..errors import InputError


def stack_graph_windows(frames: Sequence[Array], edges: Sequence[Array], width: int) -> list[Array]:
    """Return every vertex with the means of what is one edge away, two edges away, …

    (x_v, mean of the neighbours, mean of those two edges away, …, h edges away), h = (width − 1)/2, zero
    where there is none. Directions of edges do not matter.

    Parameters
    ----------
    frames : list of (N, D) arrays
        Numbers of the vertices of each graph.
    edges : list of (E, 2) integers
        Pairs of vertices that are joined, in any order and number.
    width : int
        Odd; as wide as a window along a sequence that reaches as far to both sides.
    """
    if require_whole("width", width) % 2 == 0:
        raise InputError(f"width is {width}; it must be odd.")
    for s, (x, e) in enumerate(zip(frames, edges, strict=True)):
        require_unmasked(x, f"Graph {s}")
        require_unmasked(e, f"The list of edges of graph {s}", "leave out edges that there are not")
    return [_windows(x, np.reshape(e, (-1, 2)), width // 2) for x, e in zip(frames, edges, strict=True)]


def _windows(frames: Array, edges: Array, reach: int) -> Array:
    count = len(frames)
    both = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64)
    step = sparse.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(count, count))
    within = sparse.identity(count, format="csr", dtype=bool)
    rings = [frames]
    for _ in range(reach):
        wider = (within + within @ step).astype(bool).tocsr()
        ring = (wider.astype(np.float64) - within.astype(np.float64)).tocsr()
        size = np.asarray(ring.sum(axis=1)).ravel()
        rings.append((ring @ frames) / np.maximum(size, 1)[:, None])
        within = wider
    return np.concatenate(rings, axis=1)
