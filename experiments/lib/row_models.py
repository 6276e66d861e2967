"""Classifiers of rows, which label every position of a sequence by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from kernelfields.arrays import Array, offsets_of


class RowModel:
    """A classifier of scikit-learn, used like a model of sequences.

    Parameters
    ----------
    classifier : classifier
        With ``predict_proba``.
    least : int
        Examples that a label must have to be learnt.
    """

    def __init__(self, classifier: Any, least: int = 1) -> None:
        self.classifier, self.least = classifier, least

    def fit(self, X: Sequence[Array], y: Sequence[Sequence[Any]]) -> Self:
        """Fit the classifier to all positions whose label is known, and not too rare."""
        labels = [label for sequence in y for label in sequence]
        count = Counter(labels)
        kept = [k for k, label in enumerate(labels) if label is not None and count[label] >= self.least]
        self.classifier.fit(np.concatenate(list(X))[kept], [labels[k] for k in kept])
        self.classes_ = self.classifier.classes_
        return self

    def predict_marginals(self, X: Sequence[Array]) -> list[Array]:
        """Return the probabilities of every position."""
        p = self.classifier.predict_proba(np.concatenate(list(X)))
        return [p[a:b] for a, b in pairwise(offsets_of([len(x) for x in X]))]


FOLDS = 5
"""Of the calibration of SVMs."""


def calibrated_svc(cost: float, gamma: float) -> RowModel:
    """Return an SVM with the RBF kernel whose scores become probabilities by Platt's method."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    margins = CalibratedClassifierCV(SVC(C=cost, gamma=gamma), cv=FOLDS, ensemble=False, n_jobs=-1)
    return RowModel(margins, least=FOLDS)
