"""Classifiers of rows, as scikit-learn has them, which also take sequences of rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.rows import Rows, read_row_labels, read_row_weights, read_rows
from ..data.types import Items, Outputs, Weights
from ..errors import InputError
from ..persistence.savable import Savable, no_fit
from ..structures import Structure
from .run import Routed


class RowClassifier(Routed, Savable):
    """A model that labels every row for itself."""

    n_features_in_: int
    structure_: Structure
    """How X holds observations that are not given as rows alone."""

    @abstractmethod
    def _label_scores(self, rows: Rows) -> Array:
        """Return how well each label fits each row, (N, L); the largest is predicted."""

    def predict(self, X: Items) -> Any:
        """Return the best label of every row, (N,); a list of lists for sequences."""
        rows = self._read(X)
        labels = self.classes_[self._label_scores(rows).argmax(axis=1)]
        return labels if rows.offsets is None else rows.split(labels.tolist())

    def score(self, X: Items, y: Outputs, sample_weight: Weights = None) -> float:
        """Return the share of rows labelled right; those whose label is None or NaN are skipped.

        A label that training did not have is wrong whatever is predicted.
        """
        rows = self._read(X)
        truth = read_row_labels(y, rows)
        kept = [n for n, label in enumerate(truth) if label is not None]
        if not kept:
            raise InputError(f"There is nothing to score: none of the {len(truth)} labels of y is observed.")
        labels = self.classes_[self._label_scores(rows).argmax(axis=1)].tolist()
        weights = None if sample_weight is None else read_row_weights(sample_weight, rows)[kept]
        return float(np.average([labels[n] == truth[n] for n in kept], weights=weights))

    def _read(self, X: Items) -> Rows:
        self._require_fitted()
        return read_rows(self, X, fitting=False)

    def _require_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise no_fit(self)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn's tools ask: that this is a classifier, whose folds they balance."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
