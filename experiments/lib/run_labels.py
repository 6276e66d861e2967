"""Models of labels split by their place in a run, judged by the whole labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from kernelfields.arrays import Array
from kernelfields.constraints import RunParts


class RunLabels:
    """A model that learns split labels, used like one of the labels themselves.

    Parameters
    ----------
    model : estimator
        Of the split labels.
    depth : int
        As in `RunParts`.
    """

    def __init__(self, model: Any, depth: int) -> None:
        self.model, self.parts = model, RunParts(depth)

    def fit(self, X: Sequence[Array], y: Sequence[Sequence[str]], **also: Any) -> Self:
        """Fit the model to split labels."""
        self.model.fit(X, self.parts.split(y), **also)
        self.classes_ = self.parts.joined([], self.model.classes_)[1]
        return self

    def predict_marginals(self, X: Sequence[Array]) -> list[Array]:
        """Return the probabilities of whole labels."""
        return self.parts.joined(self.model.predict_marginals(X), self.model.classes_)[0]
