"""The Jaccard kernel on sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel
from ._counts import counted
from .observations import Observations, count, items, rows
from .tanimoto import Tanimoto


class Jaccard(Kernel):
    """k(A, B) = |A ∩ B| / |A ∪ B|, and 1 for two empty sets.

    Observations are sets (or lists) of strings or other hashable objects, or rows whose nonzero
    entries are the members. On rows of zeros and ones ``Tanimoto`` computes the same from inner
    products. Not universal.

    Examples
    --------
    >>> Jaccard()([{"red", "round"}, {"red", "square"}]).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return |A ∩ B| / |A ∪ B|."""
        if _is_rows(X):
            return Tanimoto().block(_indicators(X), _indicators(Y))
        return Tanimoto().block(*counted(_sets(X), _sets(Y)))

    def diagonal(self, X: Observations) -> Array:
        """Return 1."""
        return np.ones(count(X), dtype=rows(X).dtype if _is_rows(X) else np.float64)


def _is_rows(X: Observations) -> bool:
    """Return whether members are marked in rows; otherwise observations are sets."""
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object)


def _indicators(X: Observations) -> Any:
    """Return rows of zeros and ones."""
    found = rows(X)
    return (found != 0).astype(found.dtype)


def _sets(X: Observations) -> list[frozenset[Any]]:
    """Return each observation as a set."""
    found = items(X)
    for i, members in enumerate(found):
        if isinstance(members, str | bytes):
            raise InputError(f"Jaccard compares sets, but observation {i} is the string {members!r}.")
    return [frozenset(members) for members in found]
