"""Hinge losses by the names that `StructuredSVM` gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import unknown_name
from ..data.costs import cost_scores
from ..data.labels import UNOBSERVED, Encoded
from ..errors import InputError
from ..losses import (
    CallbackHinge,
    CountedMarginHinge,
    ErrorFunction,
    Hinge,
    LabellingCost,
    Loss,
    MarginHinge,
    RelaxedMarginHinge,
    SearchedSlackHinge,
    SlackHinge,
    ZeroOneHinge,
)
from ..structures import EdgeBatch, GraphBatch, LabelledBatch

RESCALINGS = ("margin", "slack", "zero-one", "relaxed")


def hinge_maker(rescaling: str, cost: Any) -> Callable[[EdgeBatch, Encoded, Array | None, Any], Loss]:
    """Return a function from chains and their labels to the loss."""
    if rescaling not in RESCALINGS:
        raise unknown_name("rescaling", rescaling, RESCALINGS)

    def make(chain: EdgeBatch, encoded: Encoded, weights: Array | None, *_: Any) -> Loss:
        if (encoded.labels == UNOBSERVED).any():
            raise InputError("A structured SVM needs every label to be observed.")
        if rescaling == "zero-one" or (isinstance(cost, str) and cost == "zero-one"):
            return ZeroOneHinge(chain, encoded.labels, weights)
        if rescaling == "relaxed":
            return _relaxed(chain, encoded, weights, cost)
        return _loss(chain, encoded, weights, rescaling == "slack", cost)

    return make


def _relaxed(graph: EdgeBatch, encoded: Encoded, weights: Array | None, cost: Any) -> Loss:
    if not isinstance(graph, GraphBatch):
        raise InputError("rescaling='relaxed' is for graphs; other structures are searched exactly.")
    if isinstance(cost, ErrorFunction | LabellingCost) or callable(cost):
        raise InputError("rescaling='relaxed' needs a cost that adds up over vertices or edges.")
    return RelaxedMarginHinge(graph, encoded.labels, cost_scores(graph, encoded, cost), weights)


def _loss(chain: EdgeBatch, encoded: Encoded, weights: Array | None, slack: bool, cost: Any) -> Hinge:
    labels = encoded.labels
    if isinstance(cost, ErrorFunction):
        kind = SlackHinge if slack else CountedMarginHinge
        return kind(chain, labels, None, weights, cost.function)
    if callable(cost):
        cost = LabellingCost(cost)
    if isinstance(cost, LabellingCost):
        named = _by_name(cost.function, encoded.classes)
        return CallbackHinge(chain, labels, named, cost.bound, slack, weights, cost.limit)
    table = cost_scores(chain, encoded, cost)
    if not slack:
        return MarginHinge(chain, labels, table, weights)
    if not isinstance(chain, LabelledBatch):
        return SearchedSlackHinge(chain, labels, table, weights)
    errors = table.get("node")
    if errors is None or not np.array_equal(errors, np.rint(errors)):
        raise InputError(
            "Slack rescaling is exact for whole-number costs of vertices only; scale them, "
            "or use margin rescaling."
        )
    return SlackHinge(chain, labels, errors.astype(np.int32), weights)


def _by_name(cost: Callable[[Array, Array], float], classes: Array) -> Callable[[Array, Array], float]:
    def named(true: Array, guess: Array) -> float:
        return cost(classes[true], classes[guess])

    return named
