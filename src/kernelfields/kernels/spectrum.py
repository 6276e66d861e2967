"""The spectrum kernel on strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Kernel, at_least_one
from ._counts import counted
from .observations import Observations, inner_products, items, squared_norms


class Spectrum(Kernel):
    """k(s, t) = Σ_u |s|_u |t|_u over strings u of length p, |s|_u the number of times u occurs in s.

    The spectrum kernel [leslie2002]; if blended, over all u of lengths 1 to p. Observations are strings, or
    sequences of hashable objects (tokens). Strings shorter than p are zero unless blended. Values grow with
    length; ``Normalized(Spectrum(3))`` removes that. Not universal.

    Parameters
    ----------
    length : int
        p ≥ 1.
    blended : bool
        Whether shorter u count too.

    Examples
    --------
    >>> Spectrum(length=2)(["abab", "bab"])
    array([[5., 3.],
           [3., 2.]])
    """

    def __init__(self, length: int = 3, blended: bool = False) -> None:
        self.length = length
        self.blended = blended

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return the inner products of the counts of substrings."""
        return inner_products(*counted(self._grams(X), self._grams(Y)))

    def diagonal(self, X: Observations) -> Array:
        """Return Σ_u |s|_u²."""
        (counts,) = counted(self._grams(X))
        return np.asarray(squared_norms(counts))

    def _grams(self, X: Observations) -> list[list[Any]]:
        longest = at_least_one(self, "length")
        shortest = 1 if self.blended else longest
        return [list(_substrings(some, shortest, longest)) for some in items(X)]


def _substrings(some: Any, shortest: int, longest: int) -> Iterator[Any]:
    """Return substrings of the given lengths, each as often as it occurs."""
    letters = some if isinstance(some, str) else tuple(some)
    for length in range(shortest, longest + 1):
        for start in range(len(letters) - length + 1):
            yield letters[start : start + length]
