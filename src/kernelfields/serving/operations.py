"""What a service is asked: labels, probabilities of labels, the k best labellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Operation
from .served import ServedModel

DIGITS = 6
"""Of probabilities."""


@dataclass(frozen=True)
class TagOperation(Operation):
    """Labels, with their probabilities, and null where the model is not sure enough."""

    abstain: float | None = None
    """Labels less probable than this are left open."""
    error_at_most: float | None = None
    """So many labels are left open that at most this share of the others is wrong."""
    confidence: float | None = None
    """How surely."""
    probabilities: bool = True

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return labels and, if they are asked for and there are any, probabilities."""
        labels = served.model.predict(inputs, **self._unsure(served))
        if not self.probabilities or not served.has_marginals:
            return {"labels": labels}
        marginals = served.model.predict_marginals(inputs)
        pairs = zip(labels, marginals, strict=True)
        return {"labels": labels, "probabilities": [_probabilities(served, y, p) for y, p in pairs]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return one for each position."""
        del served
        return positions

    def common(self, served: ServedModel) -> dict[str, Any]:
        """Return what is promised, if anything was asked for."""
        if self.error_at_most is None:
            return {}
        found = served.guarantees(self.error_at_most, self.confidence)
        promised = {
            "all" if name is None else str(name): {"holds": one.holds, "answered": one.answered}
            for name, one in found.items()
        }
        return {"guarantees": promised}

    def is_ready(self, served: ServedModel) -> bool:
        """Return whether the guarantee has been asked for before."""
        return self.error_at_most is None or served.knows(self.error_at_most, self.confidence)

    def _unsure(self, served: ServedModel) -> dict[str, Any]:
        if self.error_at_most is not None:
            return {"error_at_most": served.guarantees(self.error_at_most, self.confidence)}
        return {} if self.abstain is None else {"abstain": self.abstain}


@dataclass(frozen=True)
class MarginalOperation(Operation):
    """The probability of every label at every position."""

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return a matrix for each input."""
        found = served.model.predict_marginals(inputs)
        return {"marginals": [_rounded(np.asarray(p)) for p in found]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return one for each label and position."""
        return positions * len(served.classes)

    def common(self, served: ServedModel) -> dict[str, Any]:
        """Return the labels, in the order of columns."""
        return {"classes": served.classes}


@dataclass(frozen=True)
class BestOperation(Operation):
    """The k most probable labellings."""

    k: int

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return labellings with log-probabilities, best first."""
        found = served.model.predict_kbest(inputs, self.k)
        return {"kbest": [[{"labels": y, "log_probability": p} for y, p in several] for several in found]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return k for each position."""
        del served
        return positions * self.k


def _probabilities(served: ServedModel, labels: list[Any], marginals: Array) -> list[float]:
    """Return the probabilities of labels, or of the most probable one where the model abstained."""
    p = np.asarray(marginals).reshape(len(labels), len(served.classes))
    columns = np.array([served.place.get(label, -1) for label in labels], dtype=np.int64)
    columns = np.where(columns < 0, p.argmax(axis=1), columns)
    result: list[float] = _rounded(p[np.arange(len(labels)), columns])
    return result


def _rounded(p: Array) -> Any:
    return np.round(p.astype(np.float64), DIGITS).tolist()
