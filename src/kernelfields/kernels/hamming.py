"""The Hamming kernel."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel
from ._counts import numbered
from .observations import Observations, count, dense_rows, items, precision, same_width


class Hamming(Kernel):
    """k(x, x′) = the share of positions at which x and x′ are equal.

    Observations are strings (or lists of hashable objects) of equal length, or rows of numbers. The mean
    over positions of [x_d = x′_d]: the linear kernel on one-hot rows, divided by their number of
    positions. Not universal.

    Examples
    --------
    >>> Hamming()(["ACGT", "ACGA"])
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return the share of equal positions."""
        left, right = (dense_rows(X), dense_rows(Y)) if _is_rows(X) else _codes(X, Y)
        same_width(left, right)
        if left.shape[1] == 0:
            raise InputError("Hamming compares observations of 0 positions, but needs at least one position.")
        from scipy.spatial.distance import cdist  # loads slowly

        return (1 - cdist(left, right, "hamming")).astype(precision(left, right), copy=False)

    def diagonal(self, X: Observations) -> Array:
        """Return 1."""
        return np.ones(count(X), dtype=precision(X) if _is_rows(X) else np.float64)


def _is_rows(X: Observations) -> bool:
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")


def _codes(X: Observations, Y: Observations) -> tuple[Array, Array]:
    """Return rows of numbers that are equal where the objects are."""
    groups = [items(X), items(Y)]
    index: dict[Hashable, int] = {}
    coded = [[numbered(some, index) for some in group] for group in groups]
    length = len(next((some for group in coded for some in group), []))
    for group in coded:
        for i, some in enumerate(group):
            if len(some) != length:
                raise InputError(
                    f"Hamming needs observations of equal length, but observation {i} has {len(some)}"
                    f" positions and the first has {length}."
                )
    left, right = (np.array(group, dtype=np.float64).reshape(len(group), length) for group in coded)
    return left, right
