"""Nearest neighbours among very many points by faiss: nearly all of them, in a fraction of the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InputError
from .neighbors import Neighbors, nearest

FEW = 2000
"""Points up to which the search is exact: lists would save nothing."""

SAMPLE = 256
"""Points whose true neighbours are sought to measure the recall."""

PER_LIST = 40
"""Points per list that k-means needs at least."""

NUMBERS = 2**22
"""Numbers at a time while distances are computed."""

MISSING = (
    'method="approximate" of NeighborGraph needs the package faiss, which is not installed: '
    "pip install 'kernelfields[neighbors]'."
)


def nearly_nearest(vertices: Any, k: int, recall: float) -> Neighbors:
    """Return about the k nearest others of every vertex: at least a share ``recall`` of the true ones.

    k-means makes lists of vertices that lie together, and each vertex looks for neighbours in the lists whose
    centres are nearest to it [jegou2011], in as many lists as it takes: their number is doubled until the
    neighbours of a sample, which are also sought exactly, are found. Distances are those of `nearest`; the
    same input has the same neighbours every time.
    """
    faiss = _faiss()
    if sparse.issparse(vertices):
        raise InputError(
            'method="approximate" of NeighborGraph takes dense observations; these are sparse. '
            'Use method="exact", or reduce their dimension.'
        )
    n = vertices.shape[0]
    if n <= max(FEW, 2 * k):
        return nearest(vertices, None, k)
    points = _singles(vertices)
    index = _index(faiss, points)
    sample = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
    wanted = _farthest(vertices, sample, k)
    while True:
        found = _search(index, points, sample, k)
        share = np.mean(_distances(vertices, sample, found) <= wanted[:, None] * (1 + 1e-9))
        if share >= recall:
            return _every(index, vertices, points, k)
        if index.nprobe == index.nlist:  # what tells points apart is lost in single precision
            return nearest(vertices, None, k)
        index.nprobe = min(2 * index.nprobe, index.nlist)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise InputError(MISSING) from None
    return faiss


def _singles(vertices: Array) -> Array:
    """Return points about 0 of size 1 in single precision, which is all that faiss takes."""
    centre = vertices.mean(axis=0, dtype=np.float64)
    size = float(np.abs(vertices - centre).max())
    return np.ascontiguousarray((vertices - centre) / (size or 1.0), dtype=np.float32)


def _index(faiss: Any, points: Array) -> Any:
    """Return lists by k-means, with a fixed seed."""
    n, D = points.shape
    lists = max(1, min(int(4 * np.sqrt(n)), n // PER_LIST))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    index.train(points)
    index.add(points)
    index.nprobe = min(8, lists)
    return index


def _farthest(vertices: Array, sample: Array, k: int) -> Array:
    """Return the distance from each of some vertices to the k-th nearest other one, by looking at all."""
    found = nearest(vertices, vertices[sample], k + 1)  # itself among them
    return found.distance.reshape(len(sample), k + 1).max(axis=1)


def _search(index: Any, points: Array, rows: Array, k: int) -> Array:
    """Return k others for each of some points, (n, k); in all lists where the nearest have fewer than k."""
    probes = index.nprobe
    found = _others(index.search(points[rows], k + 1)[1], rows)
    short = np.flatnonzero((found < 0).any(axis=1))
    if len(short):
        index.nprobe = index.nlist
        found[short] = _others(index.search(points[rows[short]], k + 1)[1], rows[short])
        index.nprobe = probes
    return found


def _others(found: Array, rows: Array) -> Array:
    """Leave out each point itself; where it is not among the nearest, several being equal, the last."""
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(len(rows), -1)


def _every(index: Any, vertices: Array, points: Array, k: int) -> Neighbors:
    n, step = len(points), max(1, NUMBERS // (k * vertices.shape[1]))
    vertex, distance = np.empty((n, k), np.int32), np.empty((n, k))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        vertex[rows] = _search(index, points, rows, k)
        distance[rows] = _distances(vertices, rows, vertex[rows])
    return Neighbors(np.arange(0, n * k + 1, k, dtype=np.int64), vertex.ravel(), distance.ravel())


def _distances(vertices: Array, rows: Array, others: Array) -> Array:
    """Return ‖x_i − x_j‖ in double, (n, k)."""
    apart = vertices[rows].astype(np.float64)[:, None] - vertices[others]
    return np.sqrt(np.einsum("nkd,nkd->nk", apart, apart))
