"""Chi-square kernels on histograms, the additive and the exponential one."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel, positive
from .data_kernel import refuse
from .observations import Observations, dense_rows, median_distance, pairs, require_rule, same_width


class AdditiveChiSquare(Kernel):
    """k(x, x′) = Σ_d 2 x_d x′_d / (x_d + x′_d) for x, x′ ≥ 0 [vedaldi2012, Table 1].

    Equal to ½(‖x‖₁ + ‖x′‖₁ − χ²(x, x′)) with χ² = Σ_d (x_d − x′_d)² / (x_d + x′_d). (What scikit-learn
    calls ``additive_chi2_kernel`` is −χ², which is not positive semi-definite.) Not universal.

    Examples
    --------
    >>> AdditiveChiSquare()([[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([[1.   , 0.667],
           [0.667, 1.   ]])
    """

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return ½(‖x‖₁ + ‖x′‖₁ − χ²)."""
        left, right = _histograms(X), _histograms(Y)
        result = _chi_square(left, right)
        np.negative(result, out=result)
        result += left.sum(axis=1)[:, None]
        result += right.sum(axis=1)[None, :]
        result /= 2
        return result

    def diagonal(self, X: Observations) -> Array:
        """Return ‖x‖₁."""
        return _histograms(X).sum(axis=1)


class ExponentialChiSquare(Kernel):
    """k(x, x′) = exp(−γ χ²(x, x′)), χ² = Σ_d (x_d − x′_d)² / (x_d + x′_d), for x, x′ ≥ 0.

    Universal on histograms: χ² is the squared distance of a continuous injective map into a Hilbert
    space [christmann2010, Th. 2.2].

    Parameters
    ----------
    gamma : float or "median"
        γ > 0; or 1 over the median of χ² over pairs of different observations of a training set, up to 1,000
        of them, which stands behind the name "chi2". That is 1 if all observations are equal.

    Examples
    --------
    >>> ExponentialChiSquare()([[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([[1.   , 0.513],
           [0.513, 1.   ]])
    """

    universal = True

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    @property
    def looks_first(self) -> bool:
        """Whether observations decide about γ."""
        return isinstance(self.gamma, str)

    def on(self, observations: Observations) -> ExponentialChiSquare:
        """Return the kernel with γ as a number."""
        if not self.looks_first:
            return self
        require_rule("gamma", self.gamma)
        return ExponentialChiSquare(1 / median_distance(_histograms(observations), _within))

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return exp(−γ χ²)."""
        if self.looks_first:
            refuse(self)
        gamma = positive(self, "gamma")
        result = _chi_square(_histograms(X), _histograms(Y))
        result *= -gamma
        return np.exp(result, out=result)

    def diagonal(self, X: Observations) -> Array:
        """Return 1."""
        histograms = _histograms(X)
        return np.ones(len(histograms), dtype=histograms.dtype)


def _chi_square(X: Array, Y: Array) -> Array:
    """Return Σ_d (x_d − x′_d)² / (x_d + x′_d), terms 0/0 left out."""
    same_width(X, Y)
    if X.dtype != Y.dtype:
        X, Y = X.astype(np.float64), Y.astype(np.float64)
    from sklearn.metrics.pairwise import additive_chi2_kernel

    result = pairs(additive_chi2_kernel, X, Y)
    return np.negative(result, out=result)


def _within(sample: Array) -> Array:
    """Return χ² for all pairs."""
    return _chi_square(sample, sample)


def _histograms(X: Observations) -> Array:
    """Return rows without negative entries."""
    found = dense_rows(X)
    bad = np.flatnonzero((found < 0).any(axis=1))
    if len(bad):
        raise InputError(f"Chi-square kernels need numbers ≥ 0, but observation {bad[0]} has a negative one.")
    return found
