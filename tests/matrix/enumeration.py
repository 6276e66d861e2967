"""Distributions over labellings by summing over all of them: nothing of the library is used here."""

from __future__ import annotations

from functools import cache
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from .links import edges_of, ends_of


class Scores(NamedTuple):
    """Scores of one sequence of length T, or of a tree or graph of T vertices, with L labels."""

    node: Any
    """(T, L)."""
    edge: Any
    """(T − 1, L, L); of trees an entry for every vertex that has a parent, in order; of graphs two
    for every edge, one for each direction."""
    triple: Any = None
    """(L, L, L), or None."""
    links: Any = None
    """Of a tree parents, of a graph neighbours."""
    lengths: Any = None
    """(T, L) of runs of one label, by their length from 1 on, or None."""

    @property
    def edges(self) -> tuple[Any, Any]:
        """Return both ends of every edge."""
        return edges_of(self.links, len(self.node))


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
    if scores.lengths is not None:
        result = result + [_of_runs(scores.lengths, path) for path in paths.tolist()]
    return result


def _of_runs(lengths: Any, path: list[int]) -> float:
    return sum(lengths[len(list(run)) - 1, label] for label, run in groupby(path))


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
    roots, leaves = ends_of(scores.links, len(node))
    node[np.ix_(roots, forbidden.starts)] = -np.inf
    node[np.ix_(leaves, forbidden.ends)] = -np.inf
    return scores._replace(node=node, edge=np.where(forbidden.pairs, -np.inf, scores.edge))
