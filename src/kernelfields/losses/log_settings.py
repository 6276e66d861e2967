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
from ._settings_base import ClassWeighted
from .class_weights import class_cost
from .given_costs import cost_scores
from .log import LogLoss
from .partial_log import PartialLog


@dataclass(frozen=True)
class Log(ClassWeighted):
    """``loss="log"``: −log p(y|x) of whole labellings, of what was observed where labels are missing.

    With a cost it is the softmax-margin [altun2006, 1.5]

        −score(y) + log Σ_ŷ exp(score(ŷ) + Δ(y, ŷ)):

    what is costly to get wrong must be less likely by more.

    Parameters
    ----------
    cost : "hamming", dict, array or PairCost, optional
        Δ(y, ŷ): the number of wrong labels; with a weight for each true label; an (L, L) table of true and
        predicted labels; an (L, L, L, L) table of pairs of neighbours; the price of pairs of a matching.
    class_weight : dict or "balanced", optional
        Δ as the weights of the true labels that are wrong; "balanced" means inverse frequencies.
    """

    cost: Any = None

    def bind(
        self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None
    ) -> LogLoss | PartialLog:
        """Return the loss of a training set."""
        if self.likelihood:
            return observed_log(batch, outputs, weights)
        if self.cost is not None and self.class_weight is not None:
            raise InputError("class_weight is a cost, too; give one of class_weight and cost.")
        if (outputs == UNOBSERVED).any():
            name = "cost" if self.class_weight is None else "class_weight"
            raise InputError(f"{name} needs every label to be observed.")
        if self.class_weight is not None:
            cost = {batch.answer: class_cost(self.class_weight, outputs, classes)}
        else:
            cost = _additive_cost(batch, outputs, classes, self.cost)
        return LogLoss(batch, outputs, weights, cost)

    @property
    def likelihood(self) -> bool:
        """Whether it is −log p(y|x), without costs."""
        return self.cost is None and self.class_weight is None


def observed_log(batch: StructureBatch, outputs: Array, weights: Array | None = None) -> LogLoss | PartialLog:
    """Return −log p of the labels that were observed."""
    observed = outputs != UNOBSERVED
    if observed.all():
        return LogLoss(batch, outputs, weights)
    n_labels = batch.cliques[batch.answer].values[0]
    allowed = ~observed[:, None] | (outputs[:, None] == np.arange(n_labels))
    return PartialLog(batch, allowed, weights)


def _additive_cost(batch: StructureBatch, outputs: Array, classes: Array, cost: Any) -> dict[str, Array]:
    """Return a cost that adds up over cliques; inside a sum over labellings no other can be had."""
    if callable(cost) or (isinstance(cost, str) and cost != "hamming"):
        known = "'hamming', a dictionary of labels, a table of labels or of label pairs, or a PairCost"
        raise InputError(f"cost is {shown(cost)}; inside the log loss it must be {known}.")
    return cost_scores(batch, outputs, classes, cost)
