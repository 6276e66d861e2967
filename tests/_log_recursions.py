"""log Z of trees in logarithms, many rows of scores at once: plain recursions, written down a second time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelfields.arrays import Array
from tests._listed_parses import row_of


def phrases(n: int, labels: int, empty: bool) -> Callable[[Array], Array]:
    """Binary trees over n words: S(i, j) = log Σ_k exp(left(i, k) + right(k, j)), and labels."""

    def log_partitions(theta: Array) -> Array:
        scores = theta.reshape(len(theta), -1, labels)
        left: dict[tuple[int, int], Array] = {}
        right: dict[tuple[int, int], Array] = {}
        for size in range(1, n + 1):
            for i in range(n - size + 1):
                j, here = i + size, scores[:, row_of(n, i, i + size)]
                splits = [left[i, k] + right[k, j] for k in range(i + 1, j)]
                inside = log_sum(np.stack(splits)) if splits else 0.0
                right[i, j] = inside + log_sum(here.T)
                left[i, j] = inside + log_sum(here.T[1:]) if empty and size > 1 else right[i, j]
        return left[0, n]

    return log_partitions


def all_trees(n: int, single_root: bool) -> Callable[[Array], Array]:
    """Trees over n words: elimination of words from a Laplacian, nothing of which is subtracted."""

    def log_partitions(theta: Array) -> Array:
        arcs = theta.reshape(len(theta), n, n + 1)
        if not single_root:
            return rooted(arcs)
        each = []
        for r in range(1, n + 1):  # the only word of the root is then the root of the others
            others = [m for m in range(1, n + 1) if m != r]
            each.append(arcs[:, r - 1, 0] + rooted(arcs[:, [m - 1 for m in others]][:, :, [r, *others]]))
        return log_sum(np.stack(each))

    return log_partitions


def rooted(arcs: Array) -> Array:
    """Trees below column 0; word m is row m − 1 and column m."""
    arcs = arcs.copy()
    total = np.zeros(len(arcs))
    for k in range(arcs.shape[1], 0, -1):
        heads = arcs[:, k - 1, :k]
        divisor = log_sum(heads.T)
        total = total + divisor
        share = np.where(
            np.isneginf(divisor)[:, None],
            -np.inf,
            heads - np.where(np.isneginf(divisor), 0, divisor)[:, None],
        )
        for m in range(1, k):
            arcs[:, m - 1, :k] = np.logaddexp(arcs[:, m - 1, :k], arcs[:, m - 1, k, None] + share)
            arcs[:, m - 1, m] = -np.inf
    return total


def log_sum(values: Array) -> Array:
    """log Σ exp over the first axis."""
    top = values.max(axis=0)
    finite = np.where(np.isneginf(top), 0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(finite + np.log(np.exp(values - finite).sum(axis=0)))
