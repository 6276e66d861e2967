"""Metrics of scikit-learn for lists of label sequences, by sklearn-crfsuite's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .utils import flatten

Labels = Sequence[Sequence[Any]]


def flat_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """Share of positions labelled right."""
    from sklearn import metrics

    return metrics.accuracy_score(flatten(y_true), flatten(y_pred))


def flat_precision_score(y_true: Labels, y_pred: Labels, **settings: Any) -> Any:
    """Precision over positions."""
    from sklearn import metrics

    return metrics.precision_score(flatten(y_true), flatten(y_pred), **settings)


def flat_recall_score(y_true: Labels, y_pred: Labels, **settings: Any) -> Any:
    """Recall over positions."""
    from sklearn import metrics

    return metrics.recall_score(flatten(y_true), flatten(y_pred), **settings)


def flat_f1_score(y_true: Labels, y_pred: Labels, **settings: Any) -> Any:
    """F1 over positions."""
    from sklearn import metrics

    return metrics.f1_score(flatten(y_true), flatten(y_pred), **settings)


def flat_fbeta_score(y_true: Labels, y_pred: Labels, beta: float, **settings: Any) -> Any:
    """Weighted mean of precision and recall over positions."""
    from sklearn import metrics

    return metrics.fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **settings)


def flat_classification_report(
    y_true: Labels, y_pred: Labels, labels: Sequence[Any] | None = None, **settings: Any
) -> Any:
    """Precision, recall and F1 of every label, as a table."""
    from sklearn import metrics

    return metrics.classification_report(flatten(y_true), flatten(y_pred), labels=labels, **settings)


def sequence_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """Share of sequences without a wrong label; 0 if there are none."""
    if not len(y_true):
        return 0
    right = sum(list(truth) == list(guess) for truth, guess in zip(y_true, y_pred, strict=True))
    return right / len(y_true)
