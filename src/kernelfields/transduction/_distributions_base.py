"""What label propagation and spreading share: probabilities of labels at every vertex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..data.types import Items
from ..graphs import Spread
from ..persistence.fields import Field, Numbers
from ..persistence.savable import require_fitted
from ._base import LabelGraphClassifier


class LabelDistributionClassifier(LabelGraphClassifier):
    """A classifier whose vertices have distributions of labels; NaN where no label arrives."""

    _learnt: ClassVar[Mapping[str, Field]] = {
        **LabelGraphClassifier._learnt,
        "vertex_distributions_": Numbers("n L"),
    }
    _shortfall: ClassVar[str] = "probabilities may be off by"
    probabilistic: ClassVar[bool] = True
    vertex_distributions_: Array

    @property
    def label_distributions_(self) -> Array:
        """(N, L) probabilities of the labels of all observations of `fit`, X before X_unlabelled.

        NaN where there is no path to a label.
        """
        require_fitted(self)
        return self._vertex_values(self.vertex_of_)

    def predict_proba(self, X: Items) -> Any:
        """Return p(y|x) for every row, (n, L), columns as in ``classes_``; a list of them for sequences.

        Rows as in `predict`; NaN where no label arrives.
        """
        rows = self._read(X)
        return rows.split(self._values(rows.features))

    def _keep(self, found: Spread) -> None:
        self.vertex_distributions_ = np.nan_to_num(found.probabilities)

    def _vertex_values(self, vertices: Array) -> Array:
        distributions = self.vertex_distributions_[vertices]
        return np.where(distributions.any(axis=1, keepdims=True), distributions, np.nan)

    def _linked_values(self, weights: Any) -> Array:
        sums = np.asarray(weights @ self.vertex_distributions_)
        totals = sums.sum(axis=1, keepdims=True)
        totals[totals == 0] = np.nan
        return np.asarray(sums / totals)
