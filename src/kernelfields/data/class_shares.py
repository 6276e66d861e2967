"""Shares that labels have, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_not_negative, shown
from ..errors import InputError
from .labels import index_of


def read_class_shares(given: Any, classes: Array) -> Array:
    """Return the share of every label."""
    if not isinstance(given, Mapping):
        raise InputError(f"class_shares is {shown(given)}; it must be a dictionary of shares by label.")
    index = index_of(classes)
    for label in given:
        if label not in index:
            raise InputError(f"class_shares has the unknown label {label!r}.")
    for label in index:
        if label not in given:
            raise InputError(f"class_shares lacks the label {label!r}.")
    shares = np.zeros(len(classes))
    for label, share in given.items():
        shares[index[label]] = require_not_negative(f"class_shares of {label!r}", share)
    if abs(shares.sum() - 1) > 1e-6:
        raise InputError(f"class_shares has the sum {shares.sum():g}; shares of labels add up to 1.")
    return shares
