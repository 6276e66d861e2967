"""The error of a model that abstains where it is not certain enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._marginals import ObservedMarginals, read_marginals
from ._numbers import read_numbers
from .pairs import read_pairs


class AnsweredCurve(NamedTuple):
    """The error against the fraction answered; c_t is the marginal of the label answered at position t."""

    thresholds: Array
    """(M,) τ, ascending."""
    answered: Array
    """(M,) share of positions with c_t ≥ τ."""
    error: Array
    """(M,) share of those with a wrong label; NaN where nothing is answered."""


def answered_curve(
    y_true: Any, marginals: Any, classes: Any, *, y_pred: Any = None, thresholds: Any = None
) -> AnsweredCurve:
    """Return the error of the labels that remain when a model abstains below a threshold.

    Parameters
    ----------
    y_true : list of label sequences
        A label that is not among the classes has probability 0. Positions whose label is None or NaN,
        not observed, are skipped.
    marginals : list of (T, L) arrays
        p(y_t|x), as ``predict_marginals`` returns them.
    classes : (L,) sequence of labels
        The labels of the columns, ``classes_`` of the model.
    y_pred : list of label sequences, optional
        The labels to answer, for example of the best sequence; by default the most probable label at each
        position.
    thresholds : (M,) array, optional
        Where to evaluate, in any order; by default at every confidence that occurs: the whole curve.

    Examples
    --------
    >>> curve = answered_curve([["a", "b"]], [[[0.9, 0.1], [0.7, 0.3]]], ["a", "b"])
    >>> curve.answered.tolist(), curve.error.tolist()
    ([1.0, 0.5], [0.5, 0.0])
    """
    judged = read_marginals(y_true, marginals, classes)
    labels = judged.marginals.argmax(axis=1) if y_pred is None else _answers(y_true, y_pred, judged)
    confidence = judged.marginals[np.arange(len(labels)), labels]
    levels = np.unique(confidence) if thresholds is None else _levels(thresholds)
    return answered_by(confidence, labels != judged.true, levels)


def answered_by(confidence: Array, wrong: Array, levels: Array) -> AnsweredCurve:
    """Return the same of any answers, from their probabilities and whether they are wrong."""
    order = np.argsort(confidence)
    kept = len(order) - np.searchsorted(confidence[order], levels, side="left")
    errors = np.concatenate([[0], np.cumsum(wrong[order][::-1])])[kept]
    error = np.divide(errors, kept, out=np.full(len(levels), np.nan), where=kept > 0)
    return AnsweredCurve(levels, kept / max(len(order), 1), error)


def _levels(thresholds: Any) -> Array:
    """Return thresholds, ascending."""
    levels = read_numbers(thresholds, "thresholds")
    if levels.ndim != 1 or np.isnan(levels).any():
        raise InputError("thresholds must be a list of numbers without NaN.")
    return np.sort(levels)


def _answers(y_true: Any, y_pred: Any, judged: ObservedMarginals) -> Array:
    """Return predicted labels as indices into the classes, where the true label is observed."""
    pairs = read_pairs(y_true, y_pred)
    labels = np.array([judged.columns.get(label, -1) for label in pairs.labels] + [-1])[pairs.predicted]
    foreign = np.flatnonzero(pairs.observed & (labels < 0))
    if len(foreign):
        s, t = pairs.place(int(foreign[0]))
        raise InputError(f"Sequence {s} of y_pred has a label at position {t} that is not among the classes.")
    return labels[pairs.observed]
