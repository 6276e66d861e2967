"""Rows of siblings: a head, a word on one side of it, and the word before that one with the same head."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError


def require_siblings(siblings: npt.ArrayLike, offsets: npt.ArrayLike, lengths: Array) -> tuple[Array, Array]:
    """Return rows and where those of each sentence begin."""
    rows, starts = np.asarray(siblings), np.asarray(offsets)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise InputError(f"siblings are {rows.dtype} of shape {rows.shape}, expected whole numbers (C, 3).")
    fits = starts.shape == (len(lengths) + 1,) and starts.dtype.kind in "iu"
    if not fits or starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 0).any():
        raise InputError(
            f"sibling_offsets must rise from 0 to {len(rows)}, with one number more than sentences."
        )
    s = np.repeat(np.arange(len(lengths)), np.diff(starts))
    head, inner, outer = rows.T.astype(np.int64)
    between = ((head < inner) & (inner < outer)) | ((outer < inner) & (inner < head)) | (inner == head)
    known = (np.minimum(head, outer - 1) >= 0) & (np.maximum(head, outer) <= lengths[s]) & (head != outer)
    order = np.lexsort((inner, outer, head, s))
    twice = (np.diff(np.stack([s, head, outer, inner]), axis=1) == 0).all(axis=0)
    bad = ~(between & known) | (order != np.arange(len(rows))) | np.append(False, twice)[: len(rows)]
    if bad.any():
        c = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"Row {c} of siblings, {rows[c].tolist()}, has no head, inner and outer word, or is out of order."
        )
    return np.ascontiguousarray(rows, dtype=np.int32), starts.astype(np.int64)


def siblings_of(heads: list[int]) -> list[tuple[int, int]]:
    """Return the head and the inner sibling of every word."""
    found: list[tuple[int, int]] = [(0, 0)] * len(heads)
    last: dict[tuple[int, bool], int] = {}
    for m in range(1, len(heads) + 1):  # to the right of heads: from left to right
        head = heads[m - 1]
        if head < m:
            found[m - 1] = (head, last.get((head, True), head))
            last[head, True] = m
    for m in range(len(heads), 0, -1):
        head = heads[m - 1]
        if head > m:
            found[m - 1] = (head, last.get((head, False), head))
            last[head, False] = m
    return found


@cache
def every_sibling(n: int) -> Array:
    """Return all rows of a sentence of n words, (C, 3), sorted by head, outer and inner word."""
    head, outer, inner = np.meshgrid(np.arange(n + 1), np.arange(1, n + 1), np.arange(n + 1), indexing="ij")
    between = ((head < inner) & (inner < outer)) | ((outer < inner) & (inner < head)) | (inner == head)
    kept = between & (head != outer)
    return np.stack([head[kept], inner[kept], outer[kept]], axis=1).astype(np.int32)
