"""Counts of true and predicted labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .pairs import NO_LABEL, read_runs


class Confusion(NamedTuple):
    """The number of times that each label is predicted where each is true."""

    labels: list[Hashable]
    """The K labels that occur on either side."""
    counts: Array
    """(K, K), row i and column j: Σ_t [y_t = i and ŷ_t = j]."""


def confusion(y_true: Any, y_pred: Any) -> Confusion:
    """Count pairs of true and predicted labels; a prediction of None (abstained) has no column.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths. Positions whose true label is None or NaN, not observed, are skipped.

    Examples
    --------
    >>> confusion([["a", "b", "b"]], [["a", "a", "b"]]).counts.tolist()
    [[1, 0], [1, 1]]
    """
    pairs = read_runs(y_true, y_pred)
    size = len(pairs.labels)
    given = pairs.predicted != NO_LABEL
    cells = pairs.true[given] * size + pairs.predicted[given]
    return Confusion(pairs.labels, np.bincount(cells, minlength=size * size).reshape(size, size))
