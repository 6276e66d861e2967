"""Kernels given as Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel, tiled_diagonal
from .observations import Observations, count, precision


class PairFunction(Kernel):
    """k(x, x′) = function(x, x′), called for every pair.

    For experiments: Python makes a million calls a second or so at best.

    Parameters
    ----------
    function : callable
        Takes two observations (rows, strings, whatever X holds) and returns a number.

    Examples
    --------
    >>> PairFunction(lambda s, t: float(s[0] == t[0])).block(["ab", "cd"], ["ad"])
    array([[1.],
           [0.]])
    """

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function

    def block(self, X: Observations, Y: Observations) -> Array:
        """Call the function for every pair."""
        shape = count(X), count(Y)
        values = [float(self.function(X[i], Y[j])) for i in range(shape[0]) for j in range(shape[1])]
        return np.array(values, dtype=precision(X, Y)).reshape(shape)

    def diagonal(self, X: Observations) -> Array:
        """Call the function for every observation with itself."""
        values = [float(self.function(X[i], X[i])) for i in range(count(X))]
        return np.array(values, dtype=precision(X))


class MatrixFunction(Kernel):
    """k(x_i, y_j) = function(X, Y)_ij, for functions of whole matrices.

    Such functions are those of ``sklearn.metrics.pairwise``, and what ``sklearn.svm.SVC(kernel=...)`` takes.

    Parameters
    ----------
    function : callable
        Takes n and m observations and returns an (n, m) array.
    parameters : dict, optional
        Keyword arguments of the function.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> MatrixFunction(rbf_kernel, {"gamma": 0.5})([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(self, function: Callable[..., Any], parameters: Mapping[str, Any] | None = None) -> None:
        self.function = function
        self.parameters = parameters

    def block(self, X: Observations, Y: Observations) -> Array:
        """Call the function once, on all observations."""
        result = np.array(self.function(X, Y, **(self.parameters or {})), dtype=precision(X, Y))
        shape = count(X), count(Y)
        if result.shape != shape:
            raise InputError(
                f"The kernel function returned an array of shape {result.shape} for {shape[0]} and {shape[1]}"
                f" observations, not {shape}; if it takes two observations, wrap it in PairFunction."
            )
        return result

    def diagonal(self, X: Observations) -> Array:
        """Call the function on small squares, and keep their diagonals."""
        return tiled_diagonal(self, X, count(X)).astype(precision(X), copy=False)
