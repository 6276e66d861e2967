"""Hinge losses by the names that `StructuredSVM` gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, one_of
from ..errors import InputError
from ..missing import UNOBSERVED
from ..structures import GraphBatch, LabelledBatch, StructureBatch
from ._base import Loss
from ._hinge_base import Hinge
from ._settings_base import LossSettings
from .costs import ErrorFunction, LabellingCost
from .given_costs import cost_scores
from .hinge_callback import CallbackHinge
from .hinge_errors import CountedMarginHinge, SlackHinge
from .hinge_margin import MarginHinge
from .hinge_relaxed import RelaxedMarginHinge
from .hinge_slack import SearchedSlackHinge
from .hinge_zero_one import ZeroOneHinge

RESCALINGS = ("margin", "slack", "zero-one", "relaxed")


@dataclass(frozen=True, eq=False)
class HingeSettings(Checked, LossSettings):
    """A hinge loss by the names that `StructuredSVM` gives it, with the cost that it is about."""

    rescaling: str
    task_cost: Any
    _checks: ClassVar[Mapping[str, Check]] = {"rescaling": one_of(RESCALINGS)}

    def bind(self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None) -> Loss:
        """Return the loss of a training set."""
        if (outputs == UNOBSERVED).any():
            raise InputError("A structured SVM needs every label to be observed.")
        task = self.task_cost
        if self.rescaling == "zero-one" or (isinstance(task, str) and task == "zero-one"):
            return ZeroOneHinge(batch, outputs, weights)
        if self.rescaling == "relaxed":
            return _relaxed(batch, outputs, classes, weights, task)
        return _rescaled(batch, outputs, classes, weights, task, slack=self.rescaling == "slack")


def _relaxed(batch: StructureBatch, labels: Array, classes: Array, weights: Array | None, cost: Any) -> Loss:
    if not isinstance(batch, GraphBatch):
        raise InputError("rescaling='relaxed' is for graphs; other structures are searched exactly.")
    if isinstance(cost, ErrorFunction | LabellingCost) or callable(cost):
        raise InputError("rescaling='relaxed' needs a cost that adds up over vertices or edges.")
    return RelaxedMarginHinge(batch, labels, cost_scores(batch, labels, classes, cost), weights)


def _rescaled(
    batch: StructureBatch, labels: Array, classes: Array, weights: Array | None, cost: Any, *, slack: bool
) -> Hinge:
    if isinstance(cost, ErrorFunction):
        kind = SlackHinge if slack else CountedMarginHinge
        return kind(batch, labels, None, weights, cost.function)
    if callable(cost):
        cost = LabellingCost(cost)
    if isinstance(cost, LabellingCost):
        named = _by_name(cost.function, classes)
        return CallbackHinge(batch, labels, named, cost.bound, slack, weights, cost.limit)
    table = cost_scores(batch, labels, classes, cost)
    if not slack:
        return MarginHinge(batch, labels, table, weights)
    if not isinstance(batch, LabelledBatch):
        return SearchedSlackHinge(batch, labels, table, weights)
    errors = table.get("node")
    if errors is None or not np.array_equal(errors, np.rint(errors)):
        raise InputError(
            "Slack rescaling is exact for whole-number costs of vertices only; scale them, "
            "or use margin rescaling."
        )
    return SlackHinge(batch, labels, errors.astype(np.int32), weights)


def _by_name(cost: Callable[[Array, Array], float], classes: Array) -> Callable[[Array, Array], float]:
    def named(true: Array, guess: Array) -> float:
        return cost(classes[true], classes[guess])

    return named
