"""The tree of labels whose neighbours say most about each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array


def mutual_information(rows: Sequence[Sequence[int | None]]) -> Array:
    """Return I(y_j; y_k) in nats for all pairs of columns of 0 and 1, over rows that have both."""
    values = np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=np.float64)
    zero, one = (values == 0).astype(np.float64), (values == 1).astype(np.float64)
    counts = np.array([[a.T @ b for b in (zero, one)] for a in (zero, one)])  # (2, 2, K, K)
    p = counts / np.maximum(counts.sum(axis=(0, 1)), 1)
    apart = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    ratio = np.divide(p, apart, out=np.ones_like(p), where=p > 0)
    return np.asarray((p * np.log(ratio)).sum(axis=(0, 1)))


def chow_liu_tree(rows: Sequence[Sequence[int | None]]) -> tuple[tuple[int, int], ...]:
    """Return the edges of the tree with the largest sum of mutual information, lower number first.

    Among all trees, it is the one whose best distribution makes the rows most likely
    [chow1968approximating].
    """
    information = mutual_information(rows)
    inside, pairs = [0], []
    for _ in range(1, len(information)):
        outside = [k for k in range(len(information)) if k not in inside]
        part = information[np.ix_(inside, outside)]
        a, b = np.unravel_index(int(part.argmax()), part.shape)
        pairs.append((min(inside[a], outside[b]), max(inside[a], outside[b])))
        inside.append(outside[b])
    return tuple(sorted(pairs))
