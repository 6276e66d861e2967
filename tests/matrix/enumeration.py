"""Distributions over labellings by summing over all of them: nothing of the library is used here."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp


class Scores(NamedTuple):
    """Scores of one sequence of length T, or of a tree of T vertices, with L labels."""

    node: Any
    """(T, L)."""
    edge: Any
    """(T − 1, L, L); of trees an entry for every vertex that has a parent, in order."""
    triple: Any = None
    """(L, L, L), or None."""
    parents: Any = None
    """Of a tree, −1 for roots."""

    @property
    def edges(self) -> tuple[Any, Any]:
        """Return both ends of every edge."""
        return edges_of(self.parents, len(self.node))


def edges_of(parents: Any, length: int) -> tuple[Any, Any]:
    """Return the vertices that edges come from, and those they lead to."""
    if parents is None:
        return np.arange(length - 1), np.arange(1, length)
    heads = np.array([v for v, parent in enumerate(parents) if parent >= 0], dtype=int)
    return np.array([parents[v] for v in heads], dtype=int), heads


def ends_of(parents: Any, length: int) -> tuple[list[int], list[int]]:
    """Return roots and leaves, which are the first and the last position of a sequence."""
    tails, heads = edges_of(parents, length)
    return sorted({*range(length)} - {*heads}), sorted({*range(length)} - {*tails})


class Distribution(NamedTuple):
    """All labellings of a sequence."""

    labellings: Any
    """(K, T)."""
    log_probabilities: Any
    """(K,)."""
    marginals: Any
    """(T, L)."""


@cache
def labellings(length: int, count: int) -> Any:
    """Every labelling, (L^T, T)."""
    return np.array(list(product(range(count), repeat=length)), dtype=int).reshape(-1, length)


def totals(scores: Scores, paths: Any) -> Any:
    """The score of each of some labellings."""
    length = paths.shape[1]
    result = scores.node[np.arange(length), paths].sum(axis=1)
    tails, heads = scores.edges
    result = result + scores.edge[np.arange(len(heads)), paths[:, tails], paths[:, heads]].sum(axis=1)
    if scores.triple is not None:
        result = result + scores.triple[paths[:, :-2], paths[:, 1:-1], paths[:, 2:]].sum(axis=1)
    return result


def distribution(scores: Scores) -> Distribution:
    """p(y|x) ∝ exp(score(y)), by its definition."""
    length, count = scores.node.shape
    paths = labellings(length, count)
    values = totals(scores, paths)
    log_p = values - logsumexp(values)
    marginals = np.stack(
        [np.bincount(paths[:, t], weights=np.exp(log_p), minlength=count) for t in range(length)]
    )
    return Distribution(paths, log_p, marginals)


def forbid(scores: Scores, forbidden: Any) -> Scores:
    """Scores with −inf for what rules forbid."""
    if forbidden is None:
        return scores
    node = np.array(scores.node, dtype=np.float64)
    roots, leaves = ends_of(scores.parents, len(node))
    node[np.ix_(roots, forbidden.starts)] = -np.inf
    node[np.ix_(leaves, forbidden.ends)] = -np.inf
    return scores._replace(node=node, edge=np.where(forbidden.pairs, -np.inf, scores.edge))
