"""What is known about labels before any function is learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .labels import index_of

BaseMeasure = Callable[[Any], Any] | Mapping[Any, float] | None


def log_base_measure(measure: BaseMeasure, observations: Any, classes: Array) -> Array:
    """Return log q(y_v|x_v) up to a constant per vertex, (N, L) or (L,): an offset of the scores.

    A mapping gives labels their log-odds, 0 for those it leaves out; a callable gives, for an (N, D)
    matrix of observations, an (N, L) array with columns as in ``classes``.
    """
    if isinstance(measure, Mapping):
        index = index_of(classes)
        result = np.zeros(len(classes))
        for label, value in measure.items():
            if label not in index:
                raise InputError(f"base_measure has the unknown label {label!r}.")
            result[index[label]] = value
    else:
        assert measure is not None
        result = np.asarray(measure(observations), dtype=np.float64)
        expected: tuple[int, ...] = (observations.shape[0], len(classes))
        if result.shape != expected:
            raise InputError(f"base_measure gave an array of shape {result.shape}, expected {expected}.")
    if np.isnan(result).any() or (result == np.inf).any():
        raise InputError("base_measure gave NaN or infinity.")
    return result
