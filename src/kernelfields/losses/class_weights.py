"""Class weights as users give them: by label, or in inverse proportion to frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array, index_of
from ..checks import require_not_negative, shown, unknown_name
from ..errors import InputError
from ..missing import UNOBSERVED

ClassWeight = dict[Any, float] | str | None


def require_class_weight(name: str, value: Any) -> None:
    """Refuse what is neither weights by label nor "balanced"."""
    if isinstance(value, str) and value != "balanced":
        raise unknown_name(name, value, ["balanced"], " or a dictionary")
    if not isinstance(value, str | Mapping):
        raise InputError(f"{name} is {shown(value)}; it must be a dictionary or 'balanced'.")


def class_weights(given: dict[Any, float] | str, labels: Array, classes: Array) -> Array:
    """Return one weight per class."""
    require_class_weight("class_weight", given)
    count = np.bincount(labels, minlength=len(classes))
    if isinstance(given, str):
        return len(labels) / (len(count) * np.maximum(count, 1))
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


def vertex_weights(class_weight: ClassWeight, labels: Array, classes: Array) -> Array | None:
    """Return class weights as weights of vertices, 1 where no label was observed."""
    if class_weight is None:
        return None
    observed = labels != UNOBSERVED
    result = np.ones(len(labels))
    result[observed] = class_weights(class_weight, labels[observed], classes)[labels[observed]]
    return result
