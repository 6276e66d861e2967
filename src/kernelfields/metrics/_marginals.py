"""True labels and marginals, in flat arrays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import is_list
from ..errors import InputError
from ._numbers import read_numbers
from .pairs import encode, require_observed, require_positions
from .sequences import read_row, read_sequences

# Rows of float32 marginals add up to one no better than this.
SUM_TOLERANCE = 1e-3


class ObservedMarginals(NamedTuple):
    """All positions with an observed label, sequence by sequence."""

    true: Array
    """(N,) index into the classes; −1 for a label that is not among them."""
    marginals: Array
    """(N, L) float64."""
    columns: dict[Hashable, int]
    """Column of every class."""


def read_marginals(y_true: Any, marginals: Any, classes: Any) -> ObservedMarginals:
    """Read label sequences and (T, L) arrays of the same lengths; unobserved labels are dropped.

    A true label that is not among the classes, because training never saw it, has probability 0.
    """
    true = read_sequences(y_true, "y_true")
    index = _columns(classes)
    if not is_list(marginals):
        raise InputError("marginals must be a list of (T, L) arrays.")
    if len(true) != len(marginals):
        raise InputError(f"y_true has {len(true)} sequences, but marginals has {len(marginals)}.")
    arrays = [read_numbers(p, f"Sequence {s} of marginals") for s, p in enumerate(marginals)]
    for s, (labels, p) in enumerate(zip(true, arrays, strict=True)):
        if p.shape != (len(labels), len(index)):
            raise InputError(
                f"Sequence {s} of marginals has shape {p.shape}, expected {(len(labels), len(index))}: "
                "one row per label of y_true, one column per class."
            )
    require_positions(sum(map(len, true)))
    require_observed(true)
    stacked = np.concatenate(arrays)
    _require_distributions(stacked, offsets_of([len(labels) for labels in true]))
    observed = np.array([label is not None for labels in true for label in labels])
    return ObservedMarginals(encode(true, index)[observed], stacked[observed], index)


def _columns(classes: Any) -> dict[Hashable, int]:
    """Return the column of every class."""
    names = read_row(classes, "classes")
    index = {label: k for k, label in enumerate(names)}
    if len(index) < len(names) or None in index:
        raise InputError(f"classes has {len(names)} entries; they must be distinct labels, none missing.")
    return index


def _require_distributions(marginals: Array, offsets: Array) -> None:
    """Refuse rows that are not probability distributions, naming sequence and position."""
    good = (marginals >= 0).all(axis=1) & (abs(marginals.sum(axis=1) - 1.0) <= SUM_TOLERANCE)
    if good.all():
        return
    n = int(np.flatnonzero(~good)[0])
    s = int(np.searchsorted(offsets, n, side="right")) - 1
    raise InputError(
        f"Sequence {s} of marginals is not a distribution at position {n - offsets[s]}: "
        f"{marginals[n].tolist()}."
    )
