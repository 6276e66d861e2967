"""Distributions over labellings by summing over all of them: nothing of the library is used here."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp


class Scores(NamedTuple):
    """Scores of one sequence of length T with L labels."""

    node: Any
    """(T, L)."""
    edge: Any
    """(T − 1, L, L)."""
    triple: Any = None
    """(L, L, L), or None."""


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
    result = result + scores.edge[np.arange(length - 1), paths[:, :-1], paths[:, 1:]].sum(axis=1)
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
    node[0, forbidden.starts] = -np.inf
    node[-1, forbidden.ends] = -np.inf
    return scores._replace(node=node, edge=np.where(forbidden.pairs, -np.inf, scores.edge))
