"""Class weights as users give them: by label, or in inverse proportion to frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array, index_of
from ..checks import require_not_negative, shown, unknown_name
from ..errors import InputError
from ..missing import UNOBSERVED
from ._settings_base import refuse_given

ClassWeight = dict[Any, float] | str | None


def class_weights(given: dict[Any, float] | str, labels: Array, classes: Array) -> Array:
    """Return one weight per class."""
    count = np.bincount(labels, minlength=len(classes))
    if isinstance(given, str):
        if given != "balanced":
            raise unknown_name("class_weight", given, ["balanced"], " or a dictionary")
        return len(labels) / (len(count) * np.maximum(count, 1))
    if not isinstance(given, Mapping):
        raise InputError(f"class_weight is {shown(given)}; it must be a dictionary or 'balanced'.")
    index = index_of(classes)
    weights = np.ones(len(count))
    for label, weight in given.items():
        if label not in index:
            raise InputError(f"class_weight has the unknown label {label!r}.")
        weights[index[label]] = require_not_negative(f"class_weight of {label!r}", weight)
    return weights


def class_cost(given: dict[Any, float] | str, labels: Array, classes: Array) -> Array:
    """Return Δ(y, ·), (N, L): the weight of the observed label, zero at that label."""
    weight = class_weights(given, labels, classes)
    cost = np.repeat(weight[labels][:, None], len(weight), axis=1)
    cost[np.arange(len(cost)), labels] = 0
    return cost


def vertex_weights(class_weight: ClassWeight, labels: Array, classes: Array, cost: Any) -> Array | None:
    """Return class weights as weights of vertices, 1 where no label was observed; costs are refused."""
    refuse_given("is for loss='log', which sums over whole labellings.", cost=cost)
    if class_weight is None:
        return None
    observed = labels != UNOBSERVED
    result = np.ones(len(labels))
    result[observed] = class_weights(class_weight, labels[observed], classes)[labels[observed]]
    return result
