"""Few questions to each sequence at a time."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def spread_out(scores: Array, offsets: Array, most: int, n: int) -> Array:
    """Return scores of positions, −inf for all but the best few of every sequence.

    More of each are left where that would leave fewer than n.

    Examples
    --------
    >>> spread_out(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 3, 4]), 1, 2).tolist()
    [3.0, -inf, -inf, 0.0]
    >>> spread_out(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 3, 4]), 1, 3).tolist()
    [3.0, 2.0, -inf, 0.0]
    """
    items = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, items))
    rank = np.empty(len(scores), dtype=np.int64)
    rank[order] = np.arange(len(scores)) - offsets[items]
    tier = rank // most
    counts = np.cumsum(np.bincount(tier[np.isfinite(scores)], minlength=1))
    last = int(np.searchsorted(counts, n))
    return np.where(tier <= last, scores, -np.inf)
