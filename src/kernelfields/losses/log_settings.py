"""The log loss as a setting: of all that was observed, with class weights and costs inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from ..missing import UNOBSERVED
from ..structures import StructureBatch
from ._settings_base import LossSettings, refuse_given
from .class_weights import class_cost
from .given_costs import cost_scores
from .log import Log
from .partial_log import PartialLog


@dataclass(frozen=True)
class LogSettings(LossSettings):
    """``loss="log"``: −log p, with a cost inside for class weights, restricted where labels are missing."""

    def bind(
        self,
        batch: StructureBatch,
        outputs: Array,
        *,
        classes: Array,
        weights: Array | None,
        class_weight: Any,
        cost: Any,
    ) -> Log | PartialLog:
        """Return the loss of a training set."""
        if (outputs == UNOBSERVED).any():
            refuse_given("needs every label to be observed.", class_weight=class_weight, cost=cost)
            return observed_log(batch, outputs, weights)
        if class_weight is not None and cost is not None:
            raise InputError("class_weight is a cost, too; give one of class_weight and cost.")
        if cost is not None:
            cost = _additive_cost(batch, outputs, classes, cost)
        elif class_weight is not None:
            cost = {batch.answer: class_cost(class_weight, outputs, classes)}
        return Log(batch, outputs, weights, cost)


def observed_log(batch: StructureBatch, outputs: Array, weights: Array | None = None) -> Log | PartialLog:
    """Return −log p of the labels that were observed."""
    observed = outputs != UNOBSERVED
    if observed.all():
        return Log(batch, outputs, weights)
    n_labels = batch.cliques[batch.answer].values[0]
    allowed = ~observed[:, None] | (outputs[:, None] == np.arange(n_labels))
    return PartialLog(batch, allowed, weights)


def _additive_cost(batch: StructureBatch, outputs: Array, classes: Array, cost: Any) -> dict[str, Array]:
    """Return a cost that adds up over cliques; inside a sum over labellings no other can be had."""
    if callable(cost) or (isinstance(cost, str) and cost != "hamming"):
        known = "'hamming', a dictionary of labels, a table of labels or of label pairs, or a PairCost"
        raise InputError(f"cost is {shown(cost)}; inside the log loss it must be {known}.")
    return cost_scores(batch, outputs, classes, cost)
