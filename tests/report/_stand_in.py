"""A model with given answers and probabilities, so that tests know every number of a report."""

from __future__ import annotations

import numpy as np


class StandIn:
    """Looks up its answers: X holds sequences of (1,)-rows with the number of the sequence."""

    def __init__(self, classes, marginals, predicted=None, log_proba=None):
        self.classes_ = np.empty(len(classes), dtype=object)
        self.classes_[:] = classes
        self.marginals = [np.asarray(p, dtype=float).reshape(-1, len(classes)) for p in marginals]
        best = [[classes[k] for k in p.argmax(axis=1)] for p in self.marginals]
        self.predicted = best if predicted is None else predicted
        self.log_proba = log_proba

    @property
    def inputs(self):
        return [np.full((len(p), 1), s) for s, p in enumerate(self.marginals)]

    def predict(self, X):
        return [self.predicted[int(x[0, 0])] if len(x) else [] for x in X]

    def predict_marginals(self, X):
        return [self.marginals[int(x[0, 0])] if len(x) else np.zeros((0, len(self.classes_))) for x in X]

    def sequence_log_proba(self, X, y):
        """Positions are independent, unless values were given; None stands for any label."""
        if self.log_proba is not None:
            return np.array([self.log_proba[int(x[0, 0])] for x in X])
        names = self.classes_.tolist()
        return np.array(
            [
                sum(np.log(p[t, names.index(label)]) for t, label in enumerate(labels) if label is not None)
                for p, labels in zip(self.predict_marginals(X), y, strict=True)
            ]
        )


def random_case(rng, classes=("a", "b", "c"), sizes=(5, 1, 9, 4, 30), sure=2.0):
    """A stand-in with random probabilities, and labels that agree with it more often than not."""
    marginals = [np.exp(sure * rng.normal(size=(T, len(classes)))) for T in sizes]
    marginals = [p / p.sum(axis=1, keepdims=True) for p in marginals]
    y = [[classes[rng.choice(len(classes), p=row)] for row in p] for p in marginals]
    return StandIn(list(classes), marginals), y
