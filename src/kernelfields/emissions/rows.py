"""Observations that are rows of numbers, some of them missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of
from ..checks import require_unmasked
from ..errors import InputError
from ._base import ObservedSequences


class NumberRows:
    """One row of numbers per position; NaN where a number is missing.

    Parameters
    ----------
    values : (N, D) array
        Rows.
    offsets : (S + 1,) array, optional
        Where sequences begin, for messages.
    """

    def __init__(self, values: Array, offsets: Array | None = None) -> None:
        self.values = values
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.values)

    def part(self, begin: int, end: int) -> NumberRows:
        """Return the rows from one to another."""
        return NumberRows(self.values[begin:end])

    def place(self, row: int) -> str:
        """Return where a row is, for messages."""
        if self.offsets is None:
            return f"Row {row} of X"
        s = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"Sequence {s} of X, position {row - int(self.offsets[s])},"

    @property
    def numbers(self) -> Array:
        """The rows, under the name that symbols use too."""
        return self.values

    @property
    def n_columns(self) -> int:
        """D."""
        return int(self.values.shape[1])

    @cached_property
    def seen(self) -> Array | None:
        """(N, D), False where a number is missing; None if no number is."""
        gone = np.isnan(self.values)
        return ~gone if gone.any() else None

    @cached_property
    def filled(self) -> Array:
        """(N, D), zeros where a number is missing."""
        return self.values if self.seen is None else np.where(self.seen, self.values, 0.0)

    @cached_property
    def columns(self) -> Array:
        """(D, N), zeros where a number is missing."""
        return np.ascontiguousarray(self.filled.T)

    @cached_property
    def missing(self) -> Array | None:
        """(N,), 1 where the whole row is missing; None if no row is."""
        return None if self.seen is None else np.asarray(~self.seen.any(axis=1), dtype=np.uint8)

    @cached_property
    def partial(self) -> bool:
        """Whether some row has both numbers and missing numbers."""
        return self.seen is not None and bool((self.seen.any(axis=1) != self.seen.all(axis=1)).any())

    @cached_property
    def whole(self) -> Array:
        """Rows that have all their numbers."""
        return self.values if self.seen is None else self.values[self.seen.all(axis=1)]


def read_rows(X: Any, lengths: Any, width: int | None) -> ObservedSequences:
    """Read a list of (T, D) arrays, in which None may stand for a row, or one flat array with lengths."""
    if lengths is not None:
        require_unmasked(lengths, "The list of lengths", "give the lengths that there are")
        matrix, sizes = _matrix(X, "X", width), np.asarray(lengths)
        if sizes.ndim != 1 or (sizes < 0).any() or sizes.sum() != len(matrix):
            raise InputError(f"lengths must add up to the number of rows of X, {len(matrix)}.")
        matrices, offsets = [matrix], offsets_of(sizes)
    else:
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
            raise InputError(
                f"X is one array of shape {X.shape}: pass the lengths of its sequences as lengths=."
            )
        if isinstance(X, str) or not isinstance(X, (Sequence, np.ndarray)):
            raise InputError("X must be a list of (T, D) arrays, or one (N, D) array with lengths=.")
        matrices = [_matrix(x, f"Sequence {s} of X", width) for s, x in enumerate(X)]
        offsets = offsets_of([len(matrix) for matrix in matrices])
    if width is None:
        width = next((m.shape[1] for m in matrices if m.size), 0)
    for s, matrix in enumerate(matrices):
        if matrix.shape[1] != width and len(matrix):
            what = "X" if lengths is not None else f"Sequence {s} of X"
            raise InputError(f"{what} has {matrix.shape[1]} features per position, expected {width}.")
    filled = [matrix for matrix in matrices if len(matrix)]
    values = np.ascontiguousarray(np.concatenate(filled)) if filled else np.zeros((0, width))
    rows = NumberRows(values, offsets)
    if np.isinf(values).any():
        t, d = np.argwhere(np.isinf(values))[0]
        raise InputError(
            f"{rows.place(t)} has infinity in column {d}; numbers must be finite, or NaN if missing."
        )
    return ObservedSequences(rows, offsets)


def _matrix(x: Any, what: str, width: int | None) -> Array:
    if sparse.issparse(x):
        raise InputError(f"{what} is sparse; emissions of rows need dense arrays.")
    if isinstance(x, list | tuple) and not x:
        return np.zeros((0, width or 0))
    if not hasattr(x, "__len__"):
        raise InputError(f"{what} is not an array of numbers.")
    require_unmasked(x, what, "write x.filled(np.nan) for numbers that are missing")
    if not isinstance(x, np.ndarray) and any(row is None for row in x):
        size = next((len(row) for row in x if row is not None), width or 0)
        x = [[np.nan] * size if row is None else row for row in x]
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is not an array of numbers: {error}.") from error
    if array.ndim != 2:
        raise InputError(f"{what} has {array.ndim} dimensions, expected 2: one row of features per position.")
    return array


def require_counts(rows: NumberRows, family: str, largest: float = np.inf) -> None:
    """Refuse numbers that are negative, not whole, or above the largest possible."""
    values = rows.filled
    bad = (values < 0) | (values > largest) | (values != np.floor(values))
    if bad.any():
        t, d = np.argwhere(bad)[0]
        kind = "0 or 1" if largest == 1 else "counts"
        raise InputError(
            f"{rows.place(t)} has {values[t, d]:g} in column {d}, but {family} emissions need {kind}."
        )


def clusters(rows: NumberRows, count: int, rng: Any) -> Array:
    """Cluster rows by k-means on standardised columns; return (N, L) weights, 0.8 for a row's cluster."""
    from sklearn.cluster import KMeans

    scale = rows.filled.std(axis=0)
    points = rows.filled / np.where(scale > 0, scale, 1.0)
    if len(np.unique(points, axis=0)) < count:  # k-means wants as many points
        points = points + rng.normal(size=points.shape)
    found = KMeans(count, n_init=1, random_state=int(rng.integers(2**31 - 1))).fit_predict(points)
    weights = np.full((len(rows), count), 0.2 / count)
    weights[np.arange(len(rows)), found] += 0.8
    if rows.missing is not None:
        weights[rows.missing > 0] = 0.0
    return weights
