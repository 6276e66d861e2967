"""Labels of rows of which many are not known, as scikit-learn's semi-supervised classifiers read them too."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..errors import InputError
from .labels import UNOBSERVED
from .rows import Rows, read_row_labels
from .types import Outputs


def read_partial_labels(y: Outputs, rows: Rows) -> tuple[list[Hashable], int | None]:
    """Return the labels of all rows, None where they are missing, and how that was written: None or −1.

    A sequence may be None or −1 as a whole.
    """
    if rows.offsets is not None and isinstance(y, list | tuple) and len(y) == len(rows.offsets) - 1:
        lengths = np.diff(rows.offsets).tolist()
        y = [[one] * n if _is_missing(one) else one for one, n in zip(y, lengths, strict=True)]
    labels = read_row_labels(y, rows)
    minus = [
        n for n, label in enumerate(labels) if label == -1 and (type(label) is int or _is_minus_one(label))
    ]
    if not minus:
        return labels, None
    if None in labels:
        raise InputError("y has None and −1; only one of them can stand for labels that are missing.")
    for n in minus:
        labels[n] = None
    if len(set(labels) - {None}) < 2:
        raise InputError("Training needs at least two labels, and −1 stands for one that is missing.")
    return labels, UNOBSERVED


def _is_missing(sequence: Any) -> bool:
    return sequence is None or _is_minus_one(sequence)


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, int | float | np.number) and not isinstance(label, bool) and bool(label == -1)
