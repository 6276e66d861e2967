"""The gradient at weights of zero, rounded as CRFsuite rounds it where that decides where weights start.

There all labels are equally likely, and the gradient of an attribute with label y is n / L − n_y for counts n
and n_y: with a whole c1 its size is often c1 itself. A weight of OWL-QN stays at zero if the size is at most
c1, and otherwise steps off, by 1e-16 if rounding alone lifts it; from there it may go on to one side only.
So the last bit of CRFsuite's sum decides on the way to come, and has to be the same; it is that of
processors and compilers that round every product and every sum, as on x86-64.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from .training_set import CRFsuiteTraining

TIE = 1e-8
"""How close to c1, relatively, sizes are summed anew."""


class UniformChain(NamedTuple):
    """A sequence all whose labels are equally likely."""

    nodes: Array
    """Probability of a label at each position."""
    pair: float
    """Expected number of times that a label pair occurs."""


def resolve_ties(training: CRFsuiteTraining, gradient: Array, c1: float) -> None:
    """Sum those entries of the gradient at zero anew that are ±c1 but for rounding, in place."""
    near = np.flatnonzero(np.abs(np.abs(gradient) - c1) <= TIE * c1)
    if not len(near):
        return
    sequences = {T: _uniform(T, training.n_labels) for T in np.unique(training.data.lengths).tolist()}
    nodes, edges = near[near < training.nodes.size], near[near >= training.nodes.size]
    gradient[nodes] = _of_attributes(training, nodes, sequences)
    gradient[edges] = _of_pairs(training, edges - training.nodes.size, sequences)


def _of_attributes(
    training: CRFsuiteTraining, places: Array, sequences: dict[int, UniformChain]
) -> list[float]:
    data, pairs = training.data, training.pairs
    likely = np.concatenate([sequences[T].nodes for T in data.lengths.tolist()])
    columns, where = np.unique(pairs.feature[places], return_inverse=True)
    matrix = data.features[:, columns].tocsc()
    matrix.sort_indices()
    result = []
    for column, label in zip(where.tolist(), pairs.label[places].tolist(), strict=True):
        part = slice(matrix.indptr[column], matrix.indptr[column + 1])
        rows, values = matrix.indices[part], matrix.data[part]
        count = _summed(0.0, values[data.labels[rows] == label])
        result.append(_summed(-count, likely[rows] * values))
    return result


def _of_pairs(training: CRFsuiteTraining, places: Array, sequences: dict[int, UniformChain]) -> list[float]:
    data, chain, L = training.data, training.chain, training.n_labels
    seen = data.labels[chain.edge_tails] * L + data.labels[chain.edge_heads]
    counts = np.bincount(seen, minlength=L * L)
    expected = np.array([sequences[T].pair for T in data.lengths.tolist()])
    return [_summed(-float(counts[place]), expected) for place in places.tolist()]


def _uniform(length: int, n_labels: int) -> UniformChain:
    """Run CRFsuite's forward-backward recursion at weights of zero: one number stands for all labels."""

    @cache  # messages soon stay the same
    def over_labels(number: float) -> float:
        return _summed(0.0, np.full(n_labels, number))

    scale: list[float] = []
    forward: list[float] = []
    for t in range(length):
        message = over_labels(forward[t - 1]) if t else 1.0
        scale.append(1 / over_labels(message))
        forward.append(message * scale[t])
    backward = scale.copy()
    for t in reversed(range(length - 1)):
        backward[t] = over_labels(backward[t + 1]) * scale[t]
    nodes = [a * b * (1 / c) for a, b, c in zip(forward, backward, scale, strict=True)]
    edges = [a * b for a, b in zip(forward, backward[1:], strict=False)]
    return UniformChain(np.array(nodes), _summed(0.0, np.array(edges)))


def _summed(start: float, numbers: Array) -> float:
    """Add up from the first to the last; ``np.sum`` adds by halves."""
    return float(np.cumsum(np.append(start, numbers))[-1])
