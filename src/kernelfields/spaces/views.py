"""Views: one observation for every clique, made of those of its members.

A view is a function of the observations of vertices, (N, D), and of the members of cliques, (C, a), that
returns (C, D′). Functions of cliques then see what is not at one vertex alone: a kernel on edges with
`concatenated` compares both ends, as k(x_c, x′_c) over whole cliques asks for [lafferty2004]. A member of
−1, none, has the observation 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array

View = Callable[[Any, Array], Any]
"""From observations of vertices, dense or sparse, and members of cliques to observations of cliques."""


def concatenated(observations: Any, members: Array) -> Any:
    """Return the observations of all members side by side, (C, a·D)."""
    columns = _columns(observations, members)
    return sparse.hstack(columns, format="csr") if sparse.issparse(observations) else np.hstack(columns)


def difference(observations: Any, members: Array) -> Any:
    """Return the observation of the last member minus that of the first, (C, D)."""
    return _rows(observations, members[:, -1]) - _rows(observations, members[:, 0])


def mean(observations: Any, members: Array) -> Any:
    """Return the mean over the members that there are, (C, D)."""
    count = np.maximum((members >= 0).sum(axis=1), 1)
    total = sum(_columns(observations, members)[1:], _rows(observations, members[:, 0]))
    scale = (1.0 / count).astype(observations.dtype)
    return (
        sparse.diags_array(scale).tocsr() @ total if sparse.issparse(observations) else scale[:, None] * total
    )


def run_mean(observations: Any, members: Array) -> Any:
    """Return the mean over all vertices from the first member to the last, (C, D): that of a segment."""
    first, count = members[:, 0], members[:, -1] - members[:, 0] + 1
    if not sparse.issparse(observations):
        sums = np.zeros((len(observations) + 1, observations.shape[1]))
        np.cumsum(observations, axis=0, dtype=np.float64, out=sums[1:])
        return ((sums[first + count] - sums[first]) / count[:, None]).astype(observations.dtype)
    starts = np.concatenate([[0], np.cumsum(count)])
    rows = np.repeat(first - starts[:-1], count) + np.arange(starts[-1])
    share = np.repeat(1.0 / count, count).astype(observations.dtype)
    pool = sparse.csr_matrix((share, rows, starts), (len(members), observations.shape[0]))
    return pool @ observations


def _columns(observations: Any, members: Array) -> list[Any]:
    return [_rows(observations, column) for column in members.T]


def _rows(observations: Any, vertices: Array) -> Any:
    """Observations of some vertices; 0 for none."""
    there = vertices >= 0
    if there.all():
        return observations[vertices]
    if sparse.issparse(observations):
        return sparse.diags_array(there.astype(observations.dtype)).tocsr() @ observations[vertices]
    return np.where(there[:, None], observations[vertices], 0)
