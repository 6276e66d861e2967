"""Vertices of a tree in their neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_unmasked, require_whole
from ..errors import InputError


def stack_tree_windows(frames: Sequence[Array], parents: Sequence[Any], width: int) -> list[Array]:
    """Return every vertex with its ancestors before it and the means of its descendants behind it.

    (x of the h-th ancestor, …, x of the parent, x_v, mean of the children, …, mean of the h-th generation),
    h = (width − 1)/2, zero where there is none. On a path this is `stack_windows`.

    Parameters
    ----------
    frames : list of (N, D) arrays
        Numbers of the vertices of each tree.
    parents : list of (N,) integers
        The parent of each vertex, −1 for a root.
    width : int
        How many generations there are in a window; odd.
    """
    if require_whole("width", width) % 2 == 0:
        raise InputError(f"width is {width}; it must be odd.")
    for s, (x, p) in enumerate(zip(frames, parents, strict=True)):
        require_unmasked(x, f"Tree {s}")
        require_unmasked(p, f"The list of parents of tree {s}", "write −1 for the parent of a root")
    return [
        _windows(x, np.asarray(p, dtype=np.int64), width // 2) for x, p in zip(frames, parents, strict=True)
    ]


def _windows(frames: Array, parents: Array, reach: int) -> Array:
    count = len(frames)
    children = np.flatnonzero(parents >= 0)
    up = sparse.csr_matrix((np.ones(len(children)), (children, parents[children])), shape=(count, count))
    generations = sparse.eye_array(count, format="csr")
    above, below = [], []
    for _ in range(reach):
        generations = generations @ up  # v to its ancestor, one generation further up
        above.append(generations @ frames)
        size = np.asarray(generations.sum(axis=0)).ravel()
        below.append((generations.T @ frames) / np.maximum(size, 1)[:, None])
    return np.concatenate([*above[::-1], frames, *below], axis=1)
