"""Whether changes of label are found."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .pairs import read_runs


def transition_accuracy(y_true: Any, y_pred: Any) -> float:
    """Share of true boundaries at which both labels are predicted right.

    Over the boundaries B = {(s, t) : y_t ≠ y_{t+1} in sequence s},
    Σ_B [ŷ_t = y_t and ŷ_{t+1} = y_{t+1}] / #B.

    Where labels seldom change, as in segmentation, the token error says little about the places
    that matter, and this says more.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths. A boundary lies between two observed labels: where one of them is None or
        NaN there is none.

    Examples
    --------
    >>> transition_accuracy([["a", "a", "b", "b", "a"]], [["a", "a", "b", "a", "a"]])
    0.5
    """
    pairs = read_runs(y_true, y_pred)
    boundary = pairs.true[:-1] != pairs.true[1:]
    last = pairs.offsets[1:-1] - 1  # no boundary between one sequence and the next
    boundary[last[(last >= 0) & (last < len(boundary))]] = False
    if not np.any(boundary):
        raise InputError("There is no boundary to score: no sequence of y_true changes its label.")
    right = pairs.right
    return float((right[:-1] & right[1:])[boundary].mean())
