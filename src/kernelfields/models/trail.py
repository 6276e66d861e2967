"""How far a model that learns sequence by sequence has come, and which of its states did best elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array
from ..data.inputs import Inputs
from ..data.labels import UNOBSERVED
from ..fitting.held_out import held_out_labels
from .attributes import keep_scorers
from .model import dense, fitted_structure
from .parts import FACTOR
from .scorers import LearntScorer


class Trail(NamedTuple):
    """What learning goes on with, besides the weights of the model. Numbers of weights are as in `flat`."""

    sequences: int
    """S: those of the last `fit`, and all that came in pieces since."""
    steps: int
    """How many sequences were learnt from, every epoch counted."""
    averaged: int
    """How many weights the model is the mean of."""
    step: float | None = None
    """η of stochastic descent."""
    last: Array | None = None
    """The last weights, if the model is a mean and came in pieces; else learning goes on from the model's."""
    variance: Array | None = None
    """σ of every weight, for `AROW`."""

    @classmethod
    def guessed(cls, model: Any) -> Self:
        """Say what is known of a model from a file that has no trail."""
        provenance = getattr(model, "provenance_", None)
        sequences = 1 if provenance is None else provenance.sequences
        steps = sequences * max(getattr(model, "n_iter_", None) or 1, 1)
        return cls(sequences, steps, steps + 1)


ORDER = ("features", "bias", "boundaries", "edges", "second_order", "durations", "rules")
"""Parts whose numbers come first, in this order; others follow by name, and factors as the model has them."""


def flat(scorers: Mapping[str, LearntScorer], n_labels: int) -> Array:
    """Return the numbers of all parts, one after the other; zeros for labels alone that a model lacks."""
    L = n_labels
    missing = {"bias": np.zeros(L), "boundaries": np.zeros(2 * L), "edges": np.zeros(L * L)}
    numbers = {**missing, **{name: dense(one.numbers) for name, one in scorers.items()}}
    return np.concatenate([np.ravel(numbers[name]) for name in _ordered(numbers)])


def unflat(numbers: Array, like: Mapping[str, LearntScorer]) -> dict[str, LearntScorer]:
    """Return the parts that `flat` made numbers of; ``like`` has their shapes."""
    shapes = {name: dense(like[name].numbers).shape for name in _ordered(like)}
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes.values())])
    return {
        name: like[name].with_numbers(numbers[start:end].reshape(shape))
        for (name, shape), start, end in zip(shapes.items(), ends[:-1], ends[1:], strict=True)
    }


def _ordered(scorers: Mapping[str, Any]) -> list[str]:
    rest = [name for name in scorers if name not in ORDER]
    return [name for name in ORDER if name in scorers] + sorted(
        rest, key=lambda name: (name.startswith(FACTOR), "" if name.startswith(FACTOR) else name)
    )


class Reached(NamedTuple):
    """A model on its way."""

    scorers: Mapping[str, LearntScorer]
    trail: Trail


class HeldOut:
    """Sequences that are not learnt from, and the weights that did best on them."""

    def __init__(self, model: Any, X: Any, y: Any, patience: int) -> None:
        self.inputs: Inputs = model._read(X, None)
        self.labels = held_out_labels(fitted_structure(model), y, self.inputs, model.classes_)
        self.observed = self.labels != UNOBSERVED
        self.patience = patience
        self.best: Reached | None = None
        self.fewest = np.inf
        self.waited = 0

    def look(self, model: Any, reached: Reached) -> bool:
        """Count wrong labels; say whether to stop."""
        keep_scorers(model, reached.scorers, len(model.classes_))
        batch = model._model().scores(self.inputs)
        labels = model._decoder(None).decode(batch.batch, batch.scores)
        wrong = int((~batch.batch.agree(labels, self.labels))[self.observed].sum())
        if wrong < self.fewest:
            self.fewest, self.best, self.waited = wrong, reached, 0
        else:
            self.waited += 1
        return self.waited >= self.patience
