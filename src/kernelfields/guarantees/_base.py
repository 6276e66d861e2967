"""What a test of a mean is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import require_number
from ..errors import InputError


class Gains(NamedTuple):
    """Draws of bounded numbers whose means are in question: a row D_1 … D_n for each of G means."""

    values: Array
    """(G, n) D_i; columns are independent, rows are not."""
    least: float
    """No draw can be below this, a negative number."""
    most: float
    """Nor above this, a positive one."""


class MeanTest(ABC):
    """A test of H: E[D] ≤ 0 from independent draws D_i in [least, most].

    Its p-value is small where the mean is plainly positive, and under H never smaller than it may be:
    P(p ≤ u) ≤ u for every u and every distribution on the interval.
    """

    @abstractmethod
    def p_values(self, gains: Gains, level: float, before: Array) -> Array:
        """Return p for each of the G means.

        Parameters
        ----------
        gains : Gains
            The draws, as `mean_gains` reads them.
        level : float
            The u that matters: a test may be sharp there, and is valid at all others.
        before : (G, m) array
            Further draws, independent of the others, that help to choose how to test; m may be 0.
        """

    @abstractmethod
    def evidence(self, gains: Gains, n: int) -> Array:
        """Return −log p, roughly, that n draws like these are to be expected to give, for each mean."""


def mean_gains(values: npt.ArrayLike, least: float, most: float) -> Gains:
    """Return draws with their bounds, one row or several; refuse those that are outside.

    Examples
    --------
    >>> gains = mean_gains([0.1, 0.1, -0.9, 0.1], least=-0.9, most=0.1)
    >>> gains.values.shape
    (1, 4)
    """
    draws = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if draws.ndim != 2 or not np.isfinite(draws).all():
        raise InputError(f"values has shape {draws.shape}; it must be one row or several of finite numbers.")
    low, high = require_number("least", least), require_number("most", most)
    if not low < 0 < high:
        raise InputError(f"least is {low:g} and most is {high:g}; 0 must be between them.")
    if draws.size and not (low - 1e-9 <= draws.min() and draws.max() <= high + 1e-9):
        raise InputError(f"values go from {draws.min():g} to {draws.max():g}, beyond [{low:g}, {high:g}].")
    return Gains(draws, low, high)


def require_chance(name: str, value: float) -> float:
    """Return a probability strictly between 0 and 1."""
    number = require_number(name, value)
    if not 0 < number < 1:
        raise InputError(f"{name} is {number:g}; it must be above 0 and below 1.")
    return number
