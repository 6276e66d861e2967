"""A loss in shards: some instances each, and the coordinates that these have seen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Array
from ..objective import DataTerm, LinearChainData, Shard
from ..spaces import BoundSpace, SparseFeatures, places_of

WORTHWHILE = 0.8
"""Shards that see a larger share of all coordinates have them all: it saves an index."""


def split(data: DataTerm, count: int) -> list[Shard]:
    """Return a loss in up to so many shards of about as many vertices, in the order of the instances."""
    if count == 1:
        return [Shard(data)]
    parts = [_part(data, a, b) for a, b in pairwise(cuts_of(data.structure.offsets, count))]
    return parts or [Shard(data)]


def cuts_of(offsets: Array, count: int) -> list[int]:
    """Return where instances are cut into up to so many parts of about as many vertices; none is empty."""
    n = len(offsets) - 1
    wanted = np.linspace(0, float(offsets[-1]), min(count, max(n, 1)) + 1)
    inside = np.unique(np.searchsorted(offsets, wanted[1:-1]))
    return [0, *(int(cut) for cut in inside if 0 < cut < n), *([n] if n else [])]


def _part(data: DataTerm, begin: int, end: int) -> Shard:
    """Return the loss on the instances from one to another."""
    ids = np.arange(begin, end)
    if not isinstance(data, LinearChainData):
        return Shard(data.take(ids))
    loss, vertices = data.loss.take(ids), data.structure.offsets[[begin, end]].tolist()
    spaces = [
        space.part(loss.structure, *vertices)
        if isinstance(space, SparseFeatures)
        else space.take(loss.structure, ids)
        for space in data.spaces
    ]
    return _seen(LinearChainData(loss, spaces, data.offsets, data.dtype))


def _seen(data: LinearChainData) -> Shard:
    """Return a loss on the coordinates that its instances have seen, where these are much fewer."""
    found = [_seen_of(space) for space in data.spaces]
    size = sum(space.size for space in data.spaces)
    if sum(len(places) for _, places in found) > WORTHWHILE * size:
        return Shard(data)
    starts = [place.start for place in places_of(data.spaces)]
    places = np.concatenate([start + mine for start, (_, mine) in zip(starts, found, strict=True)])
    spaces = [space for space, _ in found]
    return Shard(LinearChainData(data.loss, spaces, data.offsets, data.dtype), places)


def _seen_of(space: BoundSpace) -> tuple[BoundSpace, Array]:
    return space.seen() if isinstance(space, SparseFeatures) else (space, np.arange(space.size))
