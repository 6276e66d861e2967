"""Labels that a model gives to what has none, and how sure it is of them."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..data.groups import pick
from ..errors import InputError

Labelled = list[list[Any] | None]
"""The labels of every sequence so far; None for those without any, and at positions without one."""


class PseudoLabels(NamedTuple):
    """What a model would label, one entry for every sequence or position that can be chosen."""

    sequences: Array
    positions: Array
    """−1 where the whole sequence is meant."""
    labels: list[Any]
    confidence: Array
    """Probabilities."""
    lengths: dict[int, int]
    """How many positions every sequence has."""

    def chosen(self, threshold: float, most: int | None) -> Array:
        """Return the entries above a threshold, only so many of the surest if there is a limit."""
        above = np.flatnonzero(self.confidence > threshold)
        if most is None or len(above) <= most:
            return above
        return np.sort(above[np.argsort(-self.confidence[above], kind="stable")[:most]])

    def put(self, into: Labelled, chosen: Array) -> None:
        """Write chosen labels beside those that there are."""
        for entry in chosen.tolist():
            s, t = int(self.sequences[entry]), int(self.positions[entry])
            if t < 0:
                into[s] = list(self.labels[entry])
                continue
            row = into[s]
            if row is None:
                row = into[s] = [None] * self.lengths[s]
            row[t] = self.labels[entry]


def of_sequences(model: Any, X: list[Any], labels: Labelled, *, average: bool) -> PseudoLabels:
    """Label whole sequences; p(ŷ|x) is how sure the model is, its T-th root with ``average``."""
    ids = np.array([s for s, one in enumerate(labels) if one is None], dtype=np.int64)
    rest = pick(X, ids)
    guesses = model.predict(rest)
    log_proba = _log_proba(model, rest, guesses)
    lengths = {int(s): len(guess) for s, guess in zip(ids, guesses, strict=True)}
    if average:
        log_proba = log_proba / np.maximum(list(lengths.values()), 1)
    return PseudoLabels(ids, np.full(len(ids), -1), list(guesses), np.exp(log_proba), lengths)


def of_positions(model: Any, X: list[Any], labels: Labelled) -> PseudoLabels:
    """Label positions by themselves, given the labels that their sequence has; p(y_t|x) is how sure it is."""
    ids = np.array([s for s, one in enumerate(labels) if one is None or None in one], dtype=np.int64)
    found = _marginals(model, pick(X, ids), pick(labels, ids))
    classes = model.classes_.tolist()
    sequences, positions, best, confidence = [], [], [], []
    for s, marginals in zip(ids.tolist(), found, strict=True):
        known = labels[s] or [None] * len(marginals)
        for t in (t for t, label in enumerate(known) if label is None):
            k = int(marginals[t].argmax())
            sequences.append(s)
            positions.append(t)
            best.append(classes[k])
            confidence.append(float(marginals[t, k]))
    lengths = {s: len(marginals) for s, marginals in zip(ids.tolist(), found, strict=True)}
    return PseudoLabels(np.array(sequences), np.array(positions), best, np.array(confidence), lengths)


def _log_proba(model: Any, X: list[Any], guesses: Any) -> Array:
    """Return log p(ŷ|x); a classifier of rows has that of every row."""
    if hasattr(model, "sequence_log_proba"):
        return np.asarray(model.sequence_log_proba(X, guesses))
    return np.array([np.log(p.max(axis=1)).sum() for p in _probabilities(model, X)])


def _marginals(model: Any, X: list[Any], known: list[Any]) -> list[Array]:
    if not hasattr(model, "predict_marginals"):
        return _probabilities(model, X)
    takes = signature(model.predict_marginals).parameters
    conditions = any(one is not None for one in known) and ("allowed" in takes or "settings" in takes)
    result: list[Array] = model.predict_marginals(X, **({"allowed": known} if conditions else {}))
    return result


def _probabilities(model: Any, X: list[Any]) -> list[Array]:
    if not hasattr(model, "predict_proba"):
        raise InputError(f"{type(model).__name__} has no probabilities to say how sure it is.")
    return [np.asarray(one) for one in model.predict_proba(X)]
