"""Held-out sequences beside learning sequence by sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.inputs import Inputs
from ..data.labels import UNOBSERVED
from ..fitting.held_out import held_out_labels
from .attributes import keep_scorers
from .model import fitted_structure
from .scorers import LearntScorer
from .trail import Trail


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
