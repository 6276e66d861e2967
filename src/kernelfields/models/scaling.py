"""Scores that held-out data have rescaled, so that probabilities mean something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..persistence.fields import Field, Sizes


class Scaling(NamedTuple):
    """θ / T for all cliques, and b_y more for the label of every vertex."""

    temperature: float
    """T > 0; above 1 probabilities become less extreme."""
    bias: Array | None
    """(L,) b; None for a temperature alone."""
    before: float
    """Held-out log-likelihood of a sequence (or position) before, in the mean."""
    after: float
    """The same with this scaling."""
    n_sequences: int
    """Held-out sequences."""

    def of(self, scores: Mapping[str, Array], answer: str) -> dict[str, Array]:
        """Return the scores of a batch, rescaled; what is forbidden stays so."""
        result = {clique: values / self.temperature for clique, values in scores.items()}
        if self.bias is not None:
            result[answer] += self.bias.astype(result[answer].dtype)
        return result


@dataclass(frozen=True)
class Scalings(Field):
    """A scaling of as many labels as there are."""

    needed: bool = False
    large: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if numbers are none."""
        if not isinstance(value, Scaling):
            return "is no scaling"
        numbers = (value.temperature, value.before, value.after)
        if not all(type(number) is float and np.isfinite(number) for number in numbers):
            return "has numbers that are none"
        if value.temperature <= 0 or type(value.n_sequences) is not int:
            return "has a temperature or a count that is none"
        if value.bias is None:
            return ""
        if not isinstance(value.bias, np.ndarray) or value.bias.dtype.kind != "f":
            return "has a bias that is no array"
        return "" if value.bias.shape == (sizes["L"],) else "has a bias for other labels"


def has_probabilities(model: Any) -> bool:
    """Return whether training or held-out data gave a model probabilities."""
    return bool(getattr(model, "probabilistic", True)) or getattr(model, "scaling_", None) is not None
