"""Online rules as the textbook has them: every labelling of every sequence is written down.

A labelling y of x has one vector of features Φ(x, y), and its score is ⟨w, Φ(x, y)⟩. Maxima and
expectations are taken over the list of all of them. For tiny sequences; slow, and obviously right.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array


class EnumeratedSequence(NamedTuple):
    """All labellings of one sequence."""

    labels: Array
    """(M, T), the last label counting most in their order: the first of equals is the best."""
    features: Array
    """(M, K), Φ(x, y)."""
    offset: Array
    """(M,), fixed scores: −inf where forbidden."""
    right: int
    """Which of them is the right one."""


def joint_features(x: Array, labels: Iterable[int], n_labels: int) -> Array:
    """Φ(x, y): features by label (D·L), bias (L), first and last label (2L), label pairs (L²)."""
    labels = list(labels)
    nodes = np.zeros((x.shape[1], n_labels))
    bias, ends, edges = np.zeros(n_labels), np.zeros((2, n_labels)), np.zeros((n_labels, n_labels))
    for t, label in enumerate(labels):
        nodes[:, label] += x[t]
        bias[label] += 1
    ends[0, labels[0]] += 1
    ends[1, labels[-1]] += 1
    for here, there in itertools.pairwise(labels):
        edges[here, there] += 1
    return np.concatenate([nodes.ravel(), bias, ends.ravel(), edges.ravel()])


def candidates(x: Array, right: Iterable[int], mask: Array, small: Array, edge: Array) -> EnumeratedSequence:
    """Write down all labellings; ``mask`` (K,) says which weights there are.

    ``small`` (3, L) are fixed scores of every, the first and the last label, ``edge`` (L, L) of pairs.
    """
    L = len(edge)
    labels = [y[::-1] for y in itertools.product(range(L), repeat=len(x))]
    features = np.array([joint_features(x, y, L) * mask for y in labels])
    offset = np.array(
        [
            small[0, list(y)].sum()
            + small[1, y[0]]
            + small[2, y[-1]]
            + sum(edge[p] for p in itertools.pairwise(y))
            for y in labels
        ]
    )
    return EnumeratedSequence(np.array(labels), features, offset, labels.index(tuple(right)))


def descend(
    sequences: Iterable[EnumeratedSequence],
    w: Array,
    step: float,
    decay: Array,
    weights: Iterable[float] | None = None,
) -> Iterator[Array]:
    """Stochastic gradient descent on the log loss; ``decay`` (K,) is λ/S of every weight.

    Its first entry also sets the pace at which steps become shorter.
    """
    count = itertools.repeat(1.0) if weights is None else weights
    for t, (sequence, times) in enumerate(zip(sequences, count, strict=False)):
        scores = sequence.features @ w + sequence.offset
        p = np.exp(scores - scores.max())
        gradient = times * (p @ sequence.features / p.sum() - sequence.features[sequence.right])
        eta = step / (1 + step * decay[0] * t)
        w = (w - eta * gradient) / (1 + eta * decay)
        yield w


class Mistake(NamedTuple):
    """The best labelling, where it is not the right one."""

    difference: Array
    """Φ(x, y) − Φ(x, ŷ)."""
    margin: float
    """⟨w, Φ(x, ŷ) − Φ(x, y)⟩, not negative."""
    wrong: int
    """At how many positions they differ."""


def mistake(sequence: EnumeratedSequence, w: Array) -> Mistake | None:
    """Compare the best labelling with the right one; None if they are the same."""
    scores = sequence.features @ w + sequence.offset
    best, right = int(np.argmax(scores)), sequence.right
    if best == right:
        return None
    wrong = int((sequence.labels[best] != sequence.labels[right]).sum())
    difference = sequence.features[right] - sequence.features[best]
    return Mistake(difference, float(scores[best] - scores[right]), wrong)


def perceptron(sequences: Iterable[EnumeratedSequence], w: Array) -> Iterator[Array]:
    """Add what was missed [collins2002discriminative, Figure 1]."""
    for sequence in sequences:
        found = mistake(sequence, w)
        w = w if found is None else w + found.difference
        yield w


def passive_aggressive(
    sequences: Iterable[EnumeratedSequence], w: Array, variant: int, c: float, error_sensitive: bool
) -> Iterator[Array]:
    """Change as little as removes the loss [crammer2006online, section 10]; variant 0, 1 or 2."""
    for sequence in sequences:
        found = mistake(sequence, w)
        if found is not None:
            loss = found.margin + (np.sqrt(found.wrong) if error_sensitive else 1.0)
            square = found.difference @ found.difference
            steps = [loss / square, min(c, loss / square), loss / (square + 1 / (2 * c))]
            w = w + steps[variant] * found.difference
        yield w


def arow(sequences: Iterable[EnumeratedSequence], w: Array, variance: float, gamma: float) -> Iterator[Array]:
    """Change what is uncertain [crammer2009adaptive, Figure 1], the diagonal of the covariance kept."""
    sigma = np.full(len(w), variance)
    for sequence in sequences:
        found = mistake(sequence, w)
        if found is not None:
            d = found.difference
            w = w + (found.margin + found.wrong) / (d @ (sigma * d) + gamma) * sigma * d
            sigma = 1 / (1 / sigma + d * d / gamma)
        yield w
