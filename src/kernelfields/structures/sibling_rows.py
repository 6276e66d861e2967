"""Rows of siblings: a head, a word on one side of it, and the word before that one with the same head."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, falls, offsets_of
from ..checks import require_unmasked
from ..errors import InputError
from ..memory import require_memory


def require_siblings(siblings: npt.ArrayLike, offsets: npt.ArrayLike, lengths: Array) -> tuple[Array, Array]:
    """Return rows and where those of each sentence begin."""
    require_unmasked(siblings, "The list of siblings")
    require_unmasked(offsets, "The list of sibling_offsets")
    rows, starts = np.asarray(siblings), np.asarray(offsets)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise InputError(f"siblings are {rows.dtype} of shape {rows.shape}, expected whole numbers (C, 3).")
    fits = starts.shape == (len(lengths) + 1,) and starts.dtype.kind in "iu"
    if not fits or starts[0] != 0 or starts[-1] != len(rows) or falls(starts):
        raise InputError(
            f"sibling_offsets must rise from 0 to {len(rows)}, with one number more than sentences."
        )
    s = np.repeat(np.arange(len(lengths)), np.diff(starts))
    order = np.lexsort((rows[:, 1], rows[:, 2], rows[:, 0], s))
    twice = np.append(False, (np.diff(rows, axis=0) == 0).all(axis=1) & (np.diff(s) == 0))[: len(rows)]
    bad = ~are_siblings(rows, lengths[s]) | (order != np.arange(len(rows))) | twice
    if bad.any():
        c = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"Row {c} of siblings, {rows[c].tolist()}, has no head, inner and outer word, or is out of order."
        )
    return np.ascontiguousarray(rows, dtype=np.int32), starts.astype(np.int64)


def are_siblings(rows: Array, words: npt.ArrayLike) -> Array:
    """Return which rows are a head, a word between both or the head again, and a word, of so many words."""
    head, inner, outer = rows.T.astype(np.int64)
    between = ((head < inner) & (inner < outer)) | ((outer < inner) & (inner < head)) | (inner == head)
    known = (np.minimum(head, outer - 1) >= 0) & (np.maximum(head, outer) <= words) & (head != outer)
    return np.asarray(between & known)


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


def every_sibling(lengths: Array, allowed: Array | None = None) -> tuple[Array, Array]:
    """Return all rows of sentences, (C, 3), and where those of each begin.

    They are sorted by sentence, head, outer and inner word. ``allowed`` says which arcs there are, row by row
    as in `DependencyBatch`; a row has arcs to both words.
    """
    s, head, outer = _arcs(lengths, allowed)
    right = outer > head
    # One group for all words of a head on one side of it; arcs are in the order of words.
    new = np.append(True, (np.diff(s) != 0) | (np.diff(head) != 0) | (np.diff(right) != 0))[: len(s)]
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, len(s)))
    place = np.arange(len(s)) - np.repeat(begin, size)
    # Nearer to the head are the words before on its right, and those behind on its left.
    nearer = np.where(right, place, np.repeat(size, size) - 1 - place)
    count = nearer + 1
    require_memory("Every pair of siblings", 60 * int(count.sum()))
    arc = np.repeat(np.arange(len(s)), count)
    step = np.arange(len(arc)) - np.repeat(np.cumsum(count) - count, count)
    on_right = right[arc]
    # In the order of words the head itself comes first on its right, and last on its left.
    first = np.where(on_right, step == 0, step == nearer[arc])
    other = np.where(on_right, arc - place[arc] + step - 1, arc + 1 + step)
    inner = np.where(first, head[arc], outer[np.where(first, 0, other)] if len(arc) else 0)
    rows = np.stack([head[arc], inner, outer[arc]], axis=1).astype(np.int32)
    return rows, offsets_of(np.bincount(s[arc], minlength=len(lengths)))


def _arcs(lengths: Array, allowed: Array | None) -> tuple[Array, Array, Array]:
    """Return sentence, head and word of all arcs, sorted by these."""
    count = lengths * (lengths + 1)
    kept = np.arange(int(count.sum())) if allowed is None else np.flatnonzero(allowed)
    starts = offsets_of(count)
    s = np.searchsorted(starts, kept, side="right") - 1
    word, head = np.divmod(kept - starts[s], lengths[s] + 1)
    mine = word + 1 != head
    s, head, word = s[mine], head[mine], word[mine] + 1
    order = np.lexsort((word, head, s))
    return s[order], head[order], word[order]
