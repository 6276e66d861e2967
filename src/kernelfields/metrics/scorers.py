"""Scorers of sequence labellers, for ``cross_val_score``, ``GridSearchCV`` and the like.

Each is called as ``scorer(estimator, X, y)`` with lists of sequences and labels; greater is better.
Positions whose label is None or NaN, not observed, are skipped; a label that the model does not know is
predicted wrong.
"""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any, Protocol

import numpy as np

from ..arrays import Array
from ..errors import InputError, warn_user
from .calibration import log_likelihood
from .entities import entity_f1
from .pairs import observed_counts, require_observed
from .sequences import read_sequences
from .steps import for_sequences, last_step
from .tokens import sequence_accuracy, token_error

FLOOR = float(np.log(np.finfo(np.float64).eps))
"""The logarithm of the least probability that scikit-learn's ``log_loss`` counts, about −36."""


class Labeller(Protocol):
    """An object that labels sequences."""

    def predict(self, X: Any) -> Any:
        """Return a label sequence for every sequence."""


def entity_f1_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """Return F1 of entities, as conlleval computes it; see `entity_f1`."""
    return entity_f1(y, estimator.predict(X))


def token_accuracy_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """Return the share of positions labelled right, 1 − `token_error`."""
    return 1.0 - token_error(y, estimator.predict(X))


def sequence_accuracy_scorer(estimator: Labeller, X: Any, y: Any) -> float:
    """Return the share of sequences without a wrong label; see `sequence_accuracy`."""
    return sequence_accuracy(y, estimator.predict(X))


def log_likelihood_scorer(estimator: Any, X: Any, y: Any, *, floor: float = FLOOR) -> float:
    """Return log p(y|x) per observed position; see `log_likelihood`.

    A label that is unknown to the model, because it was not in the training set, is impossible, and so is a
    labelling that its constraints forbid. Their log-probability of −∞ would make all candidates of a search
    equal, whatever else they predict. Therefore an unknown label counts as ``floor``, the other labels of
    its sequence by their probability, and no sequence counts less than ``floor`` times its number of
    labels; a warning says how many were affected.

    Parameters
    ----------
    estimator : sequence labeller
        A model with ``sequence_log_proba``, or a pipeline or search whose last step or best estimator is one.
    X, y : lists of sequences and of label sequences
        Labels that are None or NaN are not observed.
    floor : float
        The least log-probability per position, −inf for no limit; ``functools.partial`` makes a scorer with
        another floor.
    """
    if not isinstance(floor, Real) or not floor <= 0:
        raise InputError(f"floor is {floor!r}; it must be a log-probability, 0 or less.")
    labeller, inputs = last_step(estimator, X)
    labeller = for_sequences(labeller)
    if not hasattr(labeller, "sequence_log_proba"):
        raise TypeError(
            f"{type(labeller).__name__} has no sequence_log_proba, which the log-likelihood needs."
        )
    labels = read_sequences(y, "y")
    require_observed(labels)
    known = _known(labels, labeller.classes_)
    counted = np.array(observed_counts(known))
    new = np.array(observed_counts(labels)) - counted
    log_proba = np.asarray(labeller.sequence_log_proba(inputs, known), dtype=np.float64)
    _warn(int(new.sum()), int((log_proba < _times(counted, floor)).sum()), floor)
    values = np.maximum(log_proba, _times(counted, floor)) + _times(new, floor)
    return log_likelihood(values, counted + new)


def _known(y: list[list[Hashable]], classes: Any) -> list[list[Hashable]]:
    """Return the labels, with None for those that are not among the classes."""
    names = set(np.asarray(classes).tolist())
    return [[label if label in names else None for label in labels] for labels in y]


def _times(counts: Array, floor: float) -> Array:
    """Return counts · floor, 0 · −∞ = 0."""
    return np.multiply(counts, floor, out=np.zeros(len(counts)), where=counts > 0)


def _warn(new: int, improbable: int, floor: float) -> None:
    """Warn of what the floor replaced."""
    found = [f"labels of y unknown to the model: {new}"] if new else []
    found += [f"sequences less probable than the floor: {improbable}"] if improbable else []
    if found:
        counted = f"such positions count with a log-probability of {floor:.4g}."
        warn_user(f"{'; '.join([*found, counted]).capitalize()}", UserWarning)
