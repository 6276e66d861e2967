"""Estimators that answer by a model that they have fitted."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..arrays import Array
from ..data.types import Items, Lengths, Outputs, Weights
from ..persistence.savable import Savable, no_fit
from .run import Routed


class ModelWrapper(Routed, Savable):
    """An estimator whose answers are those of another, which it has fitted in its own way."""

    @abstractmethod
    def _fitted_model(self) -> Any:
        """Return the model that answers."""

    def predict(self, X: Items, **settings: Any) -> Any:
        """Label sequences, as the fitted model does."""
        return self._asked().predict(X, **settings)

    def predict_marginals(self, X: Items, **settings: Any) -> list[Array]:
        """Return p(y_t|x): a (T, L) array per sequence, as the fitted model does."""
        result: list[Array] = self._asked().predict_marginals(X, **settings)
        return result

    def predict_kbest(self, X: Items, k: int, **settings: Any) -> list[list[tuple[list[Any], float]]]:
        """Return the k best labellings of every sequence with log p(y|x), as the fitted model does."""
        result: list[list[tuple[list[Any], float]]] = self._asked().predict_kbest(X, k, **settings)
        return result

    def sequence_log_proba(self, X: Items, y: Outputs, **settings: Any) -> Array:
        """Log p(y|x) of whole labellings, as the fitted model does."""
        result: Array = self._asked().sequence_log_proba(X, y, **settings)
        return result

    def score(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> float:
        """Return the share of positions labelled right; each sequence counts ``sample_weight`` times."""
        given = {} if lengths is None else {"lengths": lengths}
        return float(self._asked().score(X, y, sample_weight=sample_weight, **given))

    def _asked(self) -> Any:
        if not hasattr(self, "classes_"):
            raise no_fit(self)
        return self._fitted_model()

    def _rehearse(self) -> None:
        self.predict([])
