"""Several labels for every row of X, which depend on each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import is_list, shown
from ..errors import InputError
from ._label_graphs_base import LabelGraph, Pairs, Rows, number_of


@dataclass(frozen=True)
class MultiLabel(LabelGraph):
    """Rows with several labels each: whether one applies depends on which others do.

    X is an (n, D) array, y an (n, K) array of 0 and 1, and so are predictions; `predict_marginals` is
    (n, K), the probability of each label. An entry of y that was not observed is None or NaN. Each label
    has weights of its own: ``classes_`` are the 2K pairs (name, 0) and (name, 1), names being those of the
    columns of a frame, or numbers.

    Parameters
    ----------
    edges : "full", "tree" or list of pairs
        Which labels depend on each other directly: all pairs; those of the tree that makes the training
        labels most likely [chow1968approximating]; or these pairs, by number or name. [] is for labels that
        do not depend on each other.
    inference : "exact" or settings of another way
        How to sum over labellings, as in `Graph`. With "full", exact sums take time 2^K.
    names, pairs : tuple, optional
        Names of labels, and which depend on each other; estimators fill them in.
    """

    edges: Any = "full"

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        if self.edges not in ("full", "tree") if isinstance(self.edges, str) else not is_list(self.edges):
            raise InputError(f"edges is {shown(self.edges)}; it must be 'full', 'tree' or a list of pairs.")

    def _pairs(self, names: tuple[Hashable, ...], rows: Rows) -> Pairs:
        if isinstance(self.edges, str):
            return tuple(combinations(range(len(names)), 2)) if self.edges == "full" else chow_liu_tree(rows)
        found = [_numbers(f"edges[{n}]", pair, names) for n, pair in enumerate(self.edges)]
        for n, pair in enumerate(found):
            if pair in found[:n]:
                raise InputError(f"edges[{n}] is {shown(self.edges[n])}, which is there before.")
        return tuple(found)

    def numbers(self, what: str, pair: Any) -> tuple[int, int]:
        """Return the columns of two labels, the lower first, once the labels are known."""
        return _numbers(what, pair, self.names or ())


def _numbers(what: str, pair: Any, names: tuple[Hashable, ...]) -> tuple[int, int]:
    """Return the numbers of two labels, the lower first."""
    found = {number_of(one, names) for one in pair} - {None} if is_list(pair) and len(pair) == 2 else set()
    if len(found) != 2:
        raise InputError(f"{what} is {shown(pair)}; it must be two of the {len(names)} labels.")
    lower, higher = sorted(k for k in found if k is not None)
    return lower, higher


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
