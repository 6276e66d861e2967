"""Right and wrong labels, by position and by sequence."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .pairs import NO_LABEL, Pairs, ratio, read_pairs, read_runs, require_positions
from .sequences import read_row


def token_error(y_true: Any, y_pred: Any) -> float:
    """Return the share of positions with a wrong label: Σ_s Σ_t [ŷ_t ≠ y_t] / Σ_s T_s.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths. Positions whose true label is None or NaN, not observed, are skipped. A
        prediction that is None (abstained) is wrong.

    Examples
    --------
    >>> token_error([["a", "b"], ["a", "a"]], [["a", "a"], ["a", "a"]])
    0.25
    """
    pairs = read_runs(y_true, y_pred)
    require_positions(len(pairs.true))
    return float(1.0 - pairs.right.mean())


def sequence_accuracy(y_true: Any, y_pred: Any) -> float:
    """Return the share of sequences without any wrong label: Σ_s [ŷ = y] / S.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths; a sequence without positions is right. Positions whose true label is None
        or NaN, not observed, are skipped, and so are sequences that have only such positions.

    Examples
    --------
    >>> sequence_accuracy([["a", "b"], ["a", "a"]], [["a", "a"], ["a", "a"]])
    0.5
    """
    pairs = read_pairs(y_true, y_pred)
    if len(pairs.offsets) == 1:
        raise InputError("There is nothing to score: y_true has no sequences.")
    known = (_per_sequence(pairs.observed, pairs) > 0) | (np.diff(pairs.offsets) == 0)
    wrong = _per_sequence(pairs.observed & ~pairs.right, pairs)
    return float((wrong[known] == 0).mean())


def _per_sequence(marked: Array, pairs: Pairs) -> Array:
    """Count the marked positions of every sequence."""
    total = np.concatenate([[0], np.cumsum(marked)])
    return total[pairs.offsets[1:]] - total[pairs.offsets[:-1]]


class AverageScores(NamedTuple):
    """Precision, recall and F1 of several labels, one number each."""

    precision: float
    recall: float
    f1: float


class LabelScores(NamedTuple):
    """Precision, recall and F1 of each label; a quotient 0/0 is 0."""

    labels: list[Hashable]
    """The K labels that are scored."""
    precision: Array
    """(K,) P_k = Σ_t [ŷ_t = y_t = k] / Σ_t [ŷ_t = k]."""
    recall: Array
    """(K,) R_k = Σ_t [ŷ_t = y_t = k] / Σ_t [y_t = k]."""
    f1: Array
    """(K,) F_k = 2 P_k R_k / (P_k + R_k)."""
    support: Array
    """(K,) Σ_t [y_t = k]."""
    micro: AverageScores
    """The same quotients, with numerator and denominator summed over the K labels."""
    macro: AverageScores
    """Means of P_k, R_k and F_k over the K labels."""


def label_scores(y_true: Any, y_pred: Any, *, labels: Any = None) -> LabelScores:
    """Return precision, recall and F1 of every label, over positions.

    For segments rather than positions, see `entity_scores`.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths. Positions whose true label is None or NaN, not observed, are skipped.
    labels : list of labels, optional
        Which labels to score, for example all but "O"; by default all that occur on either side.

    Examples
    --------
    >>> scores = label_scores([["a", "b", "b", "b"]], [["a", "a", "b", "b"]])
    >>> scores.labels, scores.precision.tolist(), scores.support.tolist()
    (['a', 'b'], [0.5, 1.0], [1, 3])
    >>> scores.micro.f1
    0.75
    """
    pairs = read_runs(y_true, y_pred)
    chosen = pairs.labels if labels is None else read_row(labels, "labels")
    true, predicted, right = (_pick(counts, pairs, chosen) for counts in _counts(pairs))
    precision, recall, f1 = _scores(true, predicted, right)
    micro = AverageScores(*(float(x) for x in _scores(true.sum(), predicted.sum(), right.sum())))
    macro = AverageScores(*(float(x.mean()) if chosen else 0.0 for x in (precision, recall, f1)))
    return LabelScores(chosen, precision, recall, f1, true, micro, macro)


def _counts(pairs: Pairs) -> tuple[Array, Array, Array]:
    """Return the number of times that each label is true, predicted, and both."""
    size = len(pairs.labels)
    predicted = pairs.predicted[pairs.predicted != NO_LABEL]
    true = np.bincount(pairs.true, minlength=size)
    return true, np.bincount(predicted, minlength=size), np.bincount(pairs.true[pairs.right], minlength=size)


def _pick(counts: Array, pairs: Pairs, chosen: list[Hashable]) -> Array:
    """Return counts of the chosen labels; 0 for one that does not occur."""
    count = dict(zip(pairs.labels, counts.tolist(), strict=True))
    return np.array([count.get(label, 0) for label in chosen], dtype=np.int64)


def _scores(true: Array, predicted: Array, right: Array) -> tuple[Array, Array, Array]:
    # 2PR / (P + R) = 2 right / (true + predicted)
    return ratio(right, predicted), ratio(right, true), ratio(2 * right, true + predicted)
