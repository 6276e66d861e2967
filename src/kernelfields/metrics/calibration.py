"""The quality of probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from ._marginals import read_marginals
from ._numbers import read_numbers
from .pairs import ratio

MOST_BINS = 1_000_000


def log_likelihood(log_proba: Any, lengths: Any) -> float:
    """Return the log-likelihood per position: Σ_s log p(y_s|x_s) / Σ_s T_s.

    Parameters
    ----------
    log_proba : (S,) array
        log p(y|x) of whole sequences, as ``sequence_log_proba`` returns them.
    lengths : (S,) array of int
        T_s, the number of observed labels of each sequence: its length if all are observed.

    Examples
    --------
    >>> log_likelihood([-1.0, -2.0], [2, 4])
    -0.5
    """
    values, sizes = read_numbers(log_proba, "log_proba"), read_numbers(lengths, "lengths")
    if values.ndim != 1 or values.shape != sizes.shape:
        raise InputError(f"log_proba has shape {values.shape}, but lengths has {sizes.shape}.")
    if np.isnan(values).any():
        raise InputError(f"Sequence {int(np.flatnonzero(np.isnan(values))[0])} of log_proba is NaN.")
    if not (np.isfinite(sizes) & (sizes >= 0) & (sizes == np.floor(sizes))).all():
        raise InputError("lengths must be whole numbers of at least 0.")
    if sizes.sum() == 0:
        raise InputError("There is nothing to score: the sequences have no positions.")
    return float(values.sum() / sizes.sum())


def brier_score(y_true: Any, marginals: Any, classes: Any) -> float:
    """Return the mean squared error of the marginals: Σ_t Σ_k (p(y_t = k|x) − [y_t = k])² / N.

    It is 0 at best and 2 at worst. Unlike the calibration error it is a proper scoring rule: only the true
    probabilities minimise its expectation.

    Parameters
    ----------
    y_true : list of label sequences
        A label that is not among the classes has probability 0. Positions whose label is None or NaN,
        not observed, are skipped.
    marginals : list of (T, L) arrays
        p(y_t|x), as ``predict_marginals`` returns them.
    classes : (L,) sequence of labels
        The labels of the columns, ``classes_`` of the model.

    Examples
    --------
    >>> brier_score([["a", "b"]], [[[1.0, 0.0], [0.5, 0.5]]], ["a", "b"])
    0.25
    """
    true, p, _ = read_marginals(y_true, marginals, classes)
    of_truth = np.where(true >= 0, p[np.arange(len(p)), true], 0.0)
    # Σ_k (p_k − [y = k])² = Σ_k p_k² − 2 p_y + 1
    return float(np.mean(np.einsum("nk,nk->n", p, p) - 2.0 * of_truth + 1.0))


class Reliability(NamedTuple):
    """Confidence and accuracy by bins of confidence, for B bins."""

    edges: Array
    """(B + 1,) bin b holds the positions with edges_b < max_k p(y_t = k|x) ≤ edges_{b+1}."""
    support: Array
    """(B,) n_b, the number of positions in the bin."""
    confidence: Array
    """(B,) mean of max_k p(y_t = k|x) over the bin; 0 where it is empty."""
    accuracy: Array
    """(B,) share of the bin in which argmax_k p(y_t = k|x) is right; 0 where it is empty."""


def reliability(y_true: Any, marginals: Any, classes: Any, *, bins: int = 10) -> Reliability:
    """Return the accuracy of the most probable labels against their probability, in bins of equal width.

    Parameters
    ----------
    y_true, marginals, classes
        As for `brier_score`.
    bins : int
        B, the number of bins between 0 and 1.

    Examples
    --------
    >>> reliability([["a", "b"]], [[[0.9, 0.1], [0.7, 0.3]]], ["a", "b"], bins=2).accuracy.tolist()
    [0.0, 0.5]
    """
    bins = require_whole("bins", bins, 1, MOST_BINS)
    true, p, _ = read_marginals(y_true, marginals, classes)
    best = p.argmax(axis=1)
    confidence = p[np.arange(len(p)), best]
    return reliability_of(confidence, best == true, bins)


def reliability_of(confidence: Array, right: Array, bins: int = 10) -> Reliability:
    """Return the same of any answers, from their probabilities and whether they are right."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    bin_of = np.searchsorted(edges[1:-1], confidence, side="left")
    count = np.bincount(bin_of, minlength=bins)
    total = np.bincount(bin_of, weights=confidence, minlength=bins)
    good = np.bincount(bin_of, weights=right, minlength=bins)
    return Reliability(edges, count, ratio(total, count), ratio(good, count))


def expected_calibration_error(y_true: Any, marginals: Any, classes: Any, *, bins: int = 10) -> float:
    """Return the mean gap between confidence and accuracy of the most probable labels.

    Σ_b (n_b / N) |accuracy_b − confidence_b| over the bins of `reliability`.

    Parameters
    ----------
    y_true, marginals, classes
        As for `brier_score`.
    bins : int
        The number of bins of equal width.

    Examples
    --------
    >>> marginals = [[[0.75, 0.25], [0.75, 0.25]]]
    >>> expected_calibration_error([["a", "b"]], marginals, ["a", "b"])
    0.25
    """
    return calibration_gap(reliability(y_true, marginals, classes, bins=bins))


def calibration_gap(table: Reliability) -> float:
    """Return the mean gap between confidence and accuracy of the bins."""
    return float(np.average(abs(table.accuracy - table.confidence), weights=table.support))
