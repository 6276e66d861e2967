"""Scorers of sequence labellers, for ``cross_val_score``, ``GridSearchCV`` and their kin.

Each is called as ``scorer(estimator, X, y)`` with lists of sequences and labels, and greater is better.
"""

from __future__ import annotations

from typing import Any, Protocol

from ._pairs import read_sequences
from .calibration import log_likelihood
from .entities import entity_f1
from .tokens import sequence_accuracy, token_error


class Labeller(Protocol):
    """What labels sequences."""

    def predict(self, X: Any) -> Any:
        """Give a label sequence for every sequence."""


class ProbabilisticLabeller(Protocol):
    """What gives labellings a probability."""

    def sequence_log_proba(self, X: Any, y: Any) -> Any:
        """Give log p(y|x) for every sequence."""


def entity_f1_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """F of entities, as conlleval computes it; see `entity_f1`."""
    return entity_f1(y, estimator.predict(X))


def token_accuracy_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """Share of positions labelled right; 1 − `token_error`."""
    return 1.0 - token_error(y, estimator.predict(X))


def sequence_accuracy_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """Share of sequences labelled right throughout; see `sequence_accuracy`."""
    return sequence_accuracy(y, estimator.predict(X))


def log_likelihood_scorer(estimator: ProbabilisticLabeller, X: Any, y: Any) -> float:
    """Log p(y|x) per position; see `log_likelihood`."""
    lengths = [len(labels) for labels in read_sequences(y, "y")]
    return log_likelihood(estimator.sequence_log_proba(X, y), lengths)
